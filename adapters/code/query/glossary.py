"""Translates Chinese programming terms into the English words that code uses for them.

Invariant: the longest term wins, traditional characters count as simplified, and what no term covers gives nothing.
The glossary is ``zh_glossary.tsv``: the terms of one meaning, then its English words, the most common first; ``-`` for
the words of a question that say nothing about code.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from upbeat.core.package_data import load_rows
from upbeat.core.prompt.phrases import to_simplified

WEIGHTS_BY_PLACE = (1.0, 0.7, 0.5, 0.4)
"""Weights of the English words of one term."""

SAYS_NOTHING = "-"

BEGINS_WORDS = "时里中時裡"
"""Characters that say nothing alone and are often part of words that the glossary lacks."""

CHARACTER_FACTOR = 0.5
"""Factor for a term of one character, which is more often part of another word."""


@cache
def _glossary() -> tuple[dict[str, str], int]:
    """Return the English words of each term, and the length of the longest term."""
    rows = load_rows("upbeat.adapters.code.query", "zh_glossary.tsv")
    glossary = {term: words for terms, words in rows for term in terms.split(" ")}
    return glossary, max(map(len, glossary))


def translate_terms(cjk_text: str) -> Iterator[dict[str, float]]:
    """Yield the English words for each term in an unbroken run of Chinese, with their weights (0..1)."""
    for term, words in _split_terms(cjk_text):
        if words not in ("", SAYS_NOTHING):
            factor = CHARACTER_FACTOR if len(term) == 1 else 1.0
            pairs = zip(words.split(" "), WEIGHTS_BY_PLACE, strict=False)
            yield {word: weight * factor for word, weight in pairs}


def translate_to_english(cjk_text: str) -> dict[str, float]:
    """Return the English words for an unbroken run of Chinese, in order, with their weights (0..1)."""
    weights: dict[str, float] = {}
    for words in translate_terms(cjk_text):
        for word, weight in words.items():
            weights[word] = max(weights.get(word, 0.0), weight)
    return weights


def content_runs(cjk_text: str) -> list[str]:
    """Return what is left of an unbroken run of Chinese without the words that say nothing about code."""
    pieces = (
        " " if words == SAYS_NOTHING and term not in BEGINS_WORDS else term for term, words in _split_terms(cjk_text)
    )
    return "".join(pieces).split()


def _split_terms(cjk_text: str) -> Iterator[tuple[str, str]]:
    """Yield the terms of ``cjk_text``, the longest first, with their words; a character of no term has none."""
    glossary, longest = _glossary()
    text = to_simplified(cjk_text)
    index = 0
    while index < len(text):
        sizes = range(min(longest, len(text) - index), 0, -1)
        size = next((size for size in sizes if text[index : index + size] in glossary), 0)
        yield cjk_text[index : index + (size or 1)], glossary[text[index : index + size]] if size else ""
        index += size or 1
