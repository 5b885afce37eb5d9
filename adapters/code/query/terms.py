"""Splits names, paths and prose into the terms that are compared.

Invariant: a term of Latin letters is a prefix of its word, so that a substring search finds every file that contains
it. Chinese, Japanese and Korean text becomes pairs of adjacent characters.
"""

from __future__ import annotations

import math
import re
from functools import lru_cache

from upbeat.core.package_data import load_rows

MIN_TERM_CHARS = 2
_VOWELS = frozenset("aeiouy")
MAX_WORD_CHARS = 80
PACKAGE_STEMS = ("__init__", "index", "mod")
"""Stems of files that are called by their folder's name."""

IDENTIFIER_PATTERN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
"""A word of code or prose."""

_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
CJK_RUN_PATTERN = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]+")
"""An unbroken run of Chinese, Japanese or Korean characters."""

STOP_WORDS, NOISE_WORDS = (
    frozenset(words.split()) for _, words in load_rows("upbeat.adapters.code.query", "common_words.tsv")
)
"""Words that say nothing about which file is meant, and words of most reports, which count less."""


@lru_cache(maxsize=32768)
def split_identifier(name: str) -> tuple[str, ...]:
    """Return the lowercase words of a name: ``HTTPServer_v2`` gives http, server, v, 2."""
    return tuple([part.lower() for part in _PART.findall(name)])


@lru_cache(maxsize=32768)
def terms_in(name: str) -> tuple[str, ...]:
    """Return the terms of a name, without duplicates, stop words and single characters."""
    if len(name) > MAX_WORD_CHARS:
        return ()
    parts = split_identifier(name)
    stems = [stem(part) for part in parts if len(part) >= MIN_TERM_CHARS and part not in STOP_WORDS]
    return tuple(dict.fromkeys([term for term in stems if not term.isdigit()]))


@lru_cache(maxsize=32768)
def stem(word: str) -> str:
    """Return a prefix of ``word`` (lowercase) that its inflected forms share: caching, cached, caches give cach."""
    if len(word) < 4 or not word.isascii():
        return word
    base = word
    if base.endswith(("ies", "ied")) and len(base) > 4:
        return base[:-3]
    if base.endswith("s") and not base.endswith(("ss", "us", "is")):
        base = base[:-1]
    for suffix, least in (("ing", 3), ("ed", 3), ("ion", 4), ("or", 4), ("er", 4)):
        if not base.endswith(suffix):
            continue
        left = base[: -len(suffix)]
        if len(left) < least or _VOWELS.isdisjoint(left):
            continue
        if suffix in ("ion", "or") and left[-1] not in "ts":
            continue
        is_doubled = len(left) > 3 and left[-1] == left[-2] and left[-1] not in "aeiouls"
        return left[:-1] if is_doubled else _without_end(left)
    return _without_end(base)


def _without_end(base: str) -> str:
    """Remove the last vowel that other forms of the word lack (cache and caching, query and queries)."""
    if base.endswith("y") and len(base) > 4 and base[-2] not in "aeiou":
        return base[:-1]
    return base[:-1] if base.endswith("e") and len(base) > 3 else base


@lru_cache(maxsize=32768)
def path_terms(path: str) -> tuple[str, ...]:
    """Return the terms of all parts of a path, without duplicates."""
    return tuple(dict.fromkeys(term for part in path.split("/") for term in terms_in(part.partition(".")[0])))


def names_of_path(path: str) -> set[str]:
    """Return the file and module names by which a query can refer to ``path``, in lowercase."""
    parts = path.lower().split("/")
    stem = parts[-1].partition(".")[0]
    names = {parts[-1], stem}
    return names | {parts[-2]} if len(parts) > 1 and stem in PACKAGE_STEMS else names


def cjk_bigrams(text: str) -> tuple[str, ...]:
    """Return the pairs of adjacent characters in every run, in order, without duplicates."""
    pairs = (run[index : index + 2] for run in CJK_RUN_PATTERN.findall(text) for index in range(len(run) - 1))
    return tuple(dict.fromkeys(pairs))


@lru_cache(maxsize=32768)
def joined_key(name: str) -> str:
    """Return a key that is equal for all joined forms of a name: ``fileUploads``, ``FILE_UPLOAD`` give fileupload."""
    return name.lower().replace("_", "").replace("-", "").rstrip("s")


def inverse_document_frequency(total: int, frequency: int) -> float:
    """Return how rare a term is that ``frequency`` of ``total`` documents have."""
    return math.log(1 + (total - frequency + 0.5) / (frequency + 0.5))
