"""Describe a short text by the n-grams of its words and word classes, one description for each of its clauses.

Invariant: pure functions of the text. What the author quotes, shows as code or pastes is one placeholder, so that
'the button says "Stop"' has no word of a stop.
"""

from __future__ import annotations

import binascii
import math
import re
import struct
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from upbeat.core.package_data import load_bytes, load_rows
from upbeat.core.prompt.phrases import parse_words, to_simplified
from upbeat.core.prompt.quoted_spans import blank_spans, mask_prompt

STEPS = 20
"""Steps of a stored weight from one whole number to the next."""

MAX_CLAUSES = 12
"""Clauses of a text that are described, from its end."""

_HEADER = struct.Struct("<dI")
_PLACEHOLDER = "\x01"
_TOKEN = re.compile(
    rf"[a-z]+(?:['’][a-z]+)?|[0-9]+|[\u3400-\u9fff]+|{_PLACEHOLDER}+|[.!?,;:，。！？；：…]+|\n+|—|--|[$€£¥]"
)
_CONJUNCTIONS = frozenset({"but", "then", "so"})
_KEPT_WORDS = parse_words("to of for with at in on and or my be is it's that's there's")
_ARTICLES = frozenset({"the", "a", "an"})
_SPELLINGS = {
    "dont": "don't",
    "im": "i'm",
    "pls": "please",
    "plz": "please",
    "ok": "okay",
    "k": "okay",
    "thx": "thanks",
    "wont": "won't",
    "cant": "can't",
}
_OFTEN_MISTYPED = ("stop", "pause", "cancel", "abort", "quit", "wait", "halt", "please")
_MONEY = frozenset("$€£¥")
_CHINESE = "\u3400"
_QUOTED = "Q"
"""Stands for anything quoted, pasted or shown as code."""

Clause = tuple[tuple[str, ...], str]
"""The words of a clause, and the mark that ends it: ``?``, ``,`` or ``.``."""


@cache
def _word_classes() -> dict[str, str]:
    classes: dict[str, str] = {}
    for name, row in load_rows(__package__, "word_classes.tsv"):
        for word in row.split():
            classes.setdefault(word, name)
    return classes


@cache
def _mistyped() -> dict[str, str]:
    """Return what a slip of the finger makes of frequent ones: two letters swapped, one missing or doubled."""
    slips: dict[str, str] = {}
    for word in _OFTEN_MISTYPED:
        for i in range(1, len(word)):
            slips[word[:i] + word[i + 1 :]] = word
            slips[word[: i + 1] + word[i:]] = word
            slips[word[:i] + word[i + 1 : i + 2] + word[i] + word[i + 2 :]] = word
    return {slip: word for slip, word in slips.items() if slip not in _word_classes()}


def split_into_clauses(text: str) -> tuple[Clause, ...]:
    """Return the last clauses of ``text``: split at punctuation, line ends, "but", "then" and "so"."""
    masked = mask_prompt(text)
    prose = to_simplified(blank_spans(masked.text, [(span.start, span.end) for span in masked.spans], _PLACEHOLDER))
    clauses: list[Clause] = []
    words: list[str] = []
    for token in _TOKEN.findall(prose):
        if token[0] in _MONEY:
            words.append("dollars")
        elif not (token[0].isalnum() or token[0] == _PLACEHOLDER) or token in _CONJUNCTIONS:
            if words:
                mark = "?" if token[0] in "?？" else "," if token[0] in ",，、" or token in _CONJUNCTIONS else "."
                clauses.append((tuple(words), mark))
                words = []
        else:
            words.append(_QUOTED if token[0] == _PLACEHOLDER else _normalize(token))
    if words:
        clauses.append((tuple(words), "."))
    return tuple(clauses[-MAX_CLAUSES:])


def _normalize(word: str) -> str:
    if not word.isascii():
        return word
    word = re.sub(r"([a-z])\1{2,}", r"\1", word.replace("’", "'"))
    return _SPELLINGS.get(word) or _mistyped().get(word, word)


def describe_clauses(text: str) -> list[frozenset[str]]:
    """Return the features of each clause of ``text``, with those of the whole text and of the clauses around it."""
    clauses = split_into_clauses(text)
    whole = frozenset(_whole_features(clauses)) if clauses else frozenset()
    classes = [classify_words(words) for words, _ in clauses]
    return [
        whole | frozenset(_clause_features(clause, classes[i])) | frozenset(_context_features(clauses, classes, i))
        for i, clause in enumerate(clauses)
    ]


def _characters(words: Sequence[str]) -> list[str]:
    """Return ``words`` with every Chinese run split into its characters."""
    return [part for word in words for part in (word if word[0] >= _CHINESE else (word,))]


def _ngrams(items: Sequence[str], sizes: range, prefix: str) -> Iterator[str]:
    for size in sizes:
        for start in range(len(items) - size + 1):
            yield prefix + " ".join(items[start : start + size])


def classify_words(words: Sequence[str]) -> list[str]:
    """Return the classes of the words; several unknown words in a row are one ``X``."""
    known = _word_classes()
    found: list[str] = []
    for word in words:
        if word[0] >= _CHINESE:
            found += _classify_chinese(word, known)
        elif word not in _ARTICLES:
            unknown = "Xing" if word.endswith("ing") and len(word) > 4 else "X"
            found.append(word if word in _KEPT_WORDS or word == _QUOTED else known.get(word, unknown))
    return [name for i, name in enumerate(found) if name != "X" or not i or found[i - 1] != "X"]


def _classify_chinese(run: str, known: Mapping[str, str]) -> Iterator[str]:
    """Yield the classes of the longest known words in a run of characters."""
    offset = 0
    while offset < len(run):
        size = next((n for n in (5, 4, 3, 2, 1) if run[offset : offset + n] in known), 0)
        yield known[run[offset : offset + size]] if size else "X"
        offset += size or 1


def _whole_features(clauses: Sequence[Clause]) -> Iterator[str]:
    items = ["^"]
    for words, mark in clauses:
        items += [*_characters(words), mark]
    items = [*items[:-1], *("?" * (clauses[-1][1] == "?")), "$"]
    yield from _ngrams(items, range(1, 4), "d:")
    yield from (
        gram for gram in _ngrams(items, range(4, 5), "d:") if gram[2:].replace(" ", "").strip("^$?,.") > _CHINESE
    )
    yield f"d:length {min(len(items), 14)}"


def _clause_features(clause: Clause, classes: Sequence[str]) -> Iterator[str]:
    words, mark = clause
    yield from _ngrams(["^", *_characters(words), "$"], range(1, 5), "c:")
    yield from _ngrams(["^", *classes, "$"], range(1, 6), "k:")
    yield "s:" + " ".join(classes[:9])
    yield f"unknown {min(sum(name[0] == 'X' for name in classes), 3)}"
    yield f"classes {min(len(classes), 8)}"
    yield f"mark {mark}"


def _context_features(clauses: Sequence[Clause], classes: Sequence[Sequence[str]], index: int) -> Iterator[str]:
    """Yield what the other clauses say; ``b`` is before the clause, ``l`` later."""
    count = len(clauses)
    yield f"clauses {min(count, 4)}"
    yield "only" if count == 1 else "first" if index == 0 else "last" if index == count - 1 else "inner"
    for other, (words, mark) in enumerate(clauses):
        if other != index:
            side = "b" if other < index else "l"
            yield from (f"{side}k:{name}" for name in classes[other])
            yield from _ngrams(["^", *classes[other], "$"], range(2, 4), f"{side}k:")
            yield f"{side}:{' '.join(_characters(words)[:2])}"
            yield f"{side}mark {mark}"


@dataclass(frozen=True, slots=True)
class Weights:
    """A table of weights: the log odds of a text without features, and the weight of each feature by its hash.

    ``hashes`` ascend; ``steps`` are the weights in units of ``1 / STEPS``, in the same order.
    """

    constant: float
    hashes: Sequence[int]
    steps: Sequence[int]

    def __getitem__(self, feature: str) -> float:
        """Return the weight of ``feature``; 0 for one that the fit did not keep."""
        key = hash_feature(feature)
        place = bisect_left(self.hashes, key)
        return self.steps[place] / STEPS if place < len(self.hashes) and self.hashes[place] == key else 0.0

    def to_bytes(self) -> bytes:
        """Return the content of a file of weights: the constant, a count, hashes and steps, all little-endian."""
        count = len(self.hashes)
        return _HEADER.pack(self.constant, count) + struct.pack(f"<{count}I{count}b", *self.hashes, *self.steps)

    @classmethod
    def from_bytes(cls, content: bytes) -> Weights:
        """Return the weights in a file of weights."""
        constant, count = _HEADER.unpack_from(content)
        view, split = memoryview(content), _HEADER.size + 4 * count
        hashes = view[_HEADER.size : split]  # taken as they are where numbers are little-endian: no time to load
        is_native = struct.pack("=I", 1) == struct.pack("<I", 1)
        in_order = hashes.cast("I") if is_native else struct.unpack(f"<{count}I", hashes)
        return cls(constant, in_order, view[split:].cast("b"))


def hash_feature(feature: str) -> int:
    """Return the 32-bit hash under which a table of weights has ``feature``."""
    return binascii.crc32(feature.encode("utf-8", "surrogatepass"))


@cache
def _load_weights(name: str) -> Weights:
    return Weights.from_bytes(load_bytes(__package__, name))


def weigh(text: str, table: str) -> float:
    """Return the log odds that one clause of ``text`` is what the weights in the file ``table`` were fitted to.

    They are minus infinity for a text without words of its author.
    """
    if all(word == _QUOTED for words, _ in split_into_clauses(text) for word in words):
        return -math.inf
    weights = _load_weights(table)
    clauses = describe_clauses(text)
    known = {feature: weights[feature] for feature in frozenset().union(*clauses)}
    return weights.constant + max(math.fsum(map(known.__getitem__, clause)) for clause in clauses)
