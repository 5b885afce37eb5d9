"""Effects and decisions."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest

from upbeat.core.contract.effect import EMPTY_DECISION, Decision, Deny, EndTurn, RewriteInput


def test_effects_are_values() -> None:
    """Effects compare by type and fields, and cannot be changed."""
    assert Deny("no") == Deny("no") != EndTurn("no")
    assert RewriteInput("why", {"timeout": 1}) != RewriteInput("why")
    with pytest.raises(FrozenInstanceError):
        Deny("no").text = "yes"  # type: ignore[misc]


def test_an_empty_decision_has_no_effects() -> None:
    """An empty proposal has no effects and no explanations."""
    assert Decision() == EMPTY_DECISION
    assert ((), None, None, ()) == (
        EMPTY_DECISION.effects,
        EMPTY_DECISION.report,
        EMPTY_DECISION.skip_reason,
        EMPTY_DECISION.explanations,
    )
