"""Decide on delegations of a split step: which sub-task a call is for, whether it may start, and how it ended."""

from __future__ import annotations

import re
from collections.abc import Sequence

from upbeat.core.contract.event import SubagentRequested
from upbeat.core.sanitize.text import sanitize_inline
from upbeat.core.workflow.decide.transitions import finish_step, give_up_step
from upbeat.core.workflow.decision import (
    TickCheckboxes,
    TickSubtask,
    WorkflowDecision,
    WorkflowInputs,
    WorkspaceAction,
    make_explanation,
)
from upbeat.core.workflow.facts import Fact, StepFinished, SubtaskFinished, apply_facts
from upbeat.core.workflow.handoff import join_handoffs
from upbeat.core.workflow.prompts import format_subtask_marker
from upbeat.core.workflow.state import SessionState, StepAuthor, StepVerdict, SubagentCall, WorkflowRun, WorkflowStep
from upbeat.core.workflow.subtasks import (
    Subtask,
    SubtaskStatus,
    has_lost_plan,
    plan_of_step,
    subtasks_with,
)

_MARKER = re.compile(r"\s*\[(?:upbeat:|stage:)[\w:#-]+\.(\d{1,9}\.\d{1,9})\]", re.IGNORECASE)
_MIN_TITLE_CHARS = 4
"""A shorter title may be in a prompt by chance."""
_OPEN = (SubtaskStatus.READY, SubtaskStatus.WAITING, SubtaskStatus.RUNNING, SubtaskStatus.FAILED)


def choose_subtask(
    event: SubagentRequested, run: WorkflowRun, step: WorkflowStep, inputs: WorkflowInputs
) -> tuple[Subtask | None, str]:
    """Return the sub-task that the call is for, and why it may not start; neither if the step is not split."""
    plan, messages = plan_of_step(run, step, inputs), inputs.messages
    if has_lost_plan(run, step, inputs):
        return None, messages["subtasks_lost"].format(steps=step.key)
    if not subtasks_with(plan, *_OPEN):
        return None, ""
    ready = subtasks_with(plan, SubtaskStatus.READY)
    hint = ""
    if ready:
        hint = " " + messages["subtasks_ready"].format(markers=", ".join(format_subtask_marker(step, s) for s in ready))
    wanted_id = next((match[1] for text in (event.title, event.prompt) if (match := _MARKER.match(text))), "")
    if wanted_id and wanted_id not in {subtask.id for subtask in plan}:
        return None, messages["subtask_unknown"].format(id=wanted_id) + hint
    wanted = next((s for s in plan if s.id == wanted_id), None) or _find_titled(event, plan)
    if wanted is None and len(ready) == 1:
        wanted = ready[0]
    if wanted is None:
        key = "subtask_unnamed" if ready else "no_subtask_ready"
        return None, messages[key].format(step=step.key) + hint
    if wanted.status is SubtaskStatus.READY:
        return wanted, ""
    waits_for = ", ".join(wanted.waits_for)
    return None, messages[f"subtask_{wanted.status}"].format(id=wanted.id, waits_for=waits_for) + hint


def _find_titled(event: SubagentRequested, plan: Sequence[Subtask]) -> Subtask | None:
    """Return the only open sub-task whose whole title is in the title or the prompt of the call."""
    text = " ".join(f"{event.title}\n{event.prompt}".casefold().split())
    titled = [
        subtask
        for subtask in subtasks_with(plan, *_OPEN)
        if len(title := " ".join(subtask.title.casefold().split())) >= _MIN_TITLE_CHARS and title in text
    ]
    return titled[0] if len(titled) == 1 else None


def open_subtasks(run: WorkflowRun, step: WorkflowStep, inputs: WorkflowInputs) -> tuple[Subtask, ...]:
    """Return the sub-tasks without which ``step`` is not done."""
    return subtasks_with(plan_of_step(run, step, inputs), *_OPEN)


def conclude_subtask(
    run: WorkflowRun, call: SubagentCall, ended: SubtaskFinished, inputs: WorkflowInputs
) -> WorkflowDecision:
    """Record the result of a sub-task; finish its step if it was the last, or if nothing else can start."""
    step = run.find_step(call.step_key)
    after = apply_facts((ended,), SessionState(run=run)).run
    if step is None or after is None:
        return WorkflowDecision((ended,))
    actions: tuple[WorkspaceAction, ...] = ()
    plan = plan_of_step(after, step, inputs)
    own = next((subtask for subtask in plan if subtask.key == call.subtask), None)
    if ended.verdict is StepVerdict.PASS and own:
        actions = (TickSubtask(run.feature, own.title, own.occurrence),)
    facts: tuple[Fact, ...] = (ended,)
    if plan and not subtasks_with(plan, SubtaskStatus.READY, SubtaskStatus.RUNNING) and not _is_worked_on(after, step):
        finished = _finish(step, plan, after, inputs)
        if finished.verdict is StepVerdict.PASS:
            facts += finish_step(after, inputs.registry, finished)
            actions += (TickCheckboxes(run.feature, (step.key,)),)
        else:
            facts += give_up_step(after, inputs.registry, finished)
    why = make_explanation("workflow", ended.verdict.value, f"sub-task {call.subtask} of {step.key} ended")
    return WorkflowDecision(facts, explanations=(why,), workspace_actions=actions)


def _is_worked_on(run: WorkflowRun, step: WorkflowStep) -> bool:
    return any(call.step_key == step.key and call.verdict is StepVerdict.NONE for call in run.calls)


def _finish(step: WorkflowStep, plan: Sequence[Subtask], run: WorkflowRun, inputs: WorkflowInputs) -> StepFinished:
    """Return the result of the step: passed if every sub-task is done, else failed, with the reasons."""
    results = [result for result in run.subtasks if result.step_key == step.key]
    handoffs = [result.handoff for result in results if result.handoff]
    # Of each report only a part is in the state, so the whole is always in the file.
    passed = {result.key for result in results if result.verdict is StepVerdict.PASS}
    # A box that no subagent has passed is a claim of the main agent's.
    author = StepAuthor.AGENT if all(subtask.key in passed for subtask in plan) else StepAuthor.MAIN
    about = author, sum(map(len, handoffs)) + 1 if inputs.handoff_folder and handoffs else 0
    handoff = join_handoffs(handoffs)
    failed = subtasks_with(plan, SubtaskStatus.FAILED)
    waiting = subtasks_with(plan, SubtaskStatus.WAITING)
    if not failed and not waiting:
        return StepFinished(step.key, StepVerdict.PASS, "", handoff, *about)
    notes = [f"{s.id} {s.title}: {s.result.failure_notes if s.result else ''}" for s in failed]
    if waiting:
        notes.append(inputs.messages["subtasks_not_started"].format(ids=", ".join(s.id for s in waiting)))
    notes += inputs.tasks.problems if inputs.tasks else ()
    text = " · ".join(sanitize_inline(note, 400) for note in notes)
    return StepFinished(step.key, StepVerdict.FAIL, text, handoff, *about)
