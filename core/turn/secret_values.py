"""Whether a value that a program assigns to a name such as ``password`` is a secret, or a word about one.

Left alone, because a person who reads them learns nothing: what is shorter than six characters (eight for
tokens); prose; references and templates (``$TOKEN``, ``{{ token }}``, ``<token>``); one character repeated
(``xxxx``, ``****``); names made of everyday words (``your-api-key``, ``changeme``, ``new_password``) without
digits; and, where no quotes show that it is a literal, identifiers, calls and attribute chains.
"""

from __future__ import annotations

import re

_CROSSED_OUT = re.compile(r"[xX*.\-_#0?]")
_MARK = re.compile("[{}%<$]")
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
_WORDY = re.compile(r"(?:[A-Z]?[a-z]+|[A-Z]+|(?:[A-Z]?[a-z]{2,}){2,5})?\d{0,4}")
_PARTS = re.compile(r"[-_./:@~]+")
_PATH = re.compile(
    r"(?:~|\.{0,2})?/?(?:[\w.@-]+/)+[\w.@-]*|[\w-]+\.(?:json|ya?ml|txt|pem|key|toml|ini|py|js|ts|html?|csv)"
)
_IDENTIFIER = re.compile(r"[*&!@-]{0,2}[A-Za-z_$][A-Za-z_$.>:?!*-]*")
_CHAIN = re.compile(r"[@!]?[A-Za-z_$][\w$]*(?:(?:\.|->|::|\?\.)[A-Za-z_$][\w$]*)+")
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

EVERYDAY = frozenset(
    """
    a abc access account admin age all allowed an any api app application apps ask auth authentication
    authorization bad bar base basic baz bearer bool boolean bot bytes change changed changeme char
    check class client code config confirm confirmation const correct count credential credentials csrf
    current data database db default disabled do dummy email empty enabled encrypted end enter env
    environment error example expired explicit fake false field file filtered fixme foo for forgot form
    from function generate generated get github gitlab google grant guest handler hash have header here
    hidden id identifier in include incorrect input insert int interactive invalid is it jwt key keyring keys
    kind label length list literal local login long main manager masked match me missing mode must my
    mysql name never new nil no none not null number oauth object of old omit only origin open operator optional or
    owner param parameter pass passphrase passwd password passwords path placeholder plain please
    postgres private prompt property protected provided provider public pw pwd rabbitmq random read
    redacted redis refresh regex removed repeat replace request required reset response root sample
    scope secret secrets secured select self server service session set short should show sign simple
    some ssh ssl static str string super tbd temp template test testing text the this to todo token
    tokens totp true type undefined unknown unset update uri url use user username users valid value
    values variable verify weak with word write wrong x xx xxx xxxx yes you your yourself
    """.split()  # noqa: SIM905 - two hundred quoted words would hide the words
)
"""Words that describe a secret rather than being one."""


def is_secret(value: str, *, chosen: bool, literal: bool) -> bool:
    """Whether ``value`` is worth hiding.

    ``chosen``: a person may have chosen it (a password), so it may be any word; otherwise a machine made it.
    ``literal``: quotes or the form of the line show that it is no identifier.
    """
    if len(value) < (6 if chosen else 8) or not value.isascii() or _SPACE.search(value):
        return False
    if is_placeholder(value):
        return False
    if not literal and _is_code(value, chosen=chosen):
        return False
    return _looks_chosen(value) if chosen else _looks_made(value)


def is_strong(value: str, *, chosen: bool) -> bool:
    """Whether ``value`` is a secret even where only a blank stands between it and a name, as in prose.

    It has letters and digits, is no word with a number (``sha256``), no name and no path. What a machine made has
    sixteen characters.
    """
    has_both = _has_digit(value) and _LETTER.search(value)
    if not has_both or not is_secret(value, chosen=chosen, literal=False):
        return False
    if not chosen:
        return len(value) >= 16
    return not _NUMBERED.fullmatch(value) and not _MARKUP.search(value)


def is_placeholder(value: str) -> bool:
    """Whether ``value`` stands for a secret without being one: a reference, a template, everyday words."""
    if len(value) >= 4 and _CROSSED_OUT.search(value) and len(set(value.lower())) <= 2:
        return True
    if _REFERENCE.fullmatch(value) or _PLACEHOLDER.fullmatch(value):
        return True
    fixed = _TEMPLATE.sub("", value) if _MARK.search(value) else value
    if fixed != value and len(fixed) < 6:
        return True
    return not _has_digit(fixed) and all(word.lower() in EVERYDAY for word in _WORDS.findall(fixed))


def _is_code(value: str, *, chosen: bool) -> bool:
    """Whether a value without quotes reads as an expression."""
    if _IDENTIFIER.fullmatch(value) and not _is_shuffled(value):
        return True
    if _CHAIN.fullmatch(value) or _CONSTANT.fullmatch(value):
        return True
    return not chosen and _NUMBER.fullmatch(value) is not None


def _looks_chosen(value: str) -> bool:
    """Whether a person could have chosen ``value`` as a password: no label, no name, no path."""
    if _has_digit(value):
        return not _is_path(value) and not _VERSION.fullmatch(value)
    if value.isalpha():
        is_label = value.istitle() or value.isupper()
        return _is_shuffled(value) or (not is_label and EVERYDAY.isdisjoint(map(str.lower, _WORDS.findall(value))))
    return re.search(r"[\\\[\]()]", value) is None and re.fullmatch(r"[A-Za-z_.:/-]+", value) is None


def _looks_made(value: str) -> bool:
    """Whether a machine could have made ``value``: letters and digits mixed, or cases, unlike any word."""
    if not _TOKEN.fullmatch(value):
        return False
    if value.isalpha():
        return _is_shuffled(value)
    if not _has_digit(value):
        return len(value) >= 16 and not is_wordy(value)
    if _is_path(value):
        return False
    if not _LETTER.search(value):
        return len(value) >= 20 and not _VERSION.fullmatch(value)
    return not is_wordy(value)


def is_wordy(value: str) -> bool:
    """Whether ``value`` is made of words, with a short number behind them at most."""
    return all(_WORDY.fullmatch(part) for part in _PARTS.split(value))


def _is_path(value: str) -> bool:
    """Whether ``value`` is a path, and made of words: base64 has slashes too."""
    return _PATH.fullmatch(value) is not None and all(_WORDY.fullmatch(part) for part in _PARTS.split(value))


def _is_shuffled(value: str) -> bool:
    """Whether capitals stand in ``value`` as no one writes them: a new word every other letter."""
    return len(value) >= 10 and len(_WORDS.findall(value)) * 5 >= len(value) * 2


def _has_digit(value: str) -> bool:
    return _DIGIT.search(value) is not None
