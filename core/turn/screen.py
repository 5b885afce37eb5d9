"""Lines that tell the model what to do are taken out; all others stay as they are.

A filter of phrases is no wall (``frame`` is): it keeps out what is plainly meant for the model, and it must not
eat code that talks about instructions. So each row of ``screen_phrases`` only makes sense when said to a model.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, compress, zip_longest
from typing import TYPE_CHECKING

from .fold import fold
from .screen_phrases import INSTRUCTION_TAG, PHRASES, Phrase

if TYPE_CHECKING:
    from collections.abc import Iterator

FILTERED = "[filtered]"
_LONG_LINE = 240
"""Characters; of longer lines only the sentence goes."""
_NOT_SQUEEZED = re.compile(r"[\W_]+")
_ANY_NEEDLE = re.compile("|".join(sorted({re.escape(needle) for phrase in PHRASES for needle in phrase.needles})))
MOST = 2000
"""Passages of one text that address the model; one that has more goes as a whole."""
_REACH = 500
"""Characters that a phrase has at most."""
_SHORT = 400
"""Characters up to which one search for all needles is faster than one for each."""
_SENTENCE_END = re.compile(r"[.!?;]+(?=\s|$)|[。！？；]+|\\n")


@dataclass(frozen=True, slots=True)
class Screened:
    """A text and how many of its lines (sentences of long lines) gave way to ``[filtered]``."""

    text: str
    dropped: int = 0


def screen(text: str) -> Screened:
    """``text`` with the lines that address the model replaced. Doing it twice changes nothing more."""
    segments = _Segments(text)
    filtered = set()
    for count, (start, end) in enumerate(_matches(text, segments)):
        if count == MOST:
            lines = [FILTERED if line.strip() else line for line in text.split("\n")]
            return Screened("\n".join(lines), lines.count(FILTERED))
        for number in range(*segments.numbers(start, end)):
            first, last = segments.spans[number]
            if number not in filtered and text[max(first, start) : min(last, end)].strip():
                filtered.add(number)
    if not filtered:
        return Screened(text)
    spans = segments.spans
    kept = (FILTERED if number in filtered else text[slice(*span)] for number, span in enumerate(spans))
    ends = (text[last : spans[number + 1][0]] for number, (_, last) in enumerate(spans[:-1]))
    return Screened("".join(chain.from_iterable(zip_longest(kept, ends, fillvalue=""))), len(filtered))


def may_address(text: str) -> bool:
    """Whether ``text`` has a phrase in it. If not, ``screen`` leaves each of its lines as it is."""
    folded = fold(text)
    squeezed = _NOT_SQUEEZED.sub("", folded)
    found = (phrase.pattern.search(squeezed if phrase.squeezed else folded) for phrase in _possible(squeezed))
    return any(found) or INSTRUCTION_TAG.search(text) is not None


def _possible(squeezed: str) -> Iterator[Phrase]:
    """The phrases that can be in the text that is ``squeezed``."""
    has = squeezed.__contains__
    for phrase in PHRASES if len(squeezed) > _SHORT or _ANY_NEEDLE.search(squeezed) else ():
        if any(map(has, phrase.needles)) and (not phrase.further or any(map(has, phrase.further))):
            yield phrase


def _matches(text: str, segments: _Segments) -> Iterator[tuple[int, int]]:
    """Where the model is addressed, as places in ``text``; where a segment goes anyway, not each of them."""
    folded = fold(text)
    squeezed = _NOT_SQUEEZED.sub("", folded)
    places: list[int] = []
    for phrase in _possible(squeezed):
        if not phrase.squeezed:
            yield from _apart(phrase.pattern, folded, segments)
            continue
        at = 0
        while found := phrase.pattern.search(squeezed, at):
            places = places or list(compress(range(len(folded)), map(str.isalnum, folded)))
            start, end = found.span()
            first, last = places[start], places[end - 1]
            at = end
            line_end = folded.find("\n", first, last)
            if line_end >= 0:
                if _is_inside_word(folded, first):
                    continue
                # What is complete on one line does not reach for a word on the next.
                shorter = phrase.pattern.match(squeezed, start, bisect_left(places, line_end))
                last = places[shorter.end() - 1] if shorter else last
            yield first, last + 1
            if segments.has_long:
                at = max(end, bisect_left(places, segments.end(last) - _REACH))
    yield from _apart(INSTRUCTION_TAG, text, segments)


def _apart(pattern: re.Pattern[str], text: str, segments: _Segments) -> Iterator[tuple[int, int]]:
    """What ``pattern`` finds: of a long segment the first, and those that may lead out of it."""
    at = 0
    while found := pattern.search(text, at):
        yield found.span()
        at = max(found.end(), found.start() + 1)
        if segments.has_long:
            at = max(at, segments.end(found.end() - 1) - _REACH)


def _is_inside_word(text: str, place: int) -> bool:
    """Whether a word of Latin letters began before ``place``: ``.gitignore`` at a line end starts no order."""
    return place > 0 and text[place].isascii() and text[place - 1].isalnum()


class _Segments:
    """Where the lines of a text begin and end, without their line ends; of long lines the sentences."""

    def __init__(self, text: str) -> None:
        self._text = text

    @cached_property
    def spans(self) -> list[tuple[int, int]]:
        spans, place = [], 0
        for line in self._text.split("\n"):
            end = place + len(line)
            if len(line) > _LONG_LINE:
                for found in _SENTENCE_END.finditer(self._text, place, end):
                    spans.append((place, found.end()))
                    place = found.end()
            spans.append((place, end))
            place = end + 1
        return spans

    @cached_property
    def _starts(self) -> list[int]:
        return [start for start, _ in self.spans]

    @cached_property
    def has_long(self) -> bool:
        """Whether more than one passage can lie in a segment and not lead out of it."""
        return any(end - start > 2 * _REACH for start, end in self.spans)

    def numbers(self, start: int, end: int) -> tuple[int, int]:
        """The segments that a passage touches, as the bounds of a range."""
        return bisect_right(self._starts, start) - 1, bisect_left(self._starts, end)

    def end(self, place: int) -> int:
        """Where the segment of ``place`` ends."""
        return self.spans[bisect_right(self._starts, place) - 1][1]
