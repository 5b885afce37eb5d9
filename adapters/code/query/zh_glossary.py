"""Chinese–English glossary of programming terms: translates a query so that it matches English code.

Invariant: the table in ``zh_glossary.tsv`` has simplified and traditional forms; the longest matching entry wins.
"""

from __future__ import annotations

from functools import cache

from upbeat.core.package_data import load_rows


@cache
def _glossary() -> tuple[dict[str, tuple[str, ...]], int]:
    """Return the English words of each Chinese term, and the length of the longest term."""
    glossary = {term: tuple(words.split()) for term, words in load_rows(__package__, "zh_glossary.tsv")}
    return glossary, max(map(len, glossary))


def translate_to_english(cjk_text: str) -> tuple[str, ...]:
    """Return the English words for an unbroken run of Chinese, in order and without duplicates."""
    glossary, longest = _glossary()
    words: dict[str, None] = {}
    index = 0
    while index < len(cjk_text):
        sizes = range(min(longest, len(cjk_text) - index), 0, -1)
        size = next((size for size in sizes if cjk_text[index : index + size] in glossary), 0)
        words.update(dict.fromkeys(glossary.get(cjk_text[index : index + size], ())))
        index += size or 1
    return tuple(words)
