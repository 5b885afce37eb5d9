"""Find secrets by their context: after a telling name, authentication scheme or flag, or inside a URL.

Every search begins where the text was found to have such a context, and each pattern has an upper bound. What is judged
repeats in most texts, so each search judges the same value once; no value is kept beyond it.
"""

from __future__ import annotations

from binascii import Error as Base64Error
from binascii import a2b_base64
from collections.abc import Iterator, Set
from functools import cache

from upbeat.core import lazy_re as re
from upbeat.core.package_data import load_toml
from upbeat.core.sanitize.secrets.formats import SECRET_FORMATS, SecretSpan
from upbeat.core.sanitize.secrets.scan import ScannedText
from upbeat.core.sanitize.secrets.settings_lines import is_settings_line
from upbeat.core.sanitize.secrets.values import (
    is_assigned_token,
    is_clearly_secret,
    is_placeholder,
    is_random,
    is_secret,
    is_strongly_secret,
)

_PATTERNS = load_toml(__package__, "context_patterns.toml")
_BASE_RANK = len(SECRET_FORMATS) + 2
"""A format names a secret first."""
STRUCTURES = frozenset(
    {
        "table",
        "separated values",
        "kubernetes secret",
        "web key",
        "putty key",
        "password file",
        "registry login",
        "braced password",
        "cookie",
        "account lines",
        "sql",
    }
)
"""Contexts of documents with a structure."""


def find_secrets_in_context(scan: ScannedText, contexts: Set[str]) -> Iterator[SecretSpan]:
    """Yield the secrets that one of ``contexts``, which occur in the text, shows.

    Raises:
        TooManyMatchesError: There are too many candidates.
    """
    text = scan.text
    if "auth scheme" in contexts:
        yield from _find_in_headers(scan)
    if "url" in contexts:
        yield from _find_in_urls(scan)
    for match in _FLAG.finditer(scan.lowered) if "flag" in contexts else ():  # --password value
        start, end = match.span("value")
        is_user_chosen = match["name"].startswith(_PASSWORD_NAMES)
        if is_secret(text[start:end], is_user_chosen=is_user_chosen, is_literal=True) or (
            _TOKEN_FLAG.search(match[0], 0, match.end("name") - match.start()) and is_assigned_token(text[start:end])
        ):
            yield SecretSpan(start, end, _BASE_RANK, _secret_kind(match["name"]))
    for match in _USER_FLAG.finditer(text) if "user flag" in contexts else ():  # -u name:password
        if is_secret(match[1], is_user_chosen=True, is_literal=True) and not match[1].isdigit():
            yield SecretSpan(*match.span(1), _BASE_RANK, "password")
    if "assignment" in contexts:
        yield from _find_in_assignments(scan)
    if "prose label" in contexts:
        yield from _find_in_prose(scan)
    if "name behind" in contexts:
        yield from _find_before_names(scan)
    yield from _find_by_tables(scan, contexts)


def _find_by_tables(scan: ScannedText, contexts: Set[str]) -> Iterator[SecretSpan]:
    """Yield the secrets that need the large tables, which are loaded when first used."""
    if "command" in contexts or "generic command" in contexts:
        from upbeat.core.sanitize.secrets.tools import find_in_commands

        yield from find_in_commands(scan)
    if "call" in contexts:
        from upbeat.core.sanitize.secrets.calls import find_in_calls

        yield from find_in_calls(scan)
    if "label" in contexts:
        from upbeat.core.sanitize.secrets.labels import find_by_label

        yield from find_by_label(scan)
    if not contexts.isdisjoint(STRUCTURES):
        from upbeat.core.sanitize.secrets.structures import find_in_structures

        yield from find_in_structures(scan)


def has_labelled_value(scan: ScannedText) -> bool:
    """Return whether a value follows a telling name, whether it is a secret or not."""
    return any(
        name in scan.contexts and any(True for _ in scan.find_matches(pattern, name, scan.lowered))
        for name, pattern in (("assignment", _ASSIGNMENT), ("prose label", _LABELLED_IN_PROSE))
    )


# Headers

_SCHEME = re.compile(_PATTERNS["scheme"])
_AUTHORIZATION = re.compile(_PATTERNS["authorization"])
_MAX_HEADER_LENGTH = 48


def _find_in_headers(scan: ScannedText) -> Iterator[SecretSpan]:
    """Yield credentials after ``Bearer``, ``Basic`` and the like."""
    text, judge = scan.text, cache(_is_credential)
    for match in scan.find_matches(_SCHEME, "auth scheme", text):
        before = text[max(match.start() - _MAX_HEADER_LENGTH, 0) : match.start()]
        if judge(before, match[0], match[1]):
            is_basic = match[0][:5].lower() == "basic"
            yield SecretSpan(*match.span(1), _BASE_RANK - 1, "basic-auth" if is_basic else "bearer-token")


def _is_credential(before: str, scheme_and_value: str, value: str) -> bool:
    """Return whether ``value``, which follows an authentication scheme, is a credential."""
    if _AUTHORIZATION.search(before):
        return not is_placeholder(value)
    scheme = scheme_and_value[:5].lower()
    if scheme != "basic":
        return scheme == "beare" and is_secret(value, is_user_chosen=False, is_literal=True)
    try:
        plain = a2b_base64(value[: len(value) // 4 * 4])
    except Base64Error:
        return False
    return b":" in plain and plain.isascii() and plain.decode().isprintable()


# URLs and command lines

_USERINFO = re.compile(_PATTERNS["userinfo"])
_USER_ONLY = re.compile(_PATTERNS["user_only"])
_FLAG = re.compile(_PATTERNS["flag"])
_TOKEN_FLAG = re.compile(r"(?:token|(?:api|access|auth|secret)[_-]?key)$")
_ORACLE_USERINFO = re.compile(r":(?:thin|oci8?):([\w.-]{1,64})/([^\s\"'<>/]{3,128})@")
_USER_FLAG = re.compile(_PATTERNS["user_flag"])


def _find_in_urls(scan: ScannedText) -> Iterator[SecretSpan]:
    """Yield passwords and tokens before a host."""
    for match in scan.find_matches(_USERINFO, "url", scan.text):
        if not is_placeholder(match[2]):
            yield SecretSpan(*match.span(2), _BASE_RANK, "url-password")
    for match in scan.find_matches(_ORACLE_USERINFO, "url", scan.text):
        if not is_placeholder(match[2]):
            yield SecretSpan(*match.span(2), _BASE_RANK, "url-password")
    for match in scan.find_matches(_USER_ONLY, "url", scan.text):
        if is_secret(match[1], is_user_chosen=False, is_literal=True):
            yield SecretSpan(*match.span(1), _BASE_RANK, "url-password")


# Assignments

_PASSWORD_NAMES = (
    "pass",
    "pw",
    "psk",
    "mnemonic",
    "seed",
    "recovery",
    "backup",
    "secret",
    "密码",
    "密碼",
    "口",
    "creden",
    "_auth",
)
_ASSIGNMENT = re.compile(_PATTERNS["assignment"], re.VERBOSE)
_LITERAL_LINE = re.compile(_PATTERNS["literal_line"])
_MAX_NAME_LENGTH = 128
_LOOKUP = re.compile(
    r"(?:get|find|fetch|read|load|lookup|has|delete|remove|create|describe|use|is|of|check)[a-z_]{0,24}$"
)
"""Functions that take the name of a secret."""
_RESOURCE = re.compile(r"arn:[\w:/-]{0,120}$|projects/[\w/-]{0,100}$")
_TOKEN_NAME = re.compile(r"(?:api|access|auth|bot|bearer|deploy|personal|service|session|secret)[_.-]?$")
_NO_TOKEN_NAME = re.compile(
    r"(?:jsonweb|page|continuation|sync|next|cursor|cancel(?:lation)?|comment|start|end|[besp]os|pad|mask)[_.-]?$"
)
_QUERY = re.compile(r"(?:[?&;,]|-o[ \t]+)[\w.-]*$")
_NO_SECRET_KEY = re.compile(
    r"(?:public|pub|cache|primary|foreign|partition|sort|idempotency|object|s3|row|lookup|index|hash|group|unique|host|host_|mon"
    r"|tur|don|hot|route|routing|event|message|issue|project|storage|query|react|i18n|item|config|registry|parent|composite"
    r"|dedup|deduplication|artifact|blob|file|image|path|bucket|segment|record|entity|order)[_-]?key$"
)
"""Keys that identify something."""
_MAX_CONTINUATION = 8_000
_CONCATENATED = re.compile(
    r"[\"'`](?:[ \t]{0,8}(?:\+|\.\.?|\\|<>|&)?[ \t]{0,8}\n?[ \t]{0,40}(?:\+|\.\.?)?[ \t]{0,8})"
    r"[\"'`](?P<part>[^\s\"'`]{4,512})"
)
_BASE64_LINES = re.compile(
    r"(?<=[A-Za-z0-9+/]{32})\n[ \t]{0,40}(?P<part>[A-Za-z0-9+/]{4,128}={0,2})(?=[\"'`]?[ \t]*(?:\n|\Z))"
)
_REST = re.compile(r"[^\s\"'`<>“”「」『』，。；、！？（）]{0,256}")


def _find_in_assignments(scan: ScannedText) -> Iterator[SecretSpan]:
    """Yield values of telling names: in code, JSON, YAML, environment files, headers and prose."""
    text, judge, judge_strictly = scan.text, cache(is_secret), cache(is_strongly_secret)
    for match in scan.find_matches(_ASSIGNMENT, "assignment", scan.lowered):
        name, group = match["name"], match.lastgroup or "bare"
        start, end = match.span(group)
        is_literal = group != "bare" or _is_literal(text, match)
        if group == "bare" and is_literal and not _in_query(text, match) and (rest := _REST.match(text, end)):
            end = start + len(text[start : rest.end()].rstrip(";,)&"))
        if _is_reference(text, match, group, end):
            continue
        value = text[start:end].strip() if group == "block" else text[start:end]
        is_user_chosen = name.startswith(_PASSWORD_NAMES) and "key" not in name
        if name == "token" and _NO_TOKEN_NAME.search(scan.lowered, max(match.start() - 16, 0), match.start()):
            continue
        if name == "pass" or any(match[mark] is not None for mark in ("anykey", "comma", "weak", "bold")):
            is_found = judge_strictly(value, is_user_chosen=is_user_chosen, is_literal=is_literal)
        else:
            is_found = judge(value, is_user_chosen=is_user_chosen, is_literal=is_literal) or (
                is_literal and not is_user_chosen and _names_token(scan.lowered, match) and is_assigned_token(value)
            )
        if is_found:
            yield SecretSpan(start, end, _BASE_RANK + 1, _secret_kind(name))
            yield from _continued(text, end, _secret_kind(name))


def _names_token(lowered: str, match: re.Match[str]) -> bool:
    """Return whether a name means nothing but a token or a key, unlike the tokens of a language."""
    name, start = match["name"], match.start()
    if name.endswith("key") or _in_query(lowered, match):
        return True
    return _TOKEN_NAME.search(lowered, max(start - 16, 0), start) is not None


def _is_reference(text: str, match: re.Match[str], group: str, end: int) -> bool:
    """Return whether what follows the name is no value: a call, a name that is looked up, a resource."""
    name_start = match.start("name")
    if group == "phrase":
        return not ("phrase" in match["name"] or match["name"] == "mnemonic" or "\n" in match["link"])
    if group == "bare" and text[end : end + 1] in ("(", "[", "{") and text[match.start(group) : end].isidentifier():
        return True
    before = text[max(name_start - _MAX_NAME_LENGTH, 0) : name_start]
    if match["anykey"] is not None:
        return _NO_SECRET_KEY.search(before.lower() + match["anykey"]) is not None
    return (match["link"].startswith("(") and _LOOKUP.search(before.lower()) is not None) or _RESOURCE.search(
        before
    ) is not None


def _continued(text: str, end: int, kind: str) -> Iterator[SecretSpan]:
    """Yield the parts of a value on the next lines: strings that are concatenated, lines of base64."""
    for pattern in (_CONCATENATED, _BASE64_LINES):
        position = end
        while (part := pattern.match(text, position)) and part.start() < end + _MAX_CONTINUATION:
            yield SecretSpan(*part.span("part"), _BASE_RANK + 1, kind)
            position = part.end("part")


def _in_query(text: str, match: re.Match[str]) -> bool:
    """Return whether an assignment is part of a query or a connection string, where others may follow."""
    return (
        match["link"] == "="
        and _QUERY.search(text, max(match.start() - _MAX_NAME_LENGTH, 0), match.start()) is not None
    )


def _is_literal(text: str, match: re.Match[str]) -> bool:
    """Return whether the form of the line shows that a value without quotes is no expression."""
    if not match["name"].isascii() or match["bold"] or match["link"].endswith(">"):
        return True
    start = max(match.start() - _MAX_NAME_LENGTH, 0)
    if "\n" in match["link"]:
        return True
    if match["link"].strip(" \t") in ("=", ":") and is_settings_line(text, match.start(), match.end(), match["link"]):
        return True
    return match["link"] in ("=", ": ") and _LITERAL_LINE.search(text, start, match.start("link")) is not None


def _secret_kind(name: str) -> str:
    if "key" in name or name[-1] in "钥鑰":
        return "key"
    if name in ("token", "令牌", "authorization"):
        return "token"
    return "secret" if name.startswith(("secret", "creden", "_auth")) else "password"


# Prose

_LABELLED_IN_PROSE = re.compile(_PATTERNS["labelled_in_prose"], re.VERBOSE)
_CLOSING = ".:!?"
"""Characters that end a sentence but no secret."""


def _find_in_prose(scan: ScannedText) -> Iterator[SecretSpan]:
    """Yield values that a user writes after a name and a blank or ``to``: only those that cannot be words."""
    judge, judge_strictly = cache(is_secret), cache(is_clearly_secret)
    for match in scan.find_matches(_LABELLED_IN_PROSE, "prose label", scan.lowered):
        start, end = match.span("value")
        value, name = scan.text[start:end].rstrip(_CLOSING), match["name"]
        if match["gap"] is not None and not name.startswith(("pass", "pw")):
            continue
        if name == "pw" and match["link"].strip() in (":", "="):
            is_found = judge(value, is_user_chosen=True, is_literal=False)
        else:
            is_found = judge_strictly(value, is_user_chosen=name.startswith(("pass", "pw")) or "/" in match["link"])
        if is_found:
            yield SecretSpan(start, start + len(value), _BASE_RANK + 2, _secret_kind(name))
        if match["changed"] is not None and judge_strictly(
            new := match["changed"].rstrip(_CLOSING), is_user_chosen=True
        ):
            start = match.start("changed")
            yield SecretSpan(start, start + len(new), _BASE_RANK + 2, _secret_kind(name))


_BEFORE_NAME = re.compile(_PATTERNS["before_name"])


def _find_before_names(scan: ScannedText) -> Iterator[SecretSpan]:
    """Yield values before their names: ``use … as the password``, ``"…", forHTTPHeaderField: "X-Api-Key"``."""
    for match in _BEFORE_NAME.finditer(scan.lowered):
        group = match.lastgroup or "worded"
        start, end = match.span(group)
        value = scan.text[start:end]
        if is_clearly_secret(value, is_user_chosen=True) or (group == "quoted" and is_random(value)):
            yield SecretSpan(start, end, _BASE_RANK + 2, "password")
