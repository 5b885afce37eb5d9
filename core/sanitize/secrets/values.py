"""Judge whether a value is a secret: by its form, and by what its context says of it.

Not secrets: values shorter than six characters (eight for tokens); prose; references and templates (``$TOKEN``,
``{{ token }}``, ``<token>``); one repeated character (``xxxx``, ``****``); names made of ordinary words without digits
(``your-api-key``, ``changeme``); and, unless quotes show a literal, identifiers, calls and attribute chains.
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise

from upbeat.core import lazy_re as re
from upbeat.core.package_data import load_rows

_MASK_CHARACTER = re.compile(r"[xX*.\-_#0?]")
_TEMPLATE_CHARACTER = re.compile("[{}%<$]")
_TEMPLATE = re.compile(r"\$?\{[^{}\n]{0,80}\}|\{\{|\}\}|%\([^()\n]{0,60}\)s|%[sdr]|<[^<>\n]{1,80}>|\$\([^()\n]{0,80}\)")
_REFERENCE = re.compile(r"\$[A-Za-z_]+|\$\d|\$env:\w+|%\w+%|(?:env|vault|ssm|op|arn|ref|file):.*", re.IGNORECASE)
_PLACEHOLDER = re.compile(
    r"(?:your|insert|enter|replace|change[-_ ]?(?:me|it|this)|todo|example|sample|dummy|placeholder|redacted|hidden)"
    r"(?![a-z])[^0-9]*|(?:[a-z]{1,12}[-_]){0,3}(?:x{6,}|\.{3,}|\*{3,})",
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
_TYPE_NAME = re.compile(r"(?:[A-Z][a-z]+){2,}(?:[A-Z]?\d{1,2})?")
_NUMBER = re.compile(r"[-+]?(?:0[xX][0-9a-fA-F]{1,15}|[\d._,]+)")
_VERSION = re.compile(r"[~^<>=v]{0,3}\d{1,8}(?:\.\d{1,8})+")
_NUMBERED = re.compile(
    r"(?:[a-z]{1,3}|sha|utf|base|oauth|pbkdf|argon|scrypt|bcrypt|blake|ascii|step|line|part|test|field|level|option|user|row|col"
    r"|python|release|version|node|item|input|page|phase|case|type|attempt|number|pass(?:word|wd)?)[-_]?v?\d{1,5}[a-z]{0,2}",
    re.IGNORECASE,
)
_MARKUP = re.compile(r"[=*\\^~]{2}|[/\\].*[/\\]|::|->|\d[.:]\d")
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]+={0,2}")
_TOKEN = re.compile(r"[\w.~+/=:!@#$%^&*-]+", re.ASCII)

_ADDRESS = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+|(?:[a-z0-9-]+\.)+[a-z]{2,10}(?::\d+)?|\d[\dT:.Z+-]+")
"""A mail address, a host, a time."""
_PASSPHRASE = re.compile(r"[A-Za-z]?[a-z]{2,11}\d{0,4}(?=([ ._-]))(?:\1[a-z]{3,12}\d{0,4}){3,23}(?:\1\d{1,4})?")
_FEW_WORDS = re.compile(
    r"[A-Za-z][a-z]{2,11}(?=([ ._-]))(?:\1[a-z]{3,12}){1,2}|[A-Z][a-z]{2,11}(?:[-_][A-Z][a-z]{2,11}){1,2}"
)
_LATIN = re.compile(r"(?=[^\W\d]*[\d!-/])(?=.*[^\W\d])[!-~\u00a1-\u024f]{6,64}")
"""A password with letters of European languages, and a digit or a mark."""
_CONSONANTS = re.compile("[b-df-hj-np-tv-xz]{6}", re.IGNORECASE)
_CAPITALIZED = re.compile(r"[A-Z][a-z]{2,11}(?: [A-Z][a-z]{2,11}){3,11}")
_EXPRESSION = re.compile(r"[A-Za-z0-9]-[Zz9]\]|\\[dws]|\(\?|\(\)|[,\[]\d|\{\d|://|%[\d.]*[sdfx]|\$\{|\]\.|\)\.")
"""Parts of regular expressions, calls, indices, addresses and templates."""
_WORD_PASSWORD = re.compile(r"[A-Za-z]+(?:[-._]?[A-Za-z]+){0,3}[-._]?\d{1,4}[!.~*]?")

PLACEHOLDER_WORDS = frozenset(
    word for (row,) in load_rows(__package__, "placeholder_words.tsv") for word in row.split()
)
"""Words that describe a secret rather than being one."""
_NO_PHRASE = frozenset(word for (row,) in load_rows(__package__, "sentence_words.tsv") for word in row.split())
"""Words that show a sentence or a label: passphrases are made of names of things."""


def is_secret(value: str, *, is_user_chosen: bool, is_literal: bool) -> bool:
    """Return whether ``value`` is a secret.

    ``is_user_chosen``: it may be a password, so any word is possible; otherwise it is generated. ``is_literal``: quotes
    or the form of the line show that it is not an identifier.
    """
    if len(value) < (6 if is_user_chosen else 8):
        return False
    if not value.isascii():
        return is_user_chosen and _LATIN.fullmatch(value) is not None and not is_placeholder(value)
    if _SPACE.search(value):
        return is_literal and (is_passphrase(value) or (is_user_chosen and _is_few_words(value)))
    if is_user_chosen and is_passphrase(value):
        return True
    if is_placeholder(value) or (not is_literal and _is_code(value, is_user_chosen=is_user_chosen)):
        return False
    if ((is_literal or _DIGIT.search(value)) and is_random(value)) or (is_literal and _is_unpronounceable(value)):
        return True
    if is_user_chosen:
        return _looks_user_chosen(value) or (is_literal and _is_few_words(value))
    return _looks_generated(value) or (is_literal and (_is_word_password(value) or is_passphrase(value)))


def is_clearly_secret(value: str, *, is_user_chosen: bool) -> bool:
    """Return whether ``value`` is a secret even if only a blank separates it from a name, as in prose.

    It has letters and digits, and is not a word with a number (``sha256``), a name or a path. A generated value has at
    least sixteen characters.
    """
    if is_user_chosen and " " not in value and is_passphrase(value):
        return True
    has_both = _DIGIT.search(value) and _LETTER.search(value)
    if not has_both or not is_secret(value, is_user_chosen=is_user_chosen, is_literal=False):
        return False
    if not is_user_chosen:
        return len(value) >= 16
    if _NUMBERED.fullmatch(value) or _ADDRESS.fullmatch(value):
        return False
    return (len(value) >= 16 and _BASE64.fullmatch(value) is not None and is_random(value)) or not _MARKUP.search(value)


def is_strongly_secret(value: str, *, is_user_chosen: bool, is_literal: bool) -> bool:
    """Return whether ``value`` is a secret even if only its form and a name nearby show it."""
    if not is_secret(value, is_user_chosen=is_user_chosen, is_literal=is_literal):
        return False
    if (" " in value or is_user_chosen) and is_passphrase(value):
        return True
    if "://" in value:
        return False
    if is_random(value):
        return True
    has_both = _DIGIT.search(value) and _LETTER.search(value)
    words = map(str.lower, _WORDS.findall(value))
    if not has_both or _NUMBERED.fullmatch(value) or _ADDRESS.fullmatch(value):
        return False
    return PLACEHOLDER_WORDS.isdisjoint(word for word in words if len(word) > 2)


def is_assigned_token(value: str) -> bool:
    """Return whether a literal that is assigned to a name of nothing but tokens is one, even if it is short."""
    if len(value) < 6 or not _TOKEN.fullmatch(value) or is_placeholder(value) or _is_path(value):
        return False
    if _is_few_words(value):
        return True
    if value.isdigit():
        return True
    words = (word.lower() for word in _WORDS.findall(value) if len(word) > 1)
    if not _DIGIT.search(value) or not PLACEHOLDER_WORDS.isdisjoint(words):
        return False
    return not any(pattern.fullmatch(value) for pattern in (_NUMBERED, _VERSION, _ADDRESS, _CONSTANT))


def is_given(value: str) -> bool:
    """Return whether ``value``, which stands where only a secret can, is one and no reference to one."""
    return len(value) >= 4 and not is_placeholder(value) and value[0] not in "-$" and not _is_path(value)


def is_passphrase(value: str) -> bool:
    """Return whether ``value`` is a passphrase: four words or more, separated all alike, that form no sentence."""
    if _CAPITALIZED.fullmatch(value):
        return (_NO_PHRASE | PLACEHOLDER_WORDS).isdisjoint(value.lower().split(" "))
    match = _PASSPHRASE.fullmatch(value)
    if match is None:
        return False
    words = value.rstrip("0123456789").split(match[1])
    if sum(word[-1:].isdigit() for word in words) > 1:
        return False
    words = [word.rstrip("0123456789") for word in words]
    return _NO_PHRASE.isdisjoint(words) and (match[1] == " " or PLACEHOLDER_WORDS.isdisjoint(words))


def is_random(value: str) -> bool:
    """Return whether the characters of ``value`` change so often between lower case, upper case, digits and others,
    with at least three of these, that it is neither words nor code.
    """
    if len(value) < 10 or _EXPRESSION.search(value) or _is_path(value):
        return False
    kinds = [_character_kind(char) for char in value]
    changes = sum(first != second for first, second in pairwise(kinds))
    return len(set(kinds)) >= 3 and changes * 5 >= len(value) * 2


def _is_unpronounceable(value: str) -> bool:
    """Return whether ``value`` is nothing but letters, with six consonants in a row: no word and no usual acronym."""
    return len(value) >= 9 and value.isalpha() and _CONSONANTS.search(value) is not None


def _character_kind(char: str) -> int:
    return 0 if char.islower() else 1 if char.isupper() else 2 if char.isdigit() else 3


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
        or (_ATTRIBUTE_CHAIN.fullmatch(value) and not _has_random_part(value))
        or (_CONSTANT.fullmatch(value) and not (is_user_chosen and value[-3:].isdigit()))
        or (_TYPE_NAME.fullmatch(value) and not PLACEHOLDER_WORDS.isdisjoint(map(str.lower, _WORDS.findall(value))))
        or (not is_user_chosen and _NUMBER.fullmatch(value))
    )


def _has_random_part(value: str) -> bool:
    """Return whether a part between dots cannot be an identifier: three digits, not all at its end."""
    return any(len(part) >= 12 and re.search(r"\d.*\d.*\d.*[a-z]", part) for part in value.split("."))


def _looks_user_chosen(value: str) -> bool:
    """Return whether a user could have chosen ``value`` as a password: it is no label, name or path."""
    if _DIGIT.search(value):
        return not _is_path(value) and not _VERSION.fullmatch(value)
    if value.isalpha():
        is_label = (value.istitle() or value.isupper()) and value.lower() in known_labels()
        return _has_random_case(value) or (
            not is_label and PLACEHOLDER_WORDS.isdisjoint(w.lower() for w in _WORDS.findall(value) if len(w) > 1)
        )
    return re.search(r"[\\\[\]()]", value) is None and re.fullmatch(r"[A-Za-z_.:/-]+", value) is None


def _is_few_words(value: str) -> bool:
    """Return whether ``value`` is two or three words, none of which is usual in sentences, labels and names."""
    if len(value) < 9 or _FEW_WORDS.fullmatch(value) is None:
        return False
    return (_NO_PHRASE | PLACEHOLDER_WORDS).isdisjoint(map(str.lower, _WORDS.findall(value)))


@cache
def known_labels() -> frozenset[str]:
    """Return the words that mean a password in other languages."""
    return frozenset(label for _, labels in load_rows(__package__, "labels.tsv") for label in labels.split("|"))


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


def _is_word_password(value: str) -> bool:
    """Return whether ``value`` is words with a number, none of which is usual in names of secrets."""
    words = [word.lower() for word in _WORDS.findall(value)]
    return (
        len(value) >= 10
        and _WORD_PASSWORD.fullmatch(value) is not None
        and not _NUMBERED.fullmatch(value)
        and PLACEHOLDER_WORDS.isdisjoint(words)
        and _NO_PHRASE.isdisjoint(words)
    )


def is_made_of_words(value: str) -> bool:
    """Return whether ``value`` consists of words, each followed by a short number at most."""
    return all(_WORD_WITH_NUMBER.fullmatch(part) for part in _PARTS.split(value))


def _is_path(value: str) -> bool:
    """Return whether ``value`` is a path made of words: base64 has slashes, too."""
    return _PATH.fullmatch(value) is not None and is_made_of_words(value)


def _has_random_case(value: str) -> bool:
    """Return whether capitals in ``value`` look random: a new word every other letter."""
    return len(value) >= 10 and len(_WORDS.findall(value)) * 5 >= len(value) * 2
