"""Fit the weights of ``core/dialogue``: a logistic model of the clause with the highest score in a text."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import compress
from pathlib import Path

from upbeat.core.dialogue.features import STEPS, Weights, describe_clauses, hash_feature

from .. import ROOT

CONSTANT = "#constant"
FITS = 3
"""Fits, each in an order of its own, whose mean is the result."""

ROUNDS = 24
LEARNING_RATE = 0.3
PENALTY = 0.02
MIN_TEXTS = 2
"""Texts that a feature must occur in."""

MIN_STEPS = 2
"""Steps of the least weight that is written."""

_HALF = bytes(code % 2 for code in range(256))

Example = tuple[list[list[int]], bool, float]
Texts = Sequence[tuple[str, bool, float]]
"""Texts, whether they are what the model finds, and how much they count."""


def index_features(texts: Texts) -> tuple[list[Example], list[str]]:
    """Return the numbers of each clause's features, and the names of the features."""
    described = [(describe_clauses(text), label, importance) for text, label, importance in texts]
    counts = Counter(feature for clauses, _, _ in described for feature in frozenset().union(*clauses))
    names = sorted(name for name, count in counts.items() if count >= MIN_TEXTS)
    number = {name: i for i, name in enumerate(names)}
    examples = [
        ([sorted(number[name] for name in clause if name in number) for clause in clauses], label, importance)
        for clauses, label, importance in described
        if clauses
    ]
    return examples, names


def fit_weights(texts: Texts, fits: int = FITS) -> dict[str, float]:
    """Return the weights: the mean of ``fits`` fits, in orders that are fixed."""
    examples, names = index_features(texts)
    all_weights = [_fit_once(list(examples), len(names), random.Random(seed)) for seed in range(fits)]
    means = [math.fsum(column) / fits for column in zip(*all_weights, strict=True)]
    return dict(zip((*names, CONSTANT), means, strict=True))


def _fit_once(examples: list[Example], count: int, rng: random.Random) -> list[float]:
    """Return the weights of the features and the constant, by adaptive gradient steps on the best clause of a text.

    A random half of its features is left out of each step, so that no single one decides.
    """
    weights, squares = [0.0] * count, [1.0] * count
    constant, constant_square = 0.0, 1.0
    for _round in range(ROUNDS):
        rng.shuffle(examples)
        for clauses, label, importance in examples:
            best = max(clauses, key=lambda clause: sum(map(weights.__getitem__, clause)))
            kept = list(compress(best, rng.randbytes(len(best)).translate(_HALF)))
            odds = 2 * sum(map(weights.__getitem__, kept)) + constant
            error = importance * (label - 1 / (1 + math.exp(-max(-30.0, min(30.0, odds)))))
            constant_square += error * error
            constant += LEARNING_RATE * error / math.sqrt(constant_square)
            for i in kept:
                gradient = error - PENALTY * weights[i]
                squares[i] += gradient * gradient
                weights[i] += LEARNING_RATE * gradient / math.sqrt(squares[i])
    return [*weights, constant]


def score(text: str, weights: Mapping[str, float]) -> float:
    """Return the log odds of the best clause of ``text``."""
    clauses = describe_clauses(text)
    return weights[CONSTANT] + max(
        (sum(weights.get(name, 0.0) for name in clause) for clause in clauses), default=-math.inf
    )


def write_weights(name: str, weights: Mapping[str, float]) -> Path:
    """Write a file of weights beside the module that reads it."""
    steps = {
        hash_feature(feature): max(-127, min(127, round(weight * STEPS)))
        for feature, weight in weights.items()
        if feature != CONSTANT and abs(weight * STEPS) >= MIN_STEPS
    }
    hashes, sorted_steps = zip(*sorted(steps.items()), strict=True)
    path = ROOT / "core/dialogue" / name
    path.write_bytes(Weights(weights[CONSTANT], hashes, sorted_steps).to_bytes())
    return path
