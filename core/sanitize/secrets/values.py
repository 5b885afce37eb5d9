"""Decide whether a value that is assigned to a name such as ``password`` is a secret.

Not secrets: values shorter than six characters (eight for tokens); prose; references and templates (``$TOKEN``,
``{{ token }}``, ``<token>``); one repeated character (``xxxx``, ``****``); names made of ordinary words without digits
(``your-api-key``, ``changeme``); and, unless quotes show a literal, identifiers, calls and attribute chains.
"""

from __future__ import annotations

import re

from upbeat.core.package_data import load_rows

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
