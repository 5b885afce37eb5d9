"""When a compaction is suggested to the user."""

from __future__ import annotations

from dataclasses import replace

import pytest
from policy_play import HERE, IN_AGENT, IN_CODEX, Talk, asked, call, finished, queried, said_by, says, silent, view_of

from upbeat.core.contract.event import Event, PromptOrigin, PromptSubmitted, ToolKind, TurnEnding
from upbeat.core.policies.suggest_compaction import POLICY
from upbeat.core.policy.queries import ContextUsage, ContextUsageQuery
from upbeat.core.workflow.state import SessionState, StepStatus, WorkflowRun, WorkflowStep

LOOK = ContextUsageQuery()
ENDS = TurnEnding(HERE, "Done.")
PROMPT = PromptSubmitted(HERE, "go on")
FULL = ContextUsage(156_000, 200_000)

SAYS_NOTHING: dict[str, tuple[Event, ContextUsage | None]] = {
    "a record that does not tell": (ENDS, None),
    "a window that nobody knows": (ENDS, ContextUsage(900_000)),
    "just below the threshold": (ENDS, ContextUsage(155_999, 200_000)),
    "a prompt just below it": (PROMPT, ContextUsage(155_999, 200_000)),
    "the end of an agent's turn": (replace(ENDS, source=IN_AGENT), FULL),
    "what an agent is handed": (PromptSubmitted(IN_AGENT, "test it", PromptOrigin.SUBAGENT), FULL),
    "what a client reports": (replace(PROMPT, origin=PromptOrigin.TASK_NOTIFICATION), FULL),
    "a turn that codex-auto has prepared": (replace(PROMPT, origin=PromptOrigin.WRAPPED), FULL),
}

SAYS: dict[str, tuple[tuple[Event, ContextUsage], str]] = {
    "at the threshold": (
        (ENDS, FULL),
        "78 % of the model's context window (156,000 of 200,000 tokens). Now is a good moment for /compact",
    ),
    "a prompt": ((PROMPT, FULL), "78 %"),
    "above it, in Codex": ((replace(ENDS, source=IN_CODEX), ContextUsage(250_000, 258_400)), "96 %"),
}

test_says_nothing_for = silent(SAYS_NOTHING, lambda case: said_by(POLICY, case[0], found={LOOK: case[1]}))


test_says = says(SAYS, lambda case, language: said_by(POLICY, case[0], language, found={LOOK: case[1]}))


def test_suggests_once() -> None:
    """A compaction is suggested once."""
    talk = Talk(POLICY, {LOOK: FULL})

    assert [1, 0, 0] == [len(talk.say(event)) for event in (ENDS, PROMPT, ENDS)]


def between(*statuses: StepStatus) -> SessionState:
    steps = tuple(WorkflowStep(f"S{at}", "DEV", at, status=status) for at, status in enumerate(statuses))
    return SessionState(run=WorkflowRun("r", "quick", steps))


@pytest.mark.parametrize(
    ("statuses", "tokens", "count"),
    [
        ((StepStatus.DONE, StepStatus.PENDING), 120_000, 1),
        ((StepStatus.DONE, StepStatus.PENDING), 119_999, 0),
        ((StepStatus.DONE, StepStatus.ACTIVE, StepStatus.PENDING), 120_000, 0),
        ((StepStatus.PENDING, StepStatus.PENDING), 120_000, 0),
        ((StepStatus.DONE, StepStatus.DONE), 120_000, 0),
    ],
)
def test_earlier_between_two_stages(statuses: tuple[StepStatus, ...], tokens: int, count: int) -> None:
    """Between two stages of a workflow the threshold is lower: once, and again at the usual threshold."""
    usage, state = ContextUsage(tokens, 200_000), between(*statuses)
    first = asked(POLICY, ENDS, view_of(POLICY, (), {LOOK: usage}, state=state))
    again = asked(POLICY, ENDS, view_of(POLICY, first.notes or (), {LOOK: usage}, state=state))
    full = asked(POLICY, ENDS, view_of(POLICY, first.notes or (), {LOOK: FULL}, state=state))

    assert [count, 0, 1] == [len(result.effects) for result in (first, again, full)]


def test_queries_until_suggested() -> None:
    """The usage is queried between two turns until a compaction was suggested."""
    talk = Talk(POLICY, {LOOK: FULL})
    calls = finished(call("Read", ToolKind.READ))
    before = [queried(POLICY, event, SessionState()) for event in (ENDS, PROMPT, replace(ENDS, source=IN_AGENT), calls)]
    talk.say(ENDS)

    assert [(LOOK,), (LOOK,), (), ()] == before
    assert () == queried(POLICY, ENDS, talk.state)
