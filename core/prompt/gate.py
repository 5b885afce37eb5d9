"""Decide whether the repository is worth mentioning: by the words of the prompt, and by what the index knows of them.

Invariants: pure functions of their arguments. Both tables of weights are fitted to the labelled prompts of
``benchmarks/gate``, by the same program that measures them. The words alone are a prior: they decide only when they
leave no doubt, or when there is no index to ask.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import astuple, dataclass, fields
from functools import cache

from upbeat.core.package_data import load_rows
from upbeat.core.prompt.phrases import NAME_PLACEHOLDER

CONSTANT = "#constant"
NO_DOUBT = -1.3
"""Log odds below which the index is not asked."""

NO_SOURCES = -100.0
"""Log odds in a repository without source files: there is nothing to say."""

TYPICAL_FEATURES = 12
"""Words and pairs of words in a short prompt."""

MAX_WORDS = 60
"""Words of a prompt that count: later ones describe details."""

_WORD = re.compile(rf"[a-z]+(?:'[a-z]+)?|{NAME_PLACEHOLDER}+|[\u3400-\u9fff]+")


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the index knows of a prompt's words; a gain is a weight times how rare the word is, 1 for the rarest.

    Attributes:
        function_terms: Distinct terms in the function that has most of the gain, at most four.
        function_share: Share of all gain in that function.
        function_gain: The gain in it.
        rare_pair: Gain of the second rarest term that occurs in the same function as a rarer one.
        name_gain: Gain of the terms in the best name of a definition, times their share of the name.
        whole_name: 1 if the prompt is one word and a definition has exactly that name, else 0.
        path_gain: Gain of the terms in the best path.
        unknown_gain: The gain that occurs nowhere in the sources.
        unknown_share: Its share of all gain, times ``files``: a missing word says more in a large repository.
        terms: Logarithm of the number of terms.
        chinese: Logarithm of the number of Chinese characters.
        translated: Logarithm of the number of English words that their technical terms have.
        files: Logarithm of the number of source files; 0 if there are none.
    """

    function_terms: float = 0.0
    function_share: float = 0.0
    function_gain: float = 0.0
    rare_pair: float = 0.0
    name_gain: float = 0.0
    whole_name: float = 0.0
    path_gain: float = 0.0
    unknown_gain: float = 0.0
    unknown_share: float = 0.0
    terms: float = 0.0
    chinese: float = 0.0
    translated: float = 0.0
    files: float = 0.0


EVIDENCE_NAMES = tuple(field.name for field in fields(Evidence))


def weigh_words(features: Collection[str], weights: Mapping[str, float] | None = None) -> float:
    """Return the log odds that a prompt with these words is about code; many words count less than a few clear ones.

    ``weights`` replace those of the package.
    """
    weights = _word_weights() if weights is None else weights
    total = sum(weights.get(feature, 0.0) for feature in features)
    return weights[CONSTANT] + total / math.sqrt(max(1.0, len(features) / TYPICAL_FEATURES))


def iter_word_features(prose: str) -> Iterator[str]:
    """Yield what the table weighs in simplified ``prose``: words and pairs of words, Chinese characters and pairs."""
    previous = "^"
    for number, match in enumerate(_WORD.finditer(prose)):
        if number == MAX_WORDS:
            return
        word = match[0]
        if word >= "\u3400":
            yield from word
            yield from (word[i : i + 2] for i in range(len(word) - 1))
            continue
        word = "#name" if word[0] == NAME_PLACEHOLDER else word
        yield word
        yield f"{previous}+{word}"
        previous = word


def log_odds(prior: float, evidence: Evidence) -> float:
    """Return the log odds that the prompt is about the code that gave ``evidence``; 0 or more is worth an answer."""
    if not evidence.files:
        return NO_SOURCES
    weights = _evidence_weights()
    values: Iterator[tuple[str, float]] = zip(EVIDENCE_NAMES, astuple(evidence), strict=True)
    return weights[CONSTANT] + weights["prior"] * prior + sum([weights[name] * value for name, value in values])


@cache
def _word_weights() -> dict[str, float]:
    return _load_weights("word_weights.tsv")


@cache
def _evidence_weights() -> dict[str, float]:
    return _load_weights("evidence_weights.tsv")


def _load_weights(name: str) -> dict[str, float]:
    """Return the weights of a table by name."""
    weights: dict[str, float] = {}
    for weight, names in load_rows(__package__, name):
        weights |= dict.fromkeys(names.rstrip(",").split(", "), float(weight))
    return weights
