"""Lines that tell the model what to do are taken out; all others stay as they are.

A filter of phrases is no wall (``frame`` is): it keeps out what is plainly meant for the model, and it must not
eat code that talks about instructions. So each row of ``screen_phrases`` only makes sense when said to a model.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from itertools import chain, zip_longest
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
    matches = sorted(_matches(text))
    if not matches:
        return Screened(text)
    segments = _segments(text)
    starts = [start for start, _ in segments]
    filtered = set()
    for start, end in matches:
        for number in range(bisect_right(starts, start) - 1, bisect_left(starts, end)):
            first, last = segments[number]
            if text[max(first, start) : min(last, end)].strip():
                filtered.add(number)
    kept = (FILTERED if number in filtered else text[slice(*segment)] for number, segment in enumerate(segments))
    ends = (text[last : segments[number + 1][0]] for number, (_, last) in enumerate(segments[:-1]))
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


def _matches(text: str) -> Iterator[tuple[int, int]]:
    """Where the model is addressed, as places in ``text``."""
    folded = fold(text)
    squeezed = _NOT_SQUEEZED.sub("", folded)
    places: list[int] = []
    for phrase in _possible(squeezed):
        if not phrase.squeezed:
            yield from (found.span() for found in phrase.pattern.finditer(folded))
            continue
        for found in phrase.pattern.finditer(squeezed):
            places = places or [place for place, char in enumerate(folded) if char.isalnum()]
            start, end = found.span()
            first, last = places[start], places[end - 1]
            line_end = folded.find("\n", first, last)
            if line_end >= 0:
                if _is_inside_word(folded, first):
                    continue
                # What is complete on one line does not reach for a word on the next.
                shorter = phrase.pattern.match(squeezed, start, bisect_left(places, line_end))
                last = places[shorter.end() - 1] if shorter else last
            yield first, last + 1
    yield from (found.span() for found in INSTRUCTION_TAG.finditer(text))


def _is_inside_word(text: str, place: int) -> bool:
    """Whether a word of Latin letters began before ``place``: ``.gitignore`` at a line end starts no order."""
    return place > 0 and text[place].isascii() and text[place - 1].isalnum()


def _segments(text: str) -> list[tuple[int, int]]:
    """Where the lines of ``text`` begin and end, without their line ends; of long lines the sentences."""
    segments, place = [], 0
    for line in text.split("\n"):
        end = place + len(line)
        if len(line) > _LONG_LINE:
            for found in _SENTENCE_END.finditer(text, place, end):
                segments.append((place, found.end()))
                place = found.end()
        segments.append((place, end))
        place = end + 1
    return segments
