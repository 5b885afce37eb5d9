"""A secret that is escaped, encoded or broken over lines is found in a view of the text, and goes from the text itself.

A view is made once, not of itself again: what is encoded twice stays. What is decoded from base64 is bounded.
"""

from __future__ import annotations

import re
from binascii import Error as Base64Error
from binascii import a2b_base64
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from .formats import Rule
from .secret_scan import Scan
from .secret_span import Span
from .secret_values import is_wordy

# Escapes

_ESCAPE = re.compile(
    r"%(?:25)?([2-7][0-9A-Fa-f])|\\{1,2}u00([2-7][0-9A-Fa-f])|\\{1,2}x([2-7][0-9A-Fa-f])|&#[xX]0{0,2}([2-7][0-9A-Fa-f]);"
    r"|&#0{0,2}([0-9]{2,3});|&(quot|apos|amp|lt|gt);|=(3[Dd])(?=[\"'A-Za-z0-9+/_=-])|=(\r?\n)(?=[A-Za-z0-9+/_=-])|\\{1,2}(/)"
)
_MOST_ESCAPES = 20_000
"""Escapes of one text that are looked behind."""
_ENTITIES = {"quot": '"', "apos": "'", "amp": "&", "lt": "<", "gt": ">"}


@dataclass(frozen=True, slots=True)
class View:
    """A text made from another one: at ``starts`` in it begin pieces that stand at ``origins`` in the other."""

    text: str
    starts: Sequence[int]
    origins: Sequence[int]

    def place(self, place: int) -> int:
        """Where the character at ``place`` stands in the original."""
        piece = bisect_right(self.starts, place) - 1
        return self.origins[piece] + place - self.starts[piece]

    def original(self, span: Span) -> Span:
        """``span`` in the original, with the whole escape that its last character was."""
        piece = bisect_right(self.starts, span.end - 1)
        last = self.place(span.end - 1) + 1
        is_last_of_piece = piece < len(self.starts) and self.starts[piece] == span.end
        return span._replace(start=self.place(span.start), end=self.origins[piece] if is_last_of_piece else last)


def unescaped(text: str, lowered: str, scan: Scan) -> View | None:
    """``text`` with what percent signs, backslashes and entities stand for, where that is a character of ASCII."""
    starts, origins, done, length = [0], [0], 0, 0
    pieces: list[str] = []
    for found in islice(scan.matches(_ESCAPE, "escape", lowered, text), _MOST_ESCAPES):
        char = _meant(found)
        if char is None:
            continue
        piece = text[done : found.start()]
        pieces += (piece, char)
        length += len(piece)
        done = found.end()
        starts += (length, length + len(char))
        origins += (found.start(), done)
        length += len(char)
    return View("".join([*pieces, text[done:]]), starts, origins) if pieces else None


def _meant(found: re.Match[str]) -> str | None:
    """The character that an escape stands for; None where it is no visible one of ASCII."""
    kind, what = found.lastindex or 0, found[found.lastindex or 0]
    if kind >= 8:
        return what.strip()
    if kind == 6:
        return _ENTITIES[what]
    code = int(what, 10 if kind == 5 else 16)
    return chr(code) if 0x20 < code < 0x7F else None


# Base64

_RUN = re.compile(r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{24,}+={0,2}")
_MOST = 300_000
"""Characters that are decoded of one text."""
_MOST_RUNS = 10_000
_TRIED = 16
_URL_SAFE = str.maketrans("-_", "+/")


def encoded(text: str, lowered: str, scan: Scan) -> Iterator[tuple[int, int, str]]:
    """Runs of base64 that are text: where each begins and ends, and what it says."""
    room = _MOST
    for found in islice(scan.matches(_RUN, "encoded", lowered, text), _MOST_RUNS):
        start, end = found.span()
        if _said(text[start : start + _TRIED]) is None:
            continue
        room -= end - start
        if room < 0:
            return
        if inside := _said(found[0].rstrip("=")):
            yield start, end, inside


def _said(run: str) -> str | None:
    """What ``run`` says if it is base64 of visible ASCII."""
    try:
        plain = a2b_base64((run + "=" * (-len(run) % 4)).translate(_URL_SAFE))
    except Base64Error:
        return None
    return text if plain.isascii() and (text := plain.decode()).translate(_SPACES).isprintable() else None


_SPACES = dict.fromkeys(map(ord, "\t\r\n"), " ")

# Lines

_QUOTES = "\"'`"
_MARKS = ">|#*+-"
"""What stands before every line of a quotation, a table, a comment or a diff."""
_OF_SECRETS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/_=-.%")
_CLOSED = frozenset(["", *"()[]{}<>:;,!?#*|@$"])
"""What a line ends in that does not end inside a secret."""
_ALONE = re.compile(r"[\"'`,;)\]}>|+\\&. \t]*(?:\n|\Z)")
_MOST_JOINTS = 10_000
"""Line ends of one text that are looked across."""
_LONGEST = 8
"""Lines that one secret may be broken over."""


@dataclass(frozen=True, slots=True)
class Unwrapped:
    """A text without the line ends that may stand inside a secret, and where they stood."""

    original: str
    view: View

    def formats(self, ranks: Mapping[Rule, int], rules: Sequence[Rule]) -> Iterator[Span]:
        """The secrets with a format that are broken over lines."""
        for rule in rules:
            for found in rule.open_pattern.finditer(self.view.text) if not rule.is_open else ():
                start, end = rule.span(found)
                if not self._joints(start, end):
                    continue
                begin = found.start() - rule.width
                if not (self._is_joint(begin) or rule.may_begin(self.view.text, begin)):
                    continue
                whole = self._end(start, end, found.start() + len(rule.literal), rule.size, (rule, found.start()))
                if whole == end and rule.ends and not self._is_joint(end) and self.view.text[end : end + 1].isalnum():
                    continue
                if whole == end or (whole and rule.open_pattern.match(self.view.text, found.start(), whole)):
                    yield self._span(Span(start, whole, ranks[rule], rule.kind))

    def told(self, spans: Iterable[Span]) -> Iterator[Span]:
        """Those of ``spans``, secrets of the view that their surroundings show, that are broken over lines."""
        for span in spans:
            if span.kind == "url-password" and self._joints(span.start, span.end):
                yield self._span(span)
            elif whole := self._end(span.start, span.end, span.start, 0):
                yield self._span(span._replace(end=whole))

    def _end(self, start: int, end: int, rest: int, size: int, found: tuple[Rule, int] | None = None) -> int:
        """Where the secret ends in the view; 0 if no line end is in it.

        What follows ``rest`` has ``size`` characters, if that is known. What is no secret yet goes on with any word.
        """
        done = 0
        joints = self._joints(start, end)
        if not joints:
            return 0
        for joint, after in zip(joints, [*joints[1:], end], strict=True):
            if size and joint - rest >= size:
                break
            if size and after - rest == size:
                return after
            if not self._is_alone(after):
                break
            is_part = found and not found[0].open_pattern.match(self.view.text, found[1], joint)
            if is_part or not is_wordy(self.view.text[joint:after]):
                done = after
        return done

    def _joints(self, start: int, end: int) -> Sequence[int]:
        """Where lines were joined between two places of the view."""
        first = bisect_right(self.view.starts, start)
        last = bisect_left(self.view.starts, end, first, min(first + _LONGEST, len(self.view.starts)))
        return self.view.starts[first:last]

    def _is_joint(self, place: int) -> bool:
        return self.view.starts[bisect_right(self.view.starts, place) - 1] == place

    def _is_alone(self, end: int) -> bool:
        """Whether nothing but closing marks stands on the line behind ``end``, a place in the view."""
        return _ALONE.match(self.original, self.view.place(end - 1) + 1) is not None

    def _span(self, span: Span) -> Span:
        return span._replace(start=self.view.place(span.start), end=self.view.place(span.end - 1) + 1)


def unwrapped(text: str) -> Unwrapped | None:
    """``text`` with each line joined to the one before it, where a secret could go on; None if nowhere."""
    lines = text.split("\n")
    starts, origins, pieces = [0], [0], []
    length, place, begun = 0, 0, 0
    previous = lines[0]
    for line in lines[1:]:
        end = place + len(previous)
        may_go_on = line and previous[-1:] not in _CLOSED
        left, right = (_open_end(previous), _go_on(previous, line)) if may_go_on else ("", "")
        if left and right and left[-1] in _OF_SECRETS and right[0] in _OF_SECRETS:
            upto = place + len(left)
            if upto > begun:
                pieces.append(text[begun:upto])
                length += upto - begun
                begun = end + 1 + len(line) - len(right)
                starts.append(length)
                origins.append(begun)
                if len(starts) > _MOST_JOINTS:
                    break
        place, previous = end + 1, line
    if not pieces:
        return None
    return Unwrapped(text, View("".join([*pieces, text[begun:]]), starts, origins))


def _open_end(line: str) -> str:
    """``line`` without what joins a string to that of the next line."""
    left = line.rstrip(" \t\\")
    if left[-1:] in ("+", ".", "&") and left[:-1].rstrip(" \t")[-1:] in tuple(_QUOTES):
        left = left[:-1].rstrip(" \t")
    return left[:-1] if left.endswith(tuple(_QUOTES)) else left


def _go_on(previous: str, line: str) -> str:
    """``line`` without what stands at its beginning only because it is a line."""
    right = line.lstrip(" \t")
    if right[:1] in _MARKS and right[:1] == previous.lstrip(" \t")[:1]:
        right = right[1:].lstrip(" \t")
    return right[1:] if right.startswith(tuple(_QUOTES)) else right
