"""Find secrets by their context: after a telling name, authentication scheme or flag, or inside a URL.

Every search begins where the scanner found such a context, and each pattern has an upper bound.
"""

from __future__ import annotations

import re
from binascii import Error as Base64Error
from binascii import a2b_base64
from collections.abc import Collection, Iterator

from upbeat.core.package_data import load_toml
from upbeat.core.sanitize.secrets.formats import SECRET_FORMATS
from upbeat.core.sanitize.secrets.scan import SecretScanner
from upbeat.core.sanitize.secrets.span import SecretSpan
from upbeat.core.sanitize.secrets.values import is_clearly_secret, is_placeholder, is_secret

_PATTERNS = load_toml(__package__, "context_patterns.toml")
_BASE_RANK = len(SECRET_FORMATS) + 2
"""A format names a secret first."""


def find_secrets_in_context(
    text: str, lowered: str, scanner: SecretScanner, contexts: Collection[str]
) -> Iterator[SecretSpan]:
    """Yield the secrets that their context shows; ``lowered`` is ``text`` in lower case with the same length."""
    if "auth scheme" in contexts:
        yield from _find_in_headers(text, lowered, scanner)
    if "url" in contexts:
        yield from _find_in_urls(text, lowered, scanner)
    for match in _FLAG.finditer(lowered) if "flag" in contexts else ():  # --password value
        start, end = match.span("value")
        if is_secret(text[start:end], is_user_chosen=match["name"].startswith(_PASSWORD_NAMES), is_literal=True):
            yield SecretSpan(start, end, _BASE_RANK, _secret_kind(match["name"]))
    for match in _USER_FLAG.finditer(text) if "user flag" in contexts else ():  # -u name:password
        if is_secret(match[1], is_user_chosen=True, is_literal=True) and not match[1].isdigit():
            yield SecretSpan(*match.span(1), _BASE_RANK, "password")
    if "assignment" in contexts:
        yield from _find_in_assignments(text, lowered, scanner)
    if "prose label" in contexts:
        yield from _find_in_prose(text, lowered, scanner)


def find_secrets_over_lines(
    text: str, lowered: str, scanner: SecretScanner, contexts: Collection[str]
) -> Iterator[SecretSpan]:
    """Yield secrets in URLs and headers, for text with joined lines."""
    if "url" in contexts:
        yield from _find_in_urls(text, lowered, scanner)
    if "auth scheme" in contexts:
        yield from _find_in_headers(text, lowered, scanner)


def has_labelled_value(lowered: str, scanner: SecretScanner, contexts: Collection[str]) -> bool:
    """Return whether a value follows a telling name, whether it is a secret or not."""
    return any(
        name in contexts and any(True for _ in scanner.find_matches(pattern, name, lowered, lowered))
        for name, pattern in (("assignment", _ASSIGNMENT), ("prose label", _LABELLED_IN_PROSE))
    )


# Headers

_SCHEME = re.compile(_PATTERNS["scheme"])
_AUTHORIZATION = re.compile(_PATTERNS["authorization"])
_MAX_HEADER_LENGTH = 48


def _find_in_headers(text: str, lowered: str, scanner: SecretScanner) -> Iterator[SecretSpan]:
    """Yield credentials after ``Bearer``, ``Basic`` and the like."""
    judgments: dict[tuple[str, str], bool] = {}
    for match in scanner.find_matches(_SCHEME, "auth scheme", lowered, text):
        case = text[max(match.start() - _MAX_HEADER_LENGTH, 0) : match.start()], match[0]
        if case not in judgments:
            judgments[case] = _is_credential(*case, match[1])
        if judgments[case]:
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
_USER_FLAG = re.compile(_PATTERNS["user_flag"])


def _find_in_urls(text: str, lowered: str, scanner: SecretScanner) -> Iterator[SecretSpan]:
    """Yield passwords and tokens before a host."""
    for match in scanner.find_matches(_USERINFO, "url", lowered, text):
        if not is_placeholder(match[2]):
            yield SecretSpan(*match.span(2), _BASE_RANK, "url-password")
    for match in scanner.find_matches(_USER_ONLY, "url", lowered, text):
        if is_secret(match[1], is_user_chosen=False, is_literal=True):
            yield SecretSpan(*match.span(1), _BASE_RANK, "url-password")


# Assignments

_PASSWORD_NAMES = ("pass", "pwd", "secret", "密码", "密碼", "口", "creden", "_auth")
_ASSIGNMENT = re.compile(_PATTERNS["assignment"], re.VERBOSE)
_LITERAL_LINE = re.compile(_PATTERNS["literal_line"])
_MAX_NAME_LENGTH = 128
_REST = re.compile(r"[^\s\"'`<>“”「」『』，。；、！？（）]{0,256}")


def _find_in_assignments(text: str, lowered: str, scanner: SecretScanner) -> Iterator[SecretSpan]:
    """Yield values of telling names: in code, JSON, YAML, environment files, headers and prose."""
    judgments: dict[tuple[str, bool, bool], bool] = {}
    for match in scanner.find_matches(_ASSIGNMENT, "assignment", lowered, lowered):
        name, group = match["name"], match.lastgroup or "bare"
        start, end = match.span(group)
        is_literal = group != "bare" or _is_literal(text, match)
        if group == "bare" and is_literal and (rest := _REST.match(text, end)):
            end = rest.end()
        elif group == "bare" and text[end : end + 1] in ("(", "[", "{") and text[start:end].isidentifier():
            continue
        is_user_chosen = name.startswith(_PASSWORD_NAMES) and "key" not in name and match["comma"] is None
        case = text[start:end], is_user_chosen, is_literal
        if case not in judgments:
            judgments[case] = is_secret(case[0], is_user_chosen=is_user_chosen, is_literal=is_literal)
        if judgments[case]:
            yield SecretSpan(start, end, _BASE_RANK + 1, _secret_kind(name))


def _is_literal(text: str, match: re.Match[str]) -> bool:
    """Return whether the form of the line shows that a value without quotes is no expression."""
    if not match["name"].isascii() or match["link"].endswith(">"):
        return True
    start = max(match.start() - _MAX_NAME_LENGTH, 0)
    return match["link"] == "=" and _LITERAL_LINE.search(text, start, match.start("link")) is not None


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


def _find_in_prose(text: str, lowered: str, scanner: SecretScanner) -> Iterator[SecretSpan]:
    """Yield values that a user writes after a name and a blank or ``to``: only those that cannot be words."""
    judgments: dict[tuple[str, bool, bool], bool] = {}
    for match in scanner.find_matches(_LABELLED_IN_PROSE, "prose label", lowered, lowered):
        start, end = match.span("value")
        value = text[start:end].rstrip(_CLOSING)
        name = match["name"]
        is_assigned = name == "pw" and match["link"].strip() in (":", "=")
        is_password = name.startswith(("pass", "pw"))
        case = value, is_assigned, is_password
        if case not in judgments:
            judgments[case] = (
                is_secret(value, is_user_chosen=True, is_literal=False)
                if is_assigned
                else is_clearly_secret(value, is_user_chosen=is_password)
            )
        if judgments[case]:
            yield SecretSpan(start, start + len(value), _BASE_RANK + 2, _secret_kind(name))
