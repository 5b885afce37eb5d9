"""The description of a short text."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from upbeat.core.dialogue.features import (
    MAX_CLAUSES,
    STEPS,
    Weights,
    classify_words,
    describe_clauses,
    hash_feature,
    split_into_clauses,
    weigh,
)


def words_of(text: str) -> list[tuple[str, ...]]:
    return [words for words, _ in split_into_clauses(text)]


def test_clauses() -> None:
    """A text is split at punctuation and before "but" and "then"; the mark says how a clause ends."""
    assert (
        (("wait",), ","),
        (("is", "it", "done"), "?"),
        (("stop",), ","),
        (("not", "yet"), "."),
    ) == split_into_clauses("Wait, is it done? stop but not yet")


def test_quoted_words_do_not_count() -> None:
    """Quotes and code are one placeholder."""
    assert [("the", "button", "says", "Q")] == words_of('The button says "Stop now"')
    assert [("run", "Q")] == words_of("run `stop it`")


def test_slips_of_the_finger() -> None:
    """Repeated, swapped, missing and doubled letters of frequent words are corrected; other words are left alone."""
    assert [("stop", "stop", "stop", "pause", "step", "shop")] == words_of("stoppp stp sotp puase step shop")


def test_both_scripts_are_described_alike() -> None:
    """Traditional characters are read as simplified ones."""
    assert describe_clauses("請停止工作流程") == describe_clauses("请停止工作流程")


def test_unknown_words_are_one_class() -> None:
    """Words without a class are told apart only by their ending."""
    assert ["halt", "X", "Xing"] == classify_words(["stop", "the", "docker", "container", "rendering"])
    assert ["pause", "i"] == classify_words(["等我"])


def test_a_text_without_words_has_no_odds() -> None:
    """Nothing but code or quotes is neither a stop nor a question."""
    assert {-math.inf} == {weigh(text, "stop_weights.bin") for text in ("", "…", "`stop`", "```\nstop\n```", "> stop")}


@given(st.text())
def test_any_text_is_described(text: str) -> None:
    """Each clause has a description, and there are not more than the limit."""
    clauses = split_into_clauses(text)

    assert len(clauses) == len(describe_clauses(text)) <= MAX_CLAUSES


@given(st.floats(-9, 9), st.dictionaries(st.text(), st.integers(-127, 127)), st.text())
def test_weights_are_read_as_written(constant: float, steps: dict[str, int], other: str) -> None:
    """A file of weights keeps the constant and the weight of each feature; any other feature weighs nothing."""
    by_hash = {hash_feature(feature): step for feature, step in steps.items()}
    hashes = tuple(sorted(by_hash))
    weights = Weights(constant, hashes, tuple(by_hash[key] for key in hashes))
    read = Weights.from_bytes(weights.to_bytes())

    assert (constant, by_hash.get(hash_feature(other), 0) / STEPS) == (read.constant, read[other])
    assert all(by_hash[hash_feature(feature)] / STEPS == read[feature] for feature in steps)
