"""Filter lines that address the model; all others stay unchanged.

The filter is not the security boundary (``frame`` is). It removes what is clearly meant for the model and must not
remove code that mentions instructions, so each row of ``injection_phrases.toml`` only makes sense when said to a model.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from functools import cached_property
from itertools import chain, compress, zip_longest

from upbeat.core import lazy_re as re
from upbeat.core.lazy_dataclass import dataclass
from upbeat.core.package_data import load_toml
from upbeat.core.sanitize.normalize import normalize

_FRAGMENT_NAME = re.compile(r"\{([A-Z_]+)\}")


@dataclass(frozen=True)
class InjectionPhrase:
    """A row of ``injection_phrases.toml``; it matches the compact text if ``is_compact``, else the normalized text.

    It cannot match a compact text without any of ``needles``, or without any of ``further_needles`` if there are some.
    """

    needles: tuple[str, ...]
    source: str
    is_compact: bool
    further_needles: tuple[str, ...] = ()

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The compiled ``source``: compiled on first use, because most texts have no needle."""
        return re.compile(self.source)


def _load_phrases() -> Iterator[InjectionPhrase]:
    document = load_toml(__package__, "injection_phrases.toml")
    fragments = {name: "".join(parts) for name, parts in document["fragments"].items()}
    for row in document["phrase"]:
        source = _FRAGMENT_NAME.sub(lambda match: fragments[match[1]], "".join(row["pattern"]))
        if row["form"] == "spaced":
            source = rf"\b(?:{source})\b".replace(" ", r"[\W_]{1,8}")
        yield InjectionPhrase(
            tuple(row["needles"].split()),
            source,
            row["form"] == "compact",
            tuple(row.get("further_needles", "").split()),
        )


INJECTION_PHRASES = tuple(_load_phrases())
INSTRUCTION_TAG = re.compile(r"\[\s{0,4}I[Nn][Ss][Tt]\s{0,4}\]")
"""Matched against the text itself: ``[inst]`` in lower case is a list with one instance."""

FILTERED_MARKER = "[filtered]"
_LONG_LINE = 240
"""Characters; of longer lines only the sentence is filtered."""
_NON_ALPHANUMERIC = re.compile(r"[\W_]+")
_ANY_NEEDLE = re.compile(
    "|".join(sorted({re.escape(needle) for phrase in INJECTION_PHRASES for needle in phrase.needles}))
)
MAX_INJECTIONS = 2000
"""Injections in one text; a text with more is filtered as a whole."""
_MAX_PHRASE_LENGTH = 500
"""The longest match of a phrase, in characters."""
_SHORT_TEXT = 400
"""Characters up to which one search for all needles is faster than one for each of them."""
_SENTENCE_END = re.compile(r"[.!?;]+(?=\s|$)|[。！？；]+|\\n")


def filter_injection(text: str) -> tuple[str, int]:
    """Replace each line of ``text`` (of a long line: each sentence) that addresses the model by ``[filtered]``.

    Return the text and the number of replacements; idempotent.
    """
    if not may_contain_injection(text):
        return text, 0
    segments = _Segments(text)
    filtered = set()
    for count, (start, end) in enumerate(_find_injections(text, segments)):
        if count == MAX_INJECTIONS:
            lines = [FILTERED_MARKER if line.strip() else line for line in text.split("\n")]
            return "\n".join(lines), lines.count(FILTERED_MARKER)
        for number in range(bisect_right(segments.starts, start) - 1, bisect_left(segments.starts, end)):
            first, last = segments.spans[number]
            if number not in filtered and text[max(first, start) : min(last, end)].strip():
                filtered.add(number)
    if not filtered:
        return text, 0
    spans = segments.spans
    kept = (FILTERED_MARKER if number in filtered else text[slice(*span)] for number, span in enumerate(spans))
    ends = (text[last : spans[number + 1][0]] for number, (_, last) in enumerate(spans[:-1]))
    return "".join(chain.from_iterable(zip_longest(kept, ends, fillvalue=""))), len(filtered)


def may_contain_injection(text: str) -> bool:
    """Return whether ``text`` contains a phrase. If not, ``filter_injection`` leaves each of its lines unchanged."""
    normalized = normalize(text)
    compact = _NON_ALPHANUMERIC.sub("", normalized)
    return INSTRUCTION_TAG.search(text) is not None or any(
        phrase.pattern.search(compact if phrase.is_compact else normalized) for phrase in _candidate_phrases(compact)
    )


def _candidate_phrases(compact: str) -> Iterator[InjectionPhrase]:
    """Yield the phrases that the compact text can contain."""
    has = compact.__contains__
    for phrase in INJECTION_PHRASES if len(compact) > _SHORT_TEXT or _ANY_NEEDLE.search(compact) else ():
        if any(map(has, phrase.needles)) and (not phrase.further_needles or any(map(has, phrase.further_needles))):
            yield phrase


def _find_injections(text: str, segments: _Segments) -> Iterator[tuple[int, int]]:
    """Yield the spans of ``text`` that address the model; of a filtered segment not all of them."""
    normalized = normalize(text)
    compact = _NON_ALPHANUMERIC.sub("", normalized)
    offsets: list[int] = []
    for phrase in _candidate_phrases(compact):
        if not phrase.is_compact:
            yield from _find_in_segments(phrase.pattern, normalized, segments)
            continue
        position = 0
        while match := phrase.pattern.search(compact, position):
            offsets = offsets or list(compress(range(len(normalized)), map(str.isalnum, normalized)))
            start, position = match.span()
            first, last = offsets[start], offsets[position - 1]
            line_end = normalized.find("\n", first, last)
            if line_end >= 0:
                if first > 0 and normalized[first].isascii() and normalized[first - 1].isalnum():
                    continue  # inside a Latin word: ``.gitignore`` at a line end starts no instruction
                # A match that is complete on one line does not extend to a word on the next.
                shorter = phrase.pattern.match(compact, start, bisect_left(offsets, line_end))
                last = offsets[shorter.end() - 1] if shorter else last
            yield first, last + 1
            if segments.has_long:
                position = max(position, bisect_left(offsets, segments.end_of(last) - _MAX_PHRASE_LENGTH))
    yield from _find_in_segments(INSTRUCTION_TAG, text, segments)


def _find_in_segments(pattern: re.Pattern[str], text: str, segments: _Segments) -> Iterator[tuple[int, int]]:
    """Yield the matches of ``pattern``: of a long segment the first, and those that may extend beyond it."""
    position = 0
    while match := pattern.search(text, position):
        yield match.span()
        position = max(match.end(), match.start() + 1)
        if segments.has_long:
            position = max(position, segments.end_of(match.end() - 1) - _MAX_PHRASE_LENGTH)


class _Segments:
    """The spans of a text's lines, without their line ends; long lines are split into sentences."""

    def __init__(self, text: str) -> None:
        self._text = text

    @cached_property
    def spans(self) -> list[tuple[int, int]]:
        spans, start = [], 0
        for line in self._text.split("\n"):
            end = start + len(line)
            if len(line) > _LONG_LINE:
                for match in _SENTENCE_END.finditer(self._text, start, end):
                    spans.append((start, match.end()))
                    start = match.end()
            spans.append((start, end))
            start = end + 1
        return spans

    @cached_property
    def starts(self) -> list[int]:
        return [start for start, _ in self.spans]

    @cached_property
    def has_long(self) -> bool:
        """Return whether a segment can contain several matches that do not extend beyond it."""
        return any(end - start > 2 * _MAX_PHRASE_LENGTH for start, end in self.spans)

    def end_of(self, offset: int) -> int:
        """Return the end of the segment that contains ``offset``."""
        return self.spans[bisect_right(self.starts, offset) - 1][1]
