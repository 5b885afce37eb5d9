"""One pass over a text says which formats and which places of secrets it can have; only these are looked at closely.

RE2 makes that pass, for all formats at once and in time that is linear in the text, whatever the text is. Where it is
not installed, or a text is so short that loading it would take longer, each literal is searched for instead: both say
at least what there is, so what is found is the same.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Protocol

from .formats import RULES, Rule

if TYPE_CHECKING:
    import re2

_LONG = 4000
"""Characters from which on RE2 is loaded; it takes as long as searching for each literal in fifty times as many."""

_NAMES = (
    "passw(?:or)?d|passphrase|passcode|pwd|secret(?:[_-]?(?:access[_-]?)?key)?|token|authorization|credentials?|_auth"
    "|[_-]pass|(?:api|access|private|secret|encryption|signing|master|account|shared|auth|app|client|consumer|hmac|jwt"
    "|deploy|storage|license|webhook)[_. -]?key"
)
_SUFFIX = "(?:[_-]?(?:value|base64|b64|hex|text|plain|prod|production|dev|test|live|staging|default|[0-9]{1,3}))?"
_LINK = r"""[\\"'`\])*]*[ \t]*(?:[:=,>!?]|\n[ \t-]*["']?value|value|is[ \t])"""
_SAID = r"""[^\s"'`<>,;&|(){}\[\]]{6}"""
_PLACES: dict[str, tuple[tuple[str, ...], str]] = {
    "key block": (("private key",), "private key"),
    "scheme": (
        ("bearer", "basic", "token", "apikey", "api-key"),
        "(?:bearer|basic|token|api-?key|api-?token)[ \\t]",
    ),
    "url": (("://",), r"""://[^\s/"'<>`\\]*@"""),
    "flag": (("--",), "--[a-z0-9_-]*(?:passw|pwd|pass|secret|token|credentials|key)"),
    "user flag": (("-u",), r"""-(?:u|-user)[ =]*["']?[^\s:]*:"""),
    "assigned": (
        (
            *("passw", "passphrase", "passcode", "pwd", "_pass", "-pass", "secret", "token", "authorization"),
            *("credential", "_auth", "key", "密", "口令", "令牌", "私"),
        ),
        f"(?:{_NAMES}){_SUFFIX}{_LINK}",
    ),
    "said": (
        ("pass", "pw", "secret", "token", "key", "credential"),
        f"(?:{_NAMES}|pw|pass)" + r"(?:[ \t]+(?:(?:to|was|as|->)[ \t]+)?|[ \t]?[:=][ \t]*)" + _SAID,
    ),
    "escape": (
        ("%", "\\u00", "\\x", "\\/", "&#", "&quot", "&apos", "&amp", "&lt", "&gt", "=3d", "=\n"),
        r"%(?:25)?[2-7][0-9a-f]|\\(?:(?:u00|x)[2-7][0-9a-f]|/)|&#x?[0-9]|&(?:quot|apos|amp|lt|gt);|=3d|=\r?\n",
    ),
    "encoded": (("",), "[a-z0-9+/_-]{24}"),
}
"""What each place has in it, in lower case: literals, of which one is there, and an expression."""
_BEYOND_ASCII = ("密", "口令", "令牌", "私")
"""Names that are assigned to, in other letters."""
_MANY, _DENSE = 64, 40
"""Places from which on, if they are no farther apart than so many characters, going on without RE2 is faster."""


MOST_PLACES = 25_000
"""Places of one kind that are judged in one text."""


class TooMany(Exception):
    """A text has more places where a secret may stand than can be judged in time."""


class Scan(Protocol):
    """What a text can hold. Says too much rather than too little."""

    def formats(self, text: str) -> Sequence[Rule]:
        """The rules that may find something in ``text``, in their order."""
        ...

    def places(self, lowered: str) -> Collection[str]:
        """The names of ``_PLACES`` that the text in lower case may have."""
        ...

    def matches(self, pattern: re.Pattern[str], place: str, lowered: str, text: str) -> Iterator[re.Match[str]]:
        """What ``pattern`` finds in ``text``; it begins where ``place`` does in ``lowered``, or a character behind.

        Raises ``TooMany`` behind ``MOST_PLACES`` of them.
        """
        ...


class Stepwise:
    """Each literal by itself: for short texts, and without RE2."""

    def formats(self, text: str) -> Sequence[Rule]:
        return [rule for rule in RULES if rule.literal in text]

    def places(self, lowered: str) -> Collection[str]:
        return [name for name, (literals, _) in _PLACES.items() if any(map(lowered.__contains__, literals))]

    def matches(self, pattern: re.Pattern[str], place: str, lowered: str, text: str) -> Iterator[re.Match[str]]:
        del place, lowered  # what tells where to begin: here it is tried everywhere
        return _bounded(pattern.finditer(text))


class AtOnce:
    """Everything in one pass of RE2. Each code point is one byte to it: no format has others than ASCII."""

    def __init__(self) -> None:
        by_opener: dict[str, list[int]] = {}
        for number, rule in enumerate(RULES):
            by_opener.setdefault(rule.opener, []).append(number)
        self._rules = list(by_opener.values())
        self._formats = _set_of(by_opener)
        self._names = list(_PLACES)
        self._places = _set_of(expression for _, expression in _PLACES.values())
        self._starts = {name: _expression(_PLACES[name][1]) for name in _PLACES}

    def formats(self, text: str) -> Sequence[Rule]:
        found = self._formats.Match(text.encode("ascii", "replace"))
        if not found:
            return ()
        return [RULES[number] for number in sorted(number for which in found for number in self._rules[which])]

    def places(self, lowered: str) -> Collection[str]:
        found = {self._names[which] for which in self._places.Match(lowered.encode("ascii", "replace")) or ()}
        if not lowered.isascii() and any(map(lowered.__contains__, _BEYOND_ASCII)):
            found.add("assigned")
        return found

    def matches(self, pattern: re.Pattern[str], place: str, lowered: str, text: str) -> Iterator[re.Match[str]]:
        return _bounded(self._matches(pattern, place, lowered, text))

    def _matches(self, pattern: re.Pattern[str], place: str, lowered: str, text: str) -> Iterator[re.Match[str]]:
        if place == "assigned" and not lowered.isascii() and any(map(lowered.__contains__, _BEYOND_ASCII)):
            yield from pattern.finditer(text)
            return
        data, at, seen = lowered.encode("ascii", "replace"), 0, 0
        while where := self._starts[place].search(data, at):
            start = where.start()
            seen += 1
            if seen > _MANY and start < seen * _DENSE:
                yield from pattern.finditer(text, start)
                return
            found = pattern.match(text, start) or pattern.match(text, start + 1)
            if found:
                yield found
            at = max(found.end() if found else 0, start + 1)


def _bounded(found: Iterator[re.Match[str]]) -> Iterator[re.Match[str]]:
    yield from islice(found, MOST_PLACES)
    if next(found, None) is not None:
        raise TooMany


def _options() -> re2.Options:
    import re2

    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.log_errors = False
    options.never_capture = True
    return options


def _expression(source: str) -> re2._Regexp:
    import re2

    return re2.compile(source.encode("ascii"), _options())


def _set_of(expressions: Iterable[str]) -> re2.Set:
    import re2

    found = re2.Set.SearchSet(_options())
    for expression in expressions:
        found.Add(expression.encode("ascii"))
    found.Compile()
    return found


STEPWISE = Stepwise()


@cache
def at_once() -> Scan | None:
    """The scan by RE2; None where it is not installed."""
    try:
        return AtOnce()
    except ImportError:
        return None


def scan_for(text: str) -> Scan:
    """What reads ``text`` fastest."""
    if len(text) < _LONG and not at_once.cache_info().currsize:
        return STEPWISE
    return at_once() or STEPWISE
