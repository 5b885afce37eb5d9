"""A format is data: a literal that every secret of its kind has in it, and what stands around that literal.

So a text without the literal costs next to nothing, and where it has one, what is looked at is bounded: a fixed
width before it, behind it parts with an upper bound, of which only the last may be open, every quantifier
possessive. No input makes an expression walk over the same characters again and again.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

ALNUM = "[A-Za-z0-9]"
WORD = "[A-Za-z0-9_-]"
HEX = "[0-9a-f]"
UPPER = "[A-Z0-9]"
LOWER = "[a-z0-9]"
BASE64 = "[A-Za-z0-9+/]"
UUID = "[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}"

_LETTERS = "A-Za-z0-9"
_ESCAPES = (r"\\[nrtbf]", "%[0-9A-Fa-f]{2}", r"\\u[0-9A-Fa-f]{4}")
"""What ends in a letter or a digit and still begins a word: the end of an escape."""
_SHORT = 4
"""A literal that is shorter stands in every other text."""
_QUANTIFIER = re.compile(r"\[(?:\\.|[^\]])*\]|\\.|\(\?[:!]|(\{\d+,\d*\}|[*+?])")
_FIRST_CLASS = re.compile(r"\[(?:\\.|[^\]])*\](?=\{(?:[4-9]|\d\d+)[,}])")


@dataclass(frozen=True)
class Rule:
    """``lead``, ``literal`` and ``rest``, one behind the other; ``lead`` has ``width`` characters.

    The secret begins ``skips`` characters behind the beginning of the lead. None of the characters ``before`` (the
    inside of a class) may stand before it; ``ends``: no letter or digit may follow it. ``size`` is the number of
    characters of ``rest`` where the vendor names one, else 0. ``hint`` is an expression that occurs wherever the rule
    finds something. ``is_open``: a part that is not the last has no upper bound, which ``before`` makes up for.
    """

    kind: str
    literal: str
    rest: str
    lead: str = ""
    width: int = 0
    skips: int = 0
    before: str = _LETTERS
    ends: bool = False
    size: int = 0
    hint: str = ""
    is_open: bool = False

    @cached_property
    def opener(self) -> str:
        """``hint``, or one that is made from the literal: without look-around, bounds or quantifiers without end."""
        first = _FIRST_CLASS.match(self.rest) if len(self.literal) < _SHORT else None
        return self.hint or re.escape(self.literal) + (f"{first[0]}{{4}}" if first else "")

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Begins to match at the literal; the match ends with the secret."""
        word = self.lead + re.escape(self.literal)
        begins = f"(?:{_edge(self.before, word)})" if self.before else ""
        return self._compiled(begins, "(?![A-Za-z0-9])" if self.ends else "")

    @cached_property
    def open_pattern(self) -> re.Pattern[str]:
        """The same, whatever stands around it."""
        return self._compiled("", "")

    def _compiled(self, begins: str, ends: str) -> re.Pattern[str]:
        start = re.escape(self.literal)
        lead = f"(?<={self.lead}{start})" if self.lead else ""
        return re.compile(start + lead + begins + possessive(self.rest) + ends)

    def may_begin(self, text: str, place: int) -> bool:
        """Whether what stands before ``place`` may stand before the lead and the literal."""
        return not self.before or re.compile(_edge(self.before, "")).match(text, place) is not None

    def span(self, found: re.Match[str]) -> tuple[int, int]:
        """Where the secret of a match begins and ends."""
        return found.start() - self.width + self.skips, found.end()


def _edge(before: str, word: str) -> str:
    """What holds behind ``word`` if it begins a word."""
    return "|".join([f"(?<![{before}]{word})", *(f"(?<={end}{word})" for end in _ESCAPES)])


def possessive(source: str) -> str:
    """``source`` with each quantifier possessive."""
    return _QUANTIFIER.sub(lambda found: found[0] + "+" * bool(found[1]), source)


def token(kind: str, literal: str, rest: str, *, free: bool = False, size: int = 0) -> Rule:
    """A token that begins with ``literal``. ``free``: whatever stands before it."""
    return Rule(kind, literal, rest, before="" if free else _LETTERS, size=size)


def exact(kind: str, literal: str, alphabet: str, size: int) -> Rule:
    """A token of exactly so many characters of ``alphabet`` behind ``literal``."""
    return Rule(kind, literal, f"{alphabet}{{{size}}}", ends=True, size=size)


def after(kind: str, literal: str, rest: str) -> Rule:
    """A secret that stands behind ``literal``, which stays."""
    return Rule(kind, literal, rest, skips=len(literal), before="")


def behind(kind: str, lead: str, width: int, literal: str, rest: str = "", *, hint: str = "") -> Rule:
    """A token with ``literal`` in its middle, and ``width`` characters of ``lead`` before it."""
    return Rule(kind, literal, rest, lead, width, ends=True, hint=hint)
