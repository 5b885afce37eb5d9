"""When the client's own task list is denied."""

from __future__ import annotations

from dataclasses import replace

import pytest
from policy_play import HERE, ROOT, call, queried, said_by, silent, starting

from upbeat.core.contract.event import Event, ToolKind
from upbeat.core.policies.block_duplicate_task_list import POLICY
from upbeat.core.policy.queries import ExistingPathsQuery
from upbeat.core.workflow.state import RunStatus, SessionState, WorkflowRun

TASKS = f"{ROOT}/specs/features/in-progress/retries/tasks.md"
LOOK = ExistingPathsQuery((TASKS,))
RUN = WorkflowRun("r", "standard", (), feature="retries")
STATE = SessionState(root=ROOT, run=RUN)
PLAN = starting(call("TodoWrite", ToolKind.TASK_LIST))
THERE = {LOOK: frozenset({TASKS})}

SAYS_NOTHING: dict[str, tuple[Event, SessionState, dict[ExistingPathsQuery, frozenset[str]]]] = {
    "no workflow": (PLAN, SessionState(root=ROOT), THERE),
    "a workflow that is over": (PLAN, replace(STATE, run=replace(RUN, status=RunStatus.COMPLETE)), THERE),
    "a workflow without a feature": (PLAN, replace(STATE, run=replace(RUN, feature="")), THERE),
    "a feature without a list": (PLAN, STATE, {LOOK: frozenset()}),
    "nobody could look": (PLAN, STATE, {}),
    "another call": (starting(call("Edit", ToolKind.EDIT, (TASKS,))), STATE, THERE),
}

test_says_nothing_for = silent(SAYS_NOTHING, lambda case: said_by(POLICY, case[0], state=case[1], found=case[2]))


@pytest.mark.parametrize(("language", "words"), [("en", "a second list"), ("zh", "另建列表")])
def test_says(language: str, words: str) -> None:
    """The call is denied, and the text names the task file."""
    [effect] = said_by(POLICY, PLAN, language, state=STATE, found=THERE)

    assert words in effect.text
    assert "`specs/features/in-progress/retries/tasks.md`" in effect.text


def test_looks_only_then() -> None:
    """One file is looked up, for one kind of call."""
    assert (LOOK,) == queried(POLICY, PLAN, STATE)
    assert () == queried(POLICY, starting(call("Read", ToolKind.READ), HERE), STATE)
