"""Files that hold credentials are never read for a turn, by name alone.

A name decides only for files that are credentials by convention. Source code is never one of them: a module
``secrets.py`` is code. Examples and templates of such files stay readable, since they are made to be shared.
"""

from __future__ import annotations

import re

_FOLDERS = frozenset({".ssh", ".aws", ".azure", ".gnupg", ".gcloud", ".kube", "secrets", ".secrets"})
"""Everything below these is left alone."""

_NAMES = frozenset(
    {
        ".boto",
        ".dockercfg",
        ".env",
        ".envrc",
        ".git-credentials",
        ".htpasswd",
        ".my.cnf",
        ".mylogin.cnf",
        ".netrc",
        ".npmrc",
        ".pgpass",
        ".pypirc",
        ".s3cfg",
        ".terraformrc",
        ".vault-token",
        "_netrc",
        "application_default_credentials.json",
        "auth.json",
        "kubeconfig",
        "terraform.rc",
        "wallet.dat",
    }
)
_SUFFIXES = (
    ".agekey",
    ".env",
    ".jks",
    ".kdb",
    ".kdbx",
    ".key",
    ".keystore",
    ".kubeconfig",
    ".ovpn",
    ".p12",
    ".p8",
    ".pem",
    ".pfx",
    ".ppk",
    ".tfstate",
    ".tfvars",
    ".tfvars.json",
)
_PATTERNS = re.compile(
    r"""
    \.env\..+                                               # .env.local, .env.production
  | id_(?:rsa|dsa|ecdsa|ed25519)(?:[._-].*)?                # SSH keys and their backups, public halves too
  | .*\.tfstate\..+                                         # terraform.tfstate.backup
  | \.(?:bash|zsh|sh|python|psql|mysql|sqlite|node_repl|rediscli)_history
  | (?:.*[._-])?(?:secrets?|credentials?|service[_-]?account)
    (?:[._-][^.]*)?                                         # client_secret_1234.json, service-account-prod.json
    (?:\.(?:cfg|conf|csv|enc|env|ini|json5?|properties|toml|txt|xml|ya?ml))*
    """,
    re.VERBOSE,
)
_TEMPLATE = re.compile(
    r"(?:^|[._-])(?:dist|example|sample|schema|template|tmpl|tpl)(?:$|\.(?:env|json|toml|ya?ml|md)$)"
)
_CODE = re.compile(
    r"\.(?:[cm]?[jt]sx?|astro|bash|bats|c|cc|clj|cpp|cs|css|dart|el|erl|exs?|fish|fs|go|gradle|h|hpp|hs|html?|ipynb|java"
    r"|jl|kts?|lua|md|mdx|ml|nim|php|pl|proto|ps1|pyi?|r|rb|rst|rs|scala|scss|sh|sol|sql|svelte|swift|vue|zig|zsh)$"
)


def is_sensitive(path: str) -> bool:
    """Whether ``path`` (relative to the repository, ``/`` or ``\\`` between parts) names a credential file."""
    parts = [part for part in path.casefold().strip().replace("\\", "/").split("/") if part not in ("", ".")]
    if not parts:
        return False
    if not _FOLDERS.isdisjoint(parts):
        return True
    name = parts[-1]
    if tuple(parts[-2:]) in ((".docker", "config.json"), ("gh", "hosts.yml")):
        return True
    if _CODE.search(name) or _TEMPLATE.search(name):
        return False
    return name in _NAMES or name.endswith(_SUFFIXES) or _PATTERNS.fullmatch(name) is not None
