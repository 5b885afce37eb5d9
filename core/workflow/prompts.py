"""Render the prompts that tell a model or a subagent the state of the workflow.

Invariant: every prompt has a length limit and contains only recorded facts.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from upbeat.core.messages.catalogue import Messages, load_messages
from upbeat.core.sanitize.control_chars import strip_controls
from upbeat.core.sanitize.frame import SafeText
from upbeat.core.sanitize.text import neutralize_markup, sanitize_inline
from upbeat.core.sanitize.truncate import TextLimit, truncate_to_limit
from upbeat.core.workflow.decision import WorkflowInputs
from upbeat.core.workflow.handoff import MAX_HANDOFF_CHARS, handoff_file_name
from upbeat.core.workflow.registry import Stage, localized_text
from upbeat.core.workflow.state import (
    PAUSED,
    RunStatus,
    SessionState,
    StepStatus,
    StepVerdict,
    WorkflowRun,
    WorkflowStep,
    current_steps,
    pending_steps,
)
from upbeat.core.workflow.subtasks import Subtask, SubtaskStatus, has_lost_plan, plan_of_step, subtasks_with

if TYPE_CHECKING:
    from upbeat.core.workflow.tasks import TasksFile

MAX_STEP_PROMPT_CHARS = 3000
MAX_RESUME_PROMPT_CHARS = 2000
MAX_TURN_PROMPT_CHARS = 1000
MAX_BOXES = 5
MAX_SUBTASKS = 8
MAX_PLAN_PROBLEMS = 3
MAX_EARLIER_HANDOFF_CHARS = 200
"""Maximum length of a handoff in a prompt, if it is not of the steps just before."""
ELLIPSIS = "…"

VERDICT_MARKS = {
    StepVerdict.PASS: "✓",
    StepVerdict.FAIL: "✗",
    StepVerdict.REJECT: "✗",
    StepVerdict.ISSUES: "!",
    StepVerdict.UNCLEAR: "?",
}


def format_progress(run: WorkflowRun) -> str:
    """Return the run on one line: ``PLAN ✓ → DEV … → [REVIEW, TEST:2]``."""
    groups: dict[int, list[str]] = {}
    for step in run.steps:
        mark = "…" if step.status is StepStatus.ACTIVE else VERDICT_MARKS.get(step.verdict, "")
        groups.setdefault(step.group, []).append(f"{step.key} {mark}".rstrip())
    return " → ".join(", ".join(group) if len(group) == 1 else f"[{', '.join(group)}]" for group in groups.values())


def format_done(run: WorkflowRun) -> str:
    """Return how many steps have passed, and of how many: ``2/8``."""
    return f"{len(run.passed_steps)}/{len(run.steps)}"


def format_step_keys(steps: Iterable[WorkflowStep]) -> str:
    """Return the keys of ``steps``, separated by commas."""
    return ", ".join(step.key for step in steps)


def format_unfinished_steps(run: WorkflowRun) -> str:
    """Return the keys of the steps that have not passed."""
    return format_step_keys(step for step in run.steps if not step.has_passed)


def describe_end_reason(code: str, turns_without_progress: int, language: str) -> str:
    """Return why the loop or a run ended; an unknown code is returned unchanged."""
    reasons = load_messages("workflow", language).group("end_reasons")
    return reasons[code].format(count=turns_without_progress) if code in reasons else code


def render_resume_prompt(state: SessionState, inputs: WorkflowInputs) -> str:
    """Return what a model needs to continue after a compaction or in a new session, within the limit for resuming."""
    handoffs = _handoff_folder_lines(state.run, inputs) if state.run and state.run.is_open else []
    lines = _status_lines(state, inputs) + handoffs + _open_checkbox_lines(inputs.tasks, inputs.messages)
    return _truncate_lines(lines, MAX_RESUME_PROMPT_CHARS)


def render_open_features(inputs: WorkflowInputs, most: int) -> str:
    """Return the features in progress, ``most`` of them by name, a lone one with its open tasks; empty for none."""
    names, messages = inputs.features_in_progress, inputs.messages
    if not names:
        return ""
    shown = ", ".join(names[:most]) + (f" {ELLIPSIS}" if len(names) > most else "")
    lines: list[str] = [messages["open_features"].format(features=shown)]
    lines += _open_checkbox_lines(inputs.tasks, messages) if len(names) == 1 else []
    return _truncate_lines([*lines, messages["open_features_hint"]], MAX_TURN_PROMPT_CHARS)


def render_turn_prompt(state: SessionState, inputs: WorkflowInputs) -> str:
    """Return the workflow's state for one turn, within the limit for turns; empty when no workflow is running."""
    if state.run is None or not state.run.is_open:
        return ""
    return _truncate_lines(_status_lines(state, inputs), MAX_TURN_PROMPT_CHARS)


def format_subtask_marker(step: WorkflowStep, subtask: Subtask) -> str:
    """Return what a delegation of the sub-task begins with: ``[stage:DEV.2.1]``."""
    return f"[stage:{step.key}.{subtask.id}]"


def _subtask_lines(run: WorkflowRun, step: WorkflowStep, inputs: WorkflowInputs) -> list[str]:
    """Return the sub-tasks to delegate now, and what the others wait for; or that they are lost."""
    plan, messages = plan_of_step(run, step, inputs), inputs.messages
    if not plan:
        return [messages["subtasks_lost"].format(steps=step.key)]
    ready = subtasks_with(plan, SubtaskStatus.READY)[:MAX_SUBTASKS]
    lines: list[str] = []
    if ready:
        stage = inputs.registry.find_stage(step.stage)
        lines.append(messages["subtasks_next"].format(step=step.key, agent=f"upbeat:{stage.agent}"))
        lines += [f"{format_subtask_marker(step, subtask)} {sanitize_inline(subtask.title, 120)}" for subtask in ready]
    if running := subtasks_with(plan, SubtaskStatus.RUNNING):
        lines.append(messages["subtasks_running"].format(ids=", ".join(subtask.id for subtask in running)))
    if waiting := subtasks_with(plan, SubtaskStatus.WAITING)[:MAX_SUBTASKS]:
        items = ", ".join(f"{subtask.id} ({', '.join(subtask.waits_for)})" for subtask in waiting)
        lines.append(messages["subtasks_waiting"].format(items=items))
    if failed := subtasks_with(plan, SubtaskStatus.FAILED):
        lines.append(messages["subtasks_failed"].format(ids=", ".join(subtask.id for subtask in failed)))
    return lines


def _own_subtask_lines(run: WorkflowRun, step: WorkflowStep, subtask: Subtask, inputs: WorkflowInputs) -> list[str]:
    """Return what the subagent that works on ``subtask`` must know of it and of the others."""
    messages = inputs.messages
    lines: list[str] = [messages["subtask_header"].format(id=subtask.id, title=sanitize_inline(subtask.title, 300))]
    if subtask.files:
        lines.append(messages["subtask_files"].format(files=sanitize_inline(", ".join(subtask.files), 300)))
    if others := subtasks_with(plan_of_step(run, step, inputs), SubtaskStatus.RUNNING, SubtaskStatus.READY):
        names = ", ".join(f"{other.id} {other.title}" for other in others if other.id != subtask.id)
        lines += [messages["subtask_others"].format(others=sanitize_inline(names, 300))] if names else []
    return lines


def _attempt_lines(
    run: WorkflowRun, step: WorkflowStep, subtask: Subtask | None, most: int, messages: Messages
) -> list[str]:
    """Return which attempt this is, and why the earlier ones failed: of the sub-task, or else of the step."""
    attempts = step.attempts if subtask is None else subtask.result.attempts if subtask.result else 0
    lines: list[str] = [messages["attempt"].format(number=attempts + 1, most=most)] if attempts else []
    repaired = [cause for key in step.repair_of if (cause := run.find_step(key))]
    failed = [(cause.key, cause.failure_notes) for cause in (*repaired, *(() if subtask else (step,)))]
    if subtask and subtask.result:
        failed.append((subtask.id, subtask.result.failure_notes))
    failures = [f"- {name}: {sanitize_inline(notes, 400)}" for name, notes in failed if notes]
    return lines + ([messages["previous_failures"], *failures] if failures else [])


def render_step_prompt(
    run: WorkflowRun, step: WorkflowStep, call_id: str, inputs: WorkflowInputs, subtask: Subtask | None = None
) -> str:
    """Return the text to prepend to the prompt of the subagent that works on ``step``, within the limit for steps."""
    messages, stage = inputs.messages, inputs.registry.find_stage(step.stage)
    mode = SafeText(f" ({sanitize_inline(step.mode)})" if step.mode else "")
    lines: list[str] = [messages["step_header"].format(workflow=run.workflow, key=step.key, mode=mode)]
    lines += _goal_lines(run, messages)
    lines += _own_subtask_lines(run, step, subtask, inputs) if subtask else []
    lines.append(messages["progress"].format(done=format_done(run)))
    if text := localized_text(stage.text, inputs.language):
        lines.append(text)
    lines += _attempt_lines(run, step, subtask, stage.max_attempts, messages)
    workflow = inputs.registry.workflows.get(run.workflow)
    if run.feature:
        lines.append(messages["feature"].format(feature=run.feature))
    elif workflow and "bdd" in workflow.files and step.group == 0:
        lines.append(messages["no_feature"].format(workflow=run.workflow))
    verdict = messages["verdict_request"].format(words="|".join(verdict_options(stage)), call=call_id[-40:])
    last = "\n".join((messages["handoff_request"], verdict))
    lines += _handoff_lines(run, step, inputs)
    return _truncate_lines(lines, MAX_STEP_PROMPT_CHARS - len(last) - 1) + "\n" + last


def _handoff_lines(run: WorkflowRun, step: WorkflowStep, inputs: WorkflowInputs) -> list[str]:
    """Return the latest handoff of each earlier stage and of what the step repairs, those of the group before longest.

    Where one is cut, the file with the whole is named. The reports on what failed come first.
    """
    failed = [other for other in run.steps if other.handoff and (other.key in step.repair_of or other is step)]
    latest = {(other.stage, other.mode): other for other in run.steps if other.group < step.group and other.handoff}
    earlier = sorted(latest.values(), key=lambda other: other.group)
    last = [other for other in earlier if other.group == earlier[-1].group]
    lines: list[str] = []
    is_any_cut = False
    for other in (*failed, *last, *(other for other in earlier if other not in last)):
        limit = TextLimit(MAX_HANDOFF_CHARS if other in last else MAX_EARLIER_HANDOFF_CHARS)
        text = truncate_to_limit(strip_controls(other.handoff), limit)[0]
        is_cut = bool(inputs.handoff_folder) and other.handoff_chars > len(text)
        is_any_cut |= is_cut
        label = inputs.messages["handoff_cut" if is_cut else "handoff_from"]
        # A quotation is neither an instruction nor, if the agent repeats it, a verdict.
        quoted = (f"> {neutralize_markup(line)}".rstrip() for line in text.splitlines())
        lines += [label.format(key=other.key, file=handoff_file_name(other.key)), *quoted]
    return _handoff_folder_lines(run, inputs) + lines if is_any_cut else lines


def _handoff_folder_lines(run: WorkflowRun, inputs: WorkflowInputs) -> list[str]:
    """Return where the whole handoffs are, if there are any."""
    if not inputs.handoff_folder or not any(step.handoff_chars for step in run.steps):
        return []
    return [inputs.messages["handoff_folder"].format(folder=f"{inputs.handoff_folder}/{run.id}")]


def render_next_step_prompt(run: WorkflowRun, inputs: WorkflowInputs) -> str:
    """Return what comes next, for a main agent whose subagent has returned."""
    lines: list[str] = [inputs.messages["next_header"].format(workflow=run.workflow, done=format_done(run))]
    lines += (*_unclear_lines(run), *_next_step_lines(run, inputs))
    return _truncate_lines(lines, MAX_TURN_PROMPT_CHARS)


def _unclear_lines(run: WorkflowRun) -> list[SafeText]:
    """Return why results did not count; a model that does not learn it repeats its answer."""
    unclear = (step for step in pending_steps(run) if step.verdict is StepVerdict.UNCLEAR)
    return [sanitize_inline(step.failure_notes, 400) for step in unclear]


def render_continuation_prompt(run: WorkflowRun, state: SessionState, inputs: WorkflowInputs) -> str:
    """Return why the turn continues, and with which steps. Clients show it to users, so it has no instructions."""
    messages = inputs.messages
    header = messages["continuation_header"].format(
        number=state.loop.iterations + 1,
        most=inputs.limits.max_turns,
        workflow=run.workflow,
        progress=format_progress(run),
    )
    lines: list[str] = [header]
    lines += (*_unclear_lines(run), *_next_step_lines(run, inputs), *_open_checkbox_lines(inputs.tasks, messages))
    if state.loop.iterations == 0:
        lines.append(messages["question_hint"])
    elif not run.calls:  # it was told to delegate, and did not: perhaps it cannot
        lines += _own_step_lines(run, inputs)
    return _truncate_lines(lines, MAX_RESUME_PROMPT_CHARS)


def verdict_options(stage: Stage) -> tuple[str, ...]:
    """Return the verdicts that an agent of ``stage`` may report; every stage may fail."""
    return tuple(dict.fromkeys(verdict.value.upper() for verdict in (*stage.verdicts, StepVerdict.FAIL)))


def _status_lines(state: SessionState, inputs: WorkflowInputs) -> list[str]:
    run, messages = state.run, inputs.messages
    if run is None:
        return []
    lines: list[str] = [messages["header"].format(workflow=run.workflow, progress=format_progress(run))]
    lines += _goal_lines(run, messages)
    if run.status is RunStatus.NEEDS_HUMAN:
        lines.append(messages["needs_human"].format(step=run.reason))
    elif state.loop.end_reason:
        reason = describe_end_reason(state.loop.end_reason, state.loop.turns_without_progress, inputs.language)
        lines.append(messages["loop_is_over"].format(reason=reason))
    if run.is_running and state.loop.end_reason != PAUSED:
        lines += _next_step_lines(run, inputs)
        lines += _delegation_lines(run, inputs)
        lines += [f"{step.key}: {sanitize_inline(step.failure_notes, 200)}" for step in run.steps if step.failure_notes]
    return lines


def _delegation_lines(run: WorkflowRun, inputs: WorkflowInputs) -> list[str]:
    """Return how to delegate, or how to do a step oneself in a client without subagents."""
    if not pending_steps(run):
        return []
    return [inputs.messages["delegation_help"]] if inputs.client.has_subagents else _own_step_lines(run, inputs)


def _own_step_lines(run: WorkflowRun, inputs: WorkflowInputs) -> list[str]:
    """Return how to report a step that the main agent may do itself; none if a subagent has to."""
    own = [step for step in pending_steps(run) if not inputs.needs_agent(step)]
    return [inputs.messages["own_step_help"].format(key=step.key) for step in own[:1]]


def _goal_lines(run: WorkflowRun, messages: Messages) -> list[str]:
    return [messages["goal"].format(goal=sanitize_inline(run.goal, 300))] if run.goal else []


def _next_step_lines(run: WorkflowRun, inputs: WorkflowInputs) -> list[str]:
    """Return the steps to delegate now and the steps that are running."""
    messages, stages = inputs.messages, inputs.registry.stages
    planned = [
        step for step in current_steps(run) if plan_of_step(run, step, inputs) or has_lost_plan(run, step, inputs)
    ]
    split = {step.key: _subtask_lines(run, step, inputs) for step in planned}
    active = [step for step in current_steps(run) if step.status is StepStatus.ACTIVE and step.key not in split]
    lines: list[str] = [messages["steps_running"].format(steps=format_step_keys(active))] if active else []
    agents = {
        step.key: f"upbeat:{stage.agent}" if (stage := stages.get(step.stage)) else step.stage
        for step in pending_steps(run)
        if step.key not in split
    }
    if len(agents) == 1:
        [(key, agent)] = agents.items()
        lines.append(messages["next_step"].format(step=key, agents=agent))
    elif agents:
        steps = ", ".join(f"{key} ({agent})" for key, agent in agents.items())
        lines.append(messages["next_steps"].format(steps=steps))
    lines += [line for subtask_lines in split.values() for line in subtask_lines]
    can_split = any(stages[step.stage].splits_into_subtasks for step in current_steps(run) if step.stage in stages)
    problems = inputs.tasks.problems[:MAX_PLAN_PROBLEMS] if inputs.tasks and can_split else ()
    return lines + [sanitize_inline(f"tasks.md {problem}", 200) for problem in problems]


def can_delegate(run: WorkflowRun, inputs: WorkflowInputs) -> bool:
    """Return whether a step, or a sub-task of one, can be delegated now."""
    plans = [(step, plan_of_step(run, step, inputs)) for step in current_steps(run)]
    return any(
        subtasks_with(plan, SubtaskStatus.READY) if plan else step.status is StepStatus.PENDING for step, plan in plans
    )


def _open_checkbox_lines(tasks: TasksFile | None, messages: Messages) -> list[str]:
    if tasks is None or not tasks.open_checkboxes:
        return []
    done, all_open = len(tasks.done_checkboxes), tasks.open_checkboxes
    lines: list[str] = [messages["open_checkboxes"].format(done=done, all=done + len(all_open))]
    lines += [f"- [ ] {sanitize_inline(box.text, 120)}" for box in all_open[:MAX_BOXES]]
    if len(all_open) > MAX_BOXES:
        lines.append(messages["more_checkboxes"].format(count=len(all_open) - MAX_BOXES))
    return lines


def _truncate_lines(lines: Iterable[str], limit: int) -> str:
    """Return as many whole lines as fit into ``limit`` characters; a part of the next one if that is long enough."""
    kept: list[str] = []
    remaining = limit
    for line in lines:
        if len(line) + 1 > remaining:
            if remaining > 40:
                flat = " ".join(line.split())
                kept.append(flat if len(flat) < remaining else flat[: remaining - 2] + ELLIPSIS)
            break
        kept.append(line)
        remaining -= len(line) + 1
    return "\n".join(kept).rstrip()
