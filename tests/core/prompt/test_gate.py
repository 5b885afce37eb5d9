"""The gate: what the words say, what the index says, and what both decide."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from upbeat.core.prompt import gate
from upbeat.core.prompt.gate import Evidence

ANSWER = Evidence(
    function_terms=3,
    function_share=0.8,
    function_gain=1.5,
    rare_pair=0.4,
    name_gain=0.7,
    path_gain=0.5,
    terms=1.4,
    files=4.0,
)
NOTHING = Evidence(unknown_gain=3.0, unknown_share=4.0, terms=1.4, files=4.0)


@pytest.mark.parametrize(
    ("prose", "features"),
    [
        ("where is it", {"where", "^+where", "is", "where+is", "it", "is+it"}),
        ("don't", {"don't", "^+don't"}),
        ("\x01\x01\x01 fails", {"#name", "^+#name", "fails", "#name+fails"}),
        ("缓存 ok", {"缓", "存", "缓存", "ok", "^+ok"}),
        ("12 …", set()),
    ],
)
def test_word_features(prose: str, features: set[str]) -> None:
    """Words and pairs of words count, the first one also as such; of Chinese characters and pairs of them."""
    assert features == set(gate.iter_word_features(prose))


def test_later_words_do_not_count() -> None:
    """After ``MAX_WORDS`` words a prompt describes details."""
    assert "late" not in set(gate.iter_word_features("x " * gate.MAX_WORDS + "late"))


def test_many_words_count_less() -> None:
    """The weights add up, and those of a long prompt are divided by the square root of its length."""
    weights = {gate.CONSTANT: 0.5, "a": 1.0}
    many = {"a", *map(str, range(4 * gate.TYPICAL_FEATURES - 1))}

    assert (1.5, 0.5) == (gate.weigh_words({"a", "b"}, weights), gate.weigh_words({"b"}, weights))
    assert pytest.approx(1.0) == gate.weigh_words(many, weights)


def test_evidence_and_words_decide_together() -> None:
    """An answer in the code is worth saying unless the words are clearly against it; clear words need little else."""
    assert gate.log_odds(0.0, ANSWER) >= 0 > gate.log_odds(-3.0, ANSWER)
    assert gate.log_odds(3.0, NOTHING) >= 0 > gate.log_odds(-0.5, NOTHING)


def test_no_sources() -> None:
    """Without source files nothing is worth saying, whatever the words say."""
    assert gate.log_odds(9.0, replace(ANSWER, files=0.0)) < 0


@given(st.text())
def test_holds_for_every_prose(prose: str) -> None:
    """The features of any text are a bounded number of non-empty words."""
    features = list(gate.iter_word_features(prose))

    assert all(features)
    assert gate.weigh_words(set(features)) == gate.weigh_words(set(features))
