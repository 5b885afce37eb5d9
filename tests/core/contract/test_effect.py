"""Effects are values."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest

from upbeat.core.contract.effect import Deny, EndTurn, RewriteInput


def test_effects_are_values() -> None:
    """Effects compare by type and fields, and cannot be changed."""
    assert Deny("no") == Deny("no") != EndTurn("no")
    assert RewriteInput("why", {"timeout": 1}) != RewriteInput("why")
    with pytest.raises(FrozenInstanceError):
        Deny("no").text = "yes"  # type: ignore[misc]
