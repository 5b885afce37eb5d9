"""The result of a workflow decision."""

from __future__ import annotations

from upbeat.core.contract.effect import Explanation, NotifyUser
from upbeat.core.workflow.decision import (
    NO_DECISION,
    ArchiveFeature,
    TickCheckboxes,
    WorkflowDecision,
    make_explanation,
)
from upbeat.core.workflow.facts import SessionClosed, ToolUsed

FIRST = WorkflowDecision((ToolUsed(),), (NotifyUser("a"),), (), (TickCheckboxes("f", ("DEV",)),))
SECOND = WorkflowDecision((SessionClosed(),), (NotifyUser("b"),), (), (ArchiveFeature("f"),))


def test_decisions_add_up_in_order() -> None:
    """The sum has the parts of both decisions, in order, and no decision adds nothing."""
    assert (
        WorkflowDecision(
            (ToolUsed(), SessionClosed()),
            (NotifyUser("a"), NotifyUser("b")),
            (),
            (TickCheckboxes("f", ("DEV",)), ArchiveFeature("f")),
        )
        == FIRST + SECOND
    )
    assert FIRST == FIRST + NO_DECISION == NO_DECISION + FIRST


def test_an_explanation_omits_empty_inputs() -> None:
    """Inputs that are None or empty are omitted; zero and False are inputs."""
    assert Explanation("loop", "continue", "why", {"turns": 0, "paused": False}, "file:3") == make_explanation(
        "loop", "continue", "why", "file:3", turns=0, paused=False, step="", run=None, steps=()
    )
