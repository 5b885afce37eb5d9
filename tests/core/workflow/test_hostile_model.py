"""A hostile model plays against the workflow, round after round."""

from __future__ import annotations

import hypothesis.strategies as st
import pytest
from hostile_model import play_hostile
from hypothesis import given, settings

ROUNDS = 10_000


@given(seed=st.integers(0, 2**32))
@settings(max_examples=10)
def test_a_hostile_model_passes_nothing(seed: int) -> None:
    """Whatever it claims, runs, reads and delegates, each step ends by what really happened."""
    play_hostile(seed, 150)


def test_the_game_is_not_lost_from_the_beginning() -> None:
    """A model that does enough of everything gets through, so the referee has something to judge."""
    model = play_hostile(1, 3_000)

    assert model.own_steps > 10
    assert model.refused_reviews > 5
    assert model.completed > 1


@pytest.mark.reliability
@pytest.mark.timeout(600)
@pytest.mark.parametrize("seed", range(4))
def test_ten_thousand_rounds(seed: int) -> None:
    """The long form: ten thousand rounds of one session."""
    model = play_hostile(seed, ROUNDS)

    assert model.own_steps > 30
