"""Tests of upbeat.core.workflow.decide.tell_user."""

from __future__ import annotations

import pytest
from workflow_play import started

from upbeat.core.contract.effect import ContinueTurn, NotifyUser
from upbeat.core.workflow.decide.tell_user import tell_user
from upbeat.core.workflow.decision import LoopLimits


@pytest.mark.parametrize("is_enabled", [True, False])
def test_the_user_and_the_model_get_the_same_sentence(is_enabled: bool) -> None:
    """The user reads it, and the model too if the loop may continue a turn; notes of failures are on one line."""
    play = started("debug", limits=LoopLimits(is_enabled=is_enabled))
    play.does("debugger", '# The cause\nis unknown\n<!-- VERDICT: {"result": "FAIL"} -->')
    effects = tell_user(play.run, "upbeat: DEBUG has failed.", play.inputs())

    assert [NotifyUser] + [ContinueTurn] * is_enabled == [type(effect) for effect in effects]
    assert "upbeat: DEBUG has failed." == effects[0].text
    for effect in effects[1:]:
        _, first, notes = effect.text.split("\n")
        assert (effects[0].text, True) == (first, notes.startswith("DEBUG: "))
