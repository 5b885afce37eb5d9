"""Fit the weights of ``core/dialogue``: a logistic model of the clause with the highest score in a text."""

from __future__ import annotations

import math
import random
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

from upbeat.core.dialogue.features import CONSTANT, describe_clauses

from .. import ROOT

ROUNDS = 24
LEARNING_RATE = 0.3
PENALTY = 0.02
MIN_TEXTS = 2
"""Texts that a feature must occur in."""

MIN_WEIGHT = 0.1
"""Weights below this are not written."""

Example = tuple[list[list[int]], bool]
Texts = Sequence[tuple[str, bool]]


def index_features(texts: Texts) -> tuple[list[Example], list[str]]:
    """Return the numbers of each clause's features, and the names of the features."""
    described = [(describe_clauses(text), label) for text, label in texts]
    counts = Counter(feature for clauses, _ in described for feature in frozenset().union(*clauses))
    names = sorted(name for name, count in counts.items() if count >= MIN_TEXTS)
    number = {name: i for i, name in enumerate(names)}
    examples = [
        ([sorted(number[name] for name in clause if name in number) for clause in clauses], label)
        for clauses, label in described
    ]
    return examples, names


def fit_weights(texts: Texts) -> dict[str, float]:
    """Return the weights, by adaptive gradient steps on the best clause of each text, in an order that is fixed."""
    examples, names = index_features(texts)
    weights, squares = [0.0] * len(names), [1.0] * len(names)
    constant, constant_square = 0.0, 1.0
    order = random.Random(1)
    for _round in range(ROUNDS):
        order.shuffle(examples)
        for clauses, label in examples:
            best, odds = clauses[0], -math.inf
            for clause in clauses:
                total = 0.0
                for i in clause:
                    total += weights[i]
                if total > odds:
                    best, odds = clause, total
            error = label - 1 / (1 + math.exp(-max(-30.0, min(30.0, odds + constant))))
            constant_square += error * error
            constant += LEARNING_RATE * error / math.sqrt(constant_square)
            for i in best:
                gradient = error - PENALTY * weights[i]
                squares[i] += gradient * gradient
                weights[i] += LEARNING_RATE * gradient / math.sqrt(squares[i])
    return {CONSTANT: constant} | dict(zip(names, weights, strict=True))


def score(text: str, weights: Mapping[str, float]) -> float:
    """Return the log odds of the best clause of ``text``."""
    clauses = describe_clauses(text)
    return weights[CONSTANT] + max(sum(weights.get(name, 0.0) for name in clause) for clause in clauses)


def write_weights(name: str, weights: Mapping[str, float]) -> Path:
    """Write a table of weights beside the module that reads it: a row has a weight, and features between tabs."""
    features: dict[str, list[str]] = defaultdict(list)
    for feature, weight in weights.items():
        if abs(weight) >= MIN_WEIGHT or feature == CONSTANT:
            features[f"{weight:.1f}" if feature != CONSTANT else f"{weight:.3f}"].append(feature)
    rows = [
        "\t".join([weight, *sorted(group)]) for weight, group in sorted(features.items(), key=lambda x: float(x[0]))
    ]
    path = ROOT / "core/dialogue" / name
    path.write_text("\n".join(["# Fitted by python -m benchmarks.dialogue fit", *rows, ""]), encoding="utf-8")
    return path
