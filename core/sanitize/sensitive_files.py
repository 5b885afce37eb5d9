"""Recognize files that hold credentials by their name; they are never read for a turn.

The name decides only for files that hold credentials by convention. Source code is never one: a module ``secrets.py``
is code. Examples and templates stay readable, because they are made to be shared.
"""

from __future__ import annotations

import re

from upbeat.core.package_data import load_rows

_ROWS = load_rows(__package__, "credential_files.tsv")
_CREDENTIAL_FOLDERS, _CREDENTIAL_NAMES, _CREDENTIAL_SUFFIXES = (
    frozenset(word for kind, words in _ROWS if kind == wanted for word in words.split())
    for wanted in ("folder", "name", "suffix")
)
_CREDENTIAL_PATTERNS = re.compile(
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
_SOURCE_CODE = re.compile(
    r"\.(?:[cm]?[jt]sx?|astro|bash|bats|c|cc|clj|cpp|cs|css|dart|el|erl|exs?|fish|fs|go|gradle|h|hpp|hs|html?|ipynb|java"
    r"|jl|kts?|lua|md|mdx|ml|nim|php|pl|proto|ps1|pyi?|r|rb|rst|rs|scala|scss|sh|sol|sql|svelte|swift|vue|zig|zsh)$"
)


def is_credential_path(path: str) -> bool:
    """Return whether ``path`` (relative to the repository, ``/`` or ``\\`` between parts) names a credential file."""
    parts = [part for part in path.casefold().strip().replace("\\", "/").split("/") if part not in ("", ".")]
    if not parts:
        return False
    if not _CREDENTIAL_FOLDERS.isdisjoint(parts):
        return True
    name = parts[-1]
    if tuple(parts[-2:]) in ((".docker", "config.json"), ("gh", "hosts.yml")):
        return True
    if _SOURCE_CODE.search(name) or _TEMPLATE.search(name):
        return False
    return (
        name in _CREDENTIAL_NAMES
        or name.endswith(tuple(_CREDENTIAL_SUFFIXES))
        or _CREDENTIAL_PATTERNS.fullmatch(name) is not None
    )
