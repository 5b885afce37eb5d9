"""Secrets with a published format: the rows of ``formats.tsv``, compiled to patterns on first use, and private keys.

Invariant: a format has a literal that occurs in every secret of its kind, so a text without the literal costs next to
nothing. What is matched around the literal is bounded: a fixed width before it and, after it, possessive quantifiers
of which only the last may be open. No input makes a pattern scan the same characters again and again.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

from upbeat.core import lazy_re as re
from upbeat.core.lazy_dataclass import dataclass
from upbeat.core.package_data import load_rows

_CLASSES = {
    "ALNUM": "[A-Za-z0-9]",
    "URL_SAFE": "[A-Za-z0-9_-]",
    "HEX": "[0-9a-f]",
    "UPPER": "[A-Z0-9]",
    "LOWER": "[a-z0-9]",
    "BASE64": "[A-Za-z0-9+/]",
    "UUID": "[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}",
}
_CLASS_NAME = re.compile(r"\{([A-Z][A-Z0-9_]+)\}")
_ALPHANUMERIC = "A-Za-z0-9"
_ESCAPES = (r"\\[nrtbf]", "%[0-9A-Fa-f]{2}", r"\\u[0-9A-Fa-f]{4}")
"""Escape sequences: they end in a letter or a digit, and a token can still begin after one."""
_SHORT_LITERAL = 4
"""Shorter literals occur in every other text."""
_QUANTIFIER = re.compile(r"\[(?:\\.|[^\]])*\]|\\.|\(\?[:!]|(\{\d+,\d*\}|[*+?])")
_FIRST_CLASS = re.compile(r"\[(?:\\.|[^\]])*\](?=\{(?:[4-9]|\d\d+)[,}])")


class SecretSpan(NamedTuple):
    """The offsets, the rank and the kind of a secret."""

    start: int
    end: int
    rank: int
    kind: str


@dataclass(frozen=True)
class SecretFormat:
    """A prefix of ``prefix_length`` characters, ``literal`` and ``suffix``; the secret begins at ``secret_offset``.

    ``forbidden_before`` is the inside of a character class: none of them may precede the match. If
    ``ends_at_boundary``, no letter or digit may follow it. ``suffix_length`` is the length of the suffix in
    characters if the vendor states one, else 0. ``prefilter`` matches wherever the format does. ``is_unbounded``: a
    part other than the last has no upper bound; ``forbidden_before`` makes up for that.
    """

    kind: str
    literal: str
    suffix: str
    prefix: str = ""
    prefix_length: int = 0
    secret_offset: int = 0
    forbidden_before: str = _ALPHANUMERIC
    ends_at_boundary: bool = False
    suffix_length: int = 0
    prefilter: str = ""
    is_unbounded: bool = False

    @cached_property
    def prefilter_pattern(self) -> str:
        """``prefilter``, or an RE2 expression made from the literal."""
        first = _FIRST_CLASS.match(self.suffix) if len(self.literal) < _SHORT_LITERAL else None
        return self.prefilter or re.escape(self.literal) + (f"{first[0]}{{4}}" if first else "")

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The pattern; a match begins at the literal and ends with the secret."""
        word = self.prefix + re.escape(self.literal)
        begins = f"(?:{_start_condition(self.forbidden_before, word)})" if self.forbidden_before else ""
        return self._compile(begins, "(?![A-Za-z0-9])" if self.ends_at_boundary else "")

    @cached_property
    def unanchored_pattern(self) -> re.Pattern[str]:
        """The pattern without conditions on the surrounding text."""
        return self._compile("", "")

    def _compile(self, start_condition: str, end_condition: str) -> re.Pattern[str]:
        start = re.escape(self.literal)
        lookbehind = f"(?<={self.prefix}{start})" if self.prefix else ""
        return re.compile(start + lookbehind + start_condition + make_possessive(self.suffix) + end_condition)

    def can_begin_at(self, text: str, offset: int) -> bool:
        """Return whether the text before ``offset`` may precede the prefix and the literal."""
        return (
            not self.forbidden_before
            or re.compile(_start_condition(self.forbidden_before, "")).match(text, offset) is not None
        )

    def secret_bounds(self, match: re.Match[str]) -> tuple[int, int]:
        """Return the start and the end of the secret in a match of ``pattern``."""
        return match.start() - self.prefix_length + self.secret_offset, match.end()


def _start_condition(forbidden_before: str, word: str) -> str:
    """Return lookbehinds for the end of ``word``: it begins a token."""
    return "|".join([f"(?<![{forbidden_before}]{word})", *(f"(?<={end}{word})" for end in _ESCAPES)])


def make_possessive(source: str) -> str:
    """Return ``source`` with each quantifier possessive."""
    return _QUANTIFIER.sub(lambda match: match[0] + "+" * bool(match[1]), source)


def _parse_row(kind: str, literals: str, suffix: str = "", options: str = "") -> list[SecretFormat]:
    """Parse a row of ``formats.tsv``.

    Options: ``prefix=`` and ``width=`` describe what precedes the literal; ``after-literal`` and ``after-prefix`` say
    where the secret begins; ``anywhere`` and ``before=`` relax or replace what may precede it; ``ends`` needs a word
    boundary; ``length=`` is the suffix's length; ``hint=`` the prefilter; ``unbounded`` sets ``is_unbounded``.
    """
    values = dict(option.partition("=")[::2] for option in options.split())
    width = int(values.get("width", 0))
    anywhere = "anywhere" in values or "after-literal" in values
    return [
        SecretFormat(
            kind=kind,
            literal=literal,
            suffix=_expand_classes(suffix),
            prefix=_expand_classes(values.get("prefix", "")),
            prefix_length=width,
            secret_offset=len(literal) if "after-literal" in values else width if "after-prefix" in values else 0,
            forbidden_before="" if anywhere else values.get("before", _ALPHANUMERIC),
            ends_at_boundary="ends" in values,
            suffix_length=int(values.get("length", 0)),
            prefilter=values.get("hint", ""),
            is_unbounded="unbounded" in values,
        )
        for literal in literals.split("|")
    ]


def _expand_classes(expression: str) -> str:
    return _CLASS_NAME.sub(lambda match: _CLASSES[match[1]], expression)


SECRET_FORMATS: tuple[SecretFormat, ...] = tuple(
    secret_format for row in load_rows(__package__, "formats.tsv") for secret_format in _parse_row(*row)
)
"""If two formats match the same secret, the earlier one names it."""


# Armored private keys: complete, without their end, or without their beginning

_BEGIN = re.compile(r"-----BEGIN (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_END = re.compile(r"-----END (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_TRUNCATED_END = re.compile(r"-{1,5}(?:E(?:N(?:D(?: [A-Z0-9 ]{0,40}-{0,5})?)?)?)?")
_LINE_SEPARATOR = re.compile(r"(?:\\[nrt]?|[0-9]{1,6}[:|→\-]|[\s\"'`,;|>#*()]|//(?=\s)|[+-](?=[\s\"'A-Za-z0-9+/]))*+")
"""Separators between two lines of a key: line ends, escapes, quotes, and the marks of diffs and line numbers."""
_HEADER = re.compile(r"[A-Z][A-Za-z-]{1,30}: [^\n\\\"']{0,200}")
_BASE64 = re.compile(r"(?:[A-Za-z0-9+/=]|\\/)++")
_MIN_LINE_LENGTH, _MAX_LINE_LENGTH = 16, 200
_BASE64_LINE = re.compile(r"[\s>#*+/|\"'`0-9:→-]{0,16}?[A-Za-z0-9+/=]{16,}[\s\"'`,;+\\n]{0,8}")
_LAST_LINE = re.compile(r"[^\n]{0,60}=[\s\"'`,;+\\n]{0,8}")


def find_private_keys(text: str) -> Iterator[SecretSpan]:
    """Yield keys in PEM and PGP armor: complete, without their end, or without their beginning."""
    if "PRIVATE KEY" not in text:
        return
    for begin in _BEGIN.finditer(text):
        if end := _end_of_key(text, begin.end()):
            yield SecretSpan(begin.start(), end, 0, "private-key")
    for end_line in _END.finditer(text):
        start = _start_of_key(text, end_line.start())
        if start < end_line.start():
            yield SecretSpan(start, end_line.end(), 0, "private-key")


def _end_of_key(text: str, offset: int) -> int:
    """Return the end of the key whose first line ends at ``offset``; 0 if there is no other line."""
    end = 0
    while True:
        before, offset = offset, _skip(_LINE_SEPARATOR, text, offset)
        if closing := _END.match(text, offset):
            return closing.end() if end else 0
        if header := _HEADER.match(text, offset):
            offset = header.end()
            continue
        line = _BASE64.match(text, offset)
        if line is None:
            return _skip(_TRUNCATED_END, text, offset) if end else 0
        after = _skip(_LINE_SEPARATOR, text, line.end())
        gaps = text[before:offset], text[line.end() : after]
        is_last = _END.match(text, after) is not None and all("\n" in gap or "\\n" in gap for gap in gaps)
        if len(line[0]) < _MIN_LINE_LENGTH and not is_last and not (end and line[0].endswith("=")):
            return end
        offset = end = line.end()


def _start_of_key(text: str, offset: int) -> int:
    """Return the start of the base64 lines right before ``offset``; ``offset`` if there are none."""
    start = offset
    line_start = _line_start(text, offset)
    while line_start > 0:
        line_end = line_start - 1
        line_start = _line_start(text, line_end)
        shape = _LAST_LINE if start == offset else _BASE64_LINE
        if not (shape.fullmatch(text, line_start, line_end) or _BASE64_LINE.fullmatch(text, line_start, line_end)):
            break
        start = line_start
    return start


def _line_start(text: str, offset: int) -> int:
    """Return the start of the line of ``offset``, at most ``_MAX_LINE_LENGTH`` before it."""
    earliest = max(offset - _MAX_LINE_LENGTH, 0)
    line_end = text.rfind("\n", earliest, offset)
    return line_end + 1 if line_end >= 0 else earliest


def _skip(pattern: re.Pattern[str], text: str, offset: int) -> int:
    match = pattern.match(text, offset)
    return match.end() if match else offset
