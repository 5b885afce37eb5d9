"""Find secrets by their context: after a telling name, authentication scheme or flag, or inside a URL.

Every search begins where the text was found to have such a context, and each pattern has an upper bound. What is judged
repeats in most texts, so each search judges the same value once; no value is kept beyond it.

Not secrets: values shorter than six characters (eight for tokens); prose; references and templates (``$TOKEN``,
``{{ token }}``, ``<token>``); one repeated character (``xxxx``, ``****``); names made of ordinary words without digits
(``your-api-key``, ``changeme``); and, unless quotes show a literal, identifiers, calls and attribute chains.
"""

from __future__ import annotations

import re
from binascii import Error as Base64Error
from binascii import a2b_base64
from collections.abc import Iterator, Set
from functools import cache

from upbeat.core.package_data import load_rows, load_toml
from upbeat.core.sanitize.secrets.formats import SECRET_FORMATS, SecretSpan
from upbeat.core.sanitize.secrets.scan import ScannedText

_PATTERNS = load_toml(__package__, "context_patterns.toml")
_BASE_RANK = len(SECRET_FORMATS) + 2
"""A format names a secret first."""
CONTEXTS_OVER_LINES = frozenset({"url", "auth scheme"})
"""Contexts that show a secret even if lines were joined."""


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
        if is_secret(text[start:end], is_user_chosen=match["name"].startswith(_PASSWORD_NAMES), is_literal=True):
            yield SecretSpan(start, end, _BASE_RANK, _secret_kind(match["name"]))
    for match in _USER_FLAG.finditer(text) if "user flag" in contexts else ():  # -u name:password
        if is_secret(match[1], is_user_chosen=True, is_literal=True) and not match[1].isdigit():
            yield SecretSpan(*match.span(1), _BASE_RANK, "password")
    if "assignment" in contexts:
        yield from _find_in_assignments(scan)
    if "prose label" in contexts:
        yield from _find_in_prose(scan)


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
_USER_FLAG = re.compile(_PATTERNS["user_flag"])


def _find_in_urls(scan: ScannedText) -> Iterator[SecretSpan]:
    """Yield passwords and tokens before a host."""
    for match in scan.find_matches(_USERINFO, "url", scan.text):
        if not is_placeholder(match[2]):
            yield SecretSpan(*match.span(2), _BASE_RANK, "url-password")
    for match in scan.find_matches(_USER_ONLY, "url", scan.text):
        if is_secret(match[1], is_user_chosen=False, is_literal=True):
            yield SecretSpan(*match.span(1), _BASE_RANK, "url-password")


# Assignments

_PASSWORD_NAMES = ("pass", "pwd", "secret", "密码", "密碼", "口", "creden", "_auth")
_ASSIGNMENT = re.compile(_PATTERNS["assignment"], re.VERBOSE)
_LITERAL_LINE = re.compile(_PATTERNS["literal_line"])
_MAX_NAME_LENGTH = 128
_REST = re.compile(r"[^\s\"'`<>“”「」『』，。；、！？（）]{0,256}")


def _find_in_assignments(scan: ScannedText) -> Iterator[SecretSpan]:
    """Yield values of telling names: in code, JSON, YAML, environment files, headers and prose."""
    text, judge = scan.text, cache(is_secret)
    for match in scan.find_matches(_ASSIGNMENT, "assignment", scan.lowered):
        name, group = match["name"], match.lastgroup or "bare"
        start, end = match.span(group)
        is_literal = group != "bare" or _is_literal(text, match)
        if group == "bare" and is_literal and (rest := _REST.match(text, end)):
            end = rest.end()
        elif group == "bare" and text[end : end + 1] in ("(", "[", "{") and text[start:end].isidentifier():
            continue
        is_user_chosen = name.startswith(_PASSWORD_NAMES) and "key" not in name and match["comma"] is None
        if judge(text[start:end], is_user_chosen=is_user_chosen, is_literal=is_literal):
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


def _find_in_prose(scan: ScannedText) -> Iterator[SecretSpan]:
    """Yield values that a user writes after a name and a blank or ``to``: only those that cannot be words."""
    judge, judge_strictly = cache(is_secret), cache(is_clearly_secret)
    for match in scan.find_matches(_LABELLED_IN_PROSE, "prose label", scan.lowered):
        start, end = match.span("value")
        value, name = scan.text[start:end].rstrip(_CLOSING), match["name"]
        if name == "pw" and match["link"].strip() in (":", "="):
            is_found = judge(value, is_user_chosen=True, is_literal=False)
        else:
            is_found = judge_strictly(value, is_user_chosen=name.startswith(("pass", "pw")))
        if is_found:
            yield SecretSpan(start, start + len(value), _BASE_RANK + 2, _secret_kind(name))


# Values

_MASK_CHARACTER = re.compile(r"[xX*.\-_#0?]")
_TEMPLATE_CHARACTER = re.compile("[{}%<$]")
_TEMPLATE = re.compile(r"\$?\{[^{}\n]{0,80}\}|\{\{|\}\}|%\([^()\n]{0,60}\)s|%[sdr]|<[^<>\n]{1,80}>|\$\([^()\n]{0,80}\)")
_REFERENCE = re.compile(r"\$[A-Za-z_]+|\$\d|\$env:\w+|%\w+%|(?:env|vault|ssm|op|arn|ref|file):.*", re.IGNORECASE)
_PLACEHOLDER = re.compile(
    r"(?:your|insert|enter|replace|change[-_ ]?(?:me|it|this)|todo|example|sample|dummy|placeholder|redacted|hidden)"
    r"(?![a-z])[^0-9]*",
    re.IGNORECASE,
)
_SPACE = re.compile(r"\s")
_LETTER = re.compile(r"[^\W\d_]")
_DIGIT = re.compile(r"\d")
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_WORD_WITH_NUMBER = re.compile(r"(?:[A-Z]?[a-z]+|[A-Z]+|[A-Z]?[a-z]{2,}(?:[A-Z][a-z]{2,}){1,4})?\d{0,4}")
_PARTS = re.compile(r"[-_./:@~]+")
_PATH = re.compile(
    r"(?:~|\.{0,2})?/?(?:[\w.@-]+/)+[\w.@-]*|[\w-]+\.(?:json|ya?ml|txt|pem|key|toml|ini|py|js|ts|html?|csv)"
)
_IDENTIFIER = re.compile(r"[*&!@-]{0,2}[A-Za-z_$][A-Za-z_$.>:?!*-]*")
_ATTRIBUTE_CHAIN = re.compile(r"[@!]?[A-Za-z_$][\w$]*(?:(?:\.|->|::|\?\.)[A-Za-z_$][\w$]*)+")
_CONSTANT = re.compile(r"_*(?:[a-z]+(?:_[a-z0-9]+)+|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)_*")
_NUMBER = re.compile(r"[-+]?(?:0[xX][0-9a-fA-F]{1,15}|[\d._,]+)")
_VERSION = re.compile(r"\d{1,8}(?:\.\d{1,8})+")
_NUMBERED = re.compile(
    r"(?:[a-z]{1,3}|sha|utf|base|oauth|pbkdf|argon|scrypt|bcrypt|blake|ascii|step|line|part|test|field|level|option|user|row|col"
    r"|python|release|version|node|item|input|page|phase|case|type|attempt|number|pass(?:word|wd)?)[-_]?v?\d{1,5}[a-z]{0,2}",
    re.IGNORECASE,
)
_MARKUP = re.compile(r"[=*\\^~]{2}|[/\\].*[/\\]|::|->|\d[.:]\d")
_TOKEN = re.compile(r"[\w.~+/=:!@#$%^&*-]+", re.ASCII)

PLACEHOLDER_WORDS = frozenset(
    word for (row,) in load_rows(__package__, "placeholder_words.tsv") for word in row.split()
)
"""Words that describe a secret rather than being one."""


def is_secret(value: str, *, is_user_chosen: bool, is_literal: bool) -> bool:
    """Return whether ``value`` is a secret.

    ``is_user_chosen``: it may be a password, so any word is possible; otherwise it is generated. ``is_literal``: quotes
    or the form of the line show that it is not an identifier.
    """
    if len(value) < (6 if is_user_chosen else 8) or not value.isascii() or _SPACE.search(value):
        return False
    if is_placeholder(value) or (not is_literal and _is_code(value, is_user_chosen=is_user_chosen)):
        return False
    return _looks_user_chosen(value) if is_user_chosen else _looks_generated(value)


def is_clearly_secret(value: str, *, is_user_chosen: bool) -> bool:
    """Return whether ``value`` is a secret even if only a blank separates it from a name, as in prose.

    It has letters and digits, and is not a word with a number (``sha256``), a name or a path. A generated value has at
    least sixteen characters.
    """
    has_both = _DIGIT.search(value) and _LETTER.search(value)
    if not has_both or not is_secret(value, is_user_chosen=is_user_chosen, is_literal=False):
        return False
    if not is_user_chosen:
        return len(value) >= 16
    return not _NUMBERED.fullmatch(value) and not _MARKUP.search(value)


def is_placeholder(value: str) -> bool:
    """Return whether ``value`` is a placeholder for a secret: a reference, a template, ordinary words."""
    if len(value) >= 4 and _MASK_CHARACTER.search(value) and len(set(value.lower())) <= 2:
        return True
    if _REFERENCE.fullmatch(value) or _PLACEHOLDER.fullmatch(value):
        return True
    literal = _TEMPLATE.sub("", value) if _TEMPLATE_CHARACTER.search(value) else value
    if literal != value and len(literal) < 6:
        return True
    return not _DIGIT.search(literal) and all(word.lower() in PLACEHOLDER_WORDS for word in _WORDS.findall(literal))


def _is_code(value: str, *, is_user_chosen: bool) -> bool:
    """Return whether a value without quotes looks like an expression."""
    return bool(
        (_IDENTIFIER.fullmatch(value) and not _has_random_case(value))
        or _ATTRIBUTE_CHAIN.fullmatch(value)
        or _CONSTANT.fullmatch(value)
        or (not is_user_chosen and _NUMBER.fullmatch(value))
    )


def _looks_user_chosen(value: str) -> bool:
    """Return whether a user could have chosen ``value`` as a password: it is no label, name or path."""
    if _DIGIT.search(value):
        return not _is_path(value) and not _VERSION.fullmatch(value)
    if value.isalpha():
        is_label = value.istitle() or value.isupper()
        return _has_random_case(value) or (
            not is_label and PLACEHOLDER_WORDS.isdisjoint(map(str.lower, _WORDS.findall(value)))
        )
    return re.search(r"[\\\[\]()]", value) is None and re.fullmatch(r"[A-Za-z_.:/-]+", value) is None


def _looks_generated(value: str) -> bool:
    """Return whether ``value`` could be generated: it mixes letters and digits, or cases, unlike any word."""
    if not _TOKEN.fullmatch(value):
        return False
    if value.isalpha():
        return _has_random_case(value)
    if not _DIGIT.search(value):
        return len(value) >= 16 and not is_made_of_words(value)
    if _is_path(value):
        return False
    if not _LETTER.search(value):
        return len(value) >= 20 and not _VERSION.fullmatch(value)
    return not is_made_of_words(value)


def is_made_of_words(value: str) -> bool:
    """Return whether ``value`` consists of words, each followed by a short number at most."""
    return all(_WORD_WITH_NUMBER.fullmatch(part) for part in _PARTS.split(value))


def _is_path(value: str) -> bool:
    """Return whether ``value`` is a path made of words: base64 has slashes, too."""
    return _PATH.fullmatch(value) is not None and is_made_of_words(value)


def _has_random_case(value: str) -> bool:
    """Return whether capitals in ``value`` look random: a new word every other letter."""
    return len(value) >= 10 and len(_WORDS.findall(value)) * 5 >= len(value) * 2
