"""The result of a workflow decision."""

from __future__ import annotations

from upbeat.core.contract.effect import Explanation, NotifyUser
from upbeat.core.workflow import decision
from upbeat.core.workflow.facts import SessionClosed, ToolUsed

FIRST = decision.WorkflowDecision((ToolUsed(),), (NotifyUser("a"),), (), (decision.TickCheckboxes("f", ("DEV",)),))
SECOND = decision.WorkflowDecision((SessionClosed(),), (NotifyUser("b"),), (), (decision.ArchiveFeature("f"),))


def test_decisions_add_up_in_order() -> None:
    """The sum has the parts of both decisions, in order, and no decision adds nothing."""
    assert (
        decision.WorkflowDecision(
            (ToolUsed(), SessionClosed()),
            (NotifyUser("a"), NotifyUser("b")),
            (),
            (decision.TickCheckboxes("f", ("DEV",)), decision.ArchiveFeature("f")),
        )
        == FIRST + SECOND
    )
    assert FIRST == FIRST + decision.NO_DECISION == decision.NO_DECISION + FIRST


def test_an_explanation_omits_empty_inputs() -> None:
    """Inputs that are None or empty are omitted; zero and False are inputs."""
    assert Explanation("loop", "continue", "why", {"turns": 0, "paused": False}, "file:3") == decision.make_explanation(
        "loop", "continue", "why", "file:3", turns=0, paused=False, step="", run=None, steps=()
    )
