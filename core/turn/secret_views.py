"""A secret that is escaped, encoded or broken over lines is found in a view of the text, and goes from the text itself.

A view is made once, not of itself again: what is encoded twice stays. What is decoded from base64 is bounded.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from binascii import Error as Base64Error
from binascii import a2b_base64
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from .formats import Rule
from .secret_scan import Scan
from .secret_span import Span
from .secret_values import is_wordy

# Escapes

_ESCAPE = re.compile(
    r"%(?:25)?([2-7][0-9A-Fa-f])|\\{1,2}u00([2-7][0-9A-Fa-f])|\\{1,2}x([2-7][0-9A-Fa-f])|&#[xX]0{0,2}([2-7][0-9A-Fa-f]);"
    r"|&#0{0,2}([0-9]{2,3});|&(quot|apos|amp|lt|gt);|=(3[Dd])(?=[\"'A-Za-z0-9+/_=-])|=(\r?\n)(?=[A-Za-z0-9+/_=-])"
)
_ENTITIES = {"quot": '"', "apos": "'", "amp": "&", "lt": "<", "gt": ">"}


@dataclass(frozen=True, slots=True)
class View:
    """A text that was made from another one: at ``starts`` in it begin pieces that stand at ``origins`` in the other."""

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
    starts, origins, pieces, done, length = [0], [0], [], 0, 0
    for found in scan.matches(_ESCAPE, "escape", lowered, text):
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
    if kind == 8:
        return ""
    if kind == 6:
        return _ENTITIES[what]
    code = int(what, 10 if kind == 5 else 16)
    return chr(code) if 0x20 < code < 0x7F else None


# Base64

_RUN = re.compile(r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{24,}+={0,2}")
_MOST = 300_000
"""Characters that are decoded of one text."""
_TRIED = 16
_URL_SAFE = str.maketrans("-_", "+/")


def encoded(text: str, lowered: str, scan: Scan) -> Iterator[tuple[int, int, str]]:
    """Runs of base64 that are text: where each begins and ends, and what it says."""
    room = _MOST
    for found in scan.matches(_RUN, "encoded", lowered, text):
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

_BEFORE_END = " \t\\+&.\"'`"
_BEFORE_REST = " \t>|#*+\"'`-"
_OF_SECRETS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/_=-.%")
_ALONE = re.compile(r"[\"'`,;)\]}>|+\\&.]*[ \t\\]*(?:\n|\Z)")
_LONGEST = 8
"""Lines that one secret may be broken over."""


@dataclass(frozen=True, slots=True)
class Unwrapped:
    """A text without the line ends that may stand inside a secret, and where they stood."""

    original: str
    view: View

    def spans(self, ranks: Mapping[Rule, int], rules: Sequence[Rule]) -> Iterator[Span]:
        """The secrets that are broken over lines."""
        for rule in rules:
            for found in rule.pattern.finditer(self.view.text):
                start, end = rule.span(found)
                if whole := self._whole(rule, found.start() + len(rule.literal), start, end):
                    origin = self.view.place(start)
                    yield Span(origin, self.view.place(whole - 1) + 1, ranks[rule], rule.kind)

    def _whole(self, rule: Rule, rest: int, start: int, end: int) -> int:
        """Where the secret ends in the view; 0 if no line end is in it."""
        joints = self.view.starts
        first = bisect_right(joints, start)
        done = 0
        for number in range(first, min(first + _LONGEST, len(joints))):
            joint = joints[number]
            if joint >= end or (rule.size and joint - rest >= rule.size):
                break
            after = min(joints[number + 1], end) if number + 1 < len(joints) else end
            piece = self.view.text[joint:after]
            is_complete = rule.size and after - rest == rule.size
            if not is_complete and not (self._is_alone(after) and not is_wordy(piece)):
                break
            done = after
        if done and done < end and not rule.pattern.match(self.view.text[:done], start + rule.width - rule.skips):
            return 0
        return done

    def _is_alone(self, end: int) -> bool:
        """Whether nothing but closing marks stands on the line behind ``end``, a place in the view."""
        return _ALONE.match(self.original, self.view.place(end - 1) + 1) is not None


def unwrapped(text: str) -> Unwrapped | None:
    """``text`` with each line joined to the one before it, where a secret could go on; None if nowhere."""
    lines = text.split("\n")
    starts, origins, pieces = [0], [0], []
    length, place, begun = 0, 0, 0
    previous = lines[0]
    for line in lines[1:]:
        end = place + len(previous)
        left = previous.rstrip(_BEFORE_END)
        right = line.lstrip(_BEFORE_REST)
        if left and right and left[-1] in _OF_SECRETS and right[0] in _OF_SECRETS:
            upto = place + len(left)
            if upto > begun:
                pieces.append(text[begun:upto])
                length += upto - begun
                begun = end + 1 + len(line) - len(right)
                starts.append(length)
                origins.append(begun)
        place, previous = end + 1, line
    if not pieces:
        return None
    return Unwrapped(text, View("".join([*pieces, text[begun:]]), starts, origins))
