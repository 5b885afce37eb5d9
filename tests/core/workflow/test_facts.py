"""The facts that change the state of a session."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, fields
from typing import get_args

import pytest
from hypothesis import given
from journal_values import FACTS, STATES

from upbeat.core.journal.codec import MAX_TEXT_CHARS
from upbeat.core.workflow.facts import MAX_UNMATCHED_RESULT_CHARS, Fact, ToolUsed
from upbeat.core.workflow.reducer import apply_fact
from upbeat.core.workflow.state import SessionState


def test_every_kind_of_fact_differs() -> None:
    """Each fact has a kind of its own, by which it is read back."""
    kinds = [next(each.default for each in fields(fact) if each.name == "kind") for fact in get_args(Fact)]

    assert len(get_args(Fact)) == len(set(kinds))


def test_a_fact_cannot_be_changed() -> None:
    """A fact is in the past."""
    with pytest.raises(FrozenInstanceError):
        ToolUsed().kind = "tool_used"  # type: ignore[misc]


def test_a_queued_result_fits_into_a_record() -> None:
    """A result of maximum length is stored whole, with the verdict at its end."""
    assert MAX_UNMATCHED_RESULT_CHARS <= MAX_TEXT_CHARS


@given(FACTS, STATES)
def test_no_fact_is_rejected(facts: tuple[Fact, ...], state: SessionState) -> None:
    """Any fact applies to any state."""
    assert all(isinstance(apply_fact(state, fact), SessionState) for fact in facts)
