"""Side effects as values."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, replace
from typing import get_args

import pytest

from upbeat.core.policy.definition import NO_RESULT, PolicyResult
from upbeat.core.policy.side_effects import KillTmuxSessions, Notify, SideEffect, TmuxSession

EFFECTS: tuple[SideEffect, ...] = (Notify("Done", "2 files"), KillTmuxSessions((TmuxSession("dev", 10, 20),)))


@pytest.mark.parametrize("effect", EFFECTS, ids=lambda effect: type(effect).__name__)
def test_a_side_effect_alone_is_a_result(effect: SideEffect) -> None:
    """A result with only a side effect is not empty, equals one with an equal side effect, and cannot be changed."""
    result = PolicyResult(side_effects=(effect,))

    assert NO_RESULT != result
    assert PolicyResult(side_effects=(replace(effect),)) == result
    with pytest.raises(FrozenInstanceError):
        result.side_effects = ()  # type: ignore[misc]


def test_every_side_effect_is_tested() -> None:
    """The examples cover every side effect."""
    assert set(get_args(SideEffect)) == {type(effect) for effect in EFFECTS}


def test_sessions_of_other_intervals_differ() -> None:
    """A session of the same name that was created at another time is another session."""
    assert 2 == len({TmuxSession("dev", 10, 20), TmuxSession("dev", 10, 21), TmuxSession("dev", 10, 20)})
