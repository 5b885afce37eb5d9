"""Describe the workflow of a session as lines for the user."""

from __future__ import annotations

from collections.abc import Iterator

from upbeat.adapters.codex_auto.texts import Texts
from upbeat.core.workflow.prompts import describe_end_reason, format_progress, format_step_keys
from upbeat.core.workflow.registry import Registry
from upbeat.core.workflow.state import RunStatus, SessionState, StepStatus, current_steps, pending_steps
from upbeat.core.workflow.tasks import TasksFile

WORKFLOW_VERBS = ("start", "stop", "continue", "list")


def stage_label(state: SessionState) -> str:
    """Return the steps that are running or come next; empty without a running workflow."""
    return format_step_keys(current_steps(state.run)) if state.run and state.run.is_running else ""


def describe_workflow(state: SessionState, tasks: TasksFile | None, texts: Texts, language: str) -> Iterator[str]:
    """Yield the progress of the workflow, its next steps, and why it is paused or over."""
    run = state.run
    if run is None:
        yield texts["workflow_none"]
        return
    yield f"{run.workflow}: {format_progress(run)}"
    if run.goal:
        yield texts["workflow_goal"].format(goal=" ".join(run.goal.split()))
    if run.is_running:
        if busy := [step for step in current_steps(run) if step.status is StepStatus.ACTIVE]:
            yield texts["workflow_active"].format(steps=format_step_keys(busy))
        if steps := pending_steps(run):
            yield texts["workflow_next"].format(steps=format_step_keys(steps))
    if tasks is not None:
        yield texts["workflow_tasks"].format(
            done=len(tasks.done_checkboxes), all=len(tasks.done_checkboxes) + len(tasks.open_checkboxes)
        )
    loop = state.loop
    reason = run.reason
    if loop.end_reason and run.status is not RunStatus.NEEDS_HUMAN:
        reason = describe_end_reason(loop.end_reason, loop.turns_without_progress, language)
    over = "ended" if run.is_running and state.loop.end_reason else "" if run.is_running else run.status.value
    if over:
        yield texts["workflow_ended"].format(state=texts.group("workflow_states")[over].format(reason=reason))
    yield texts["workflow_usage"]


def workflow_descriptions(registry: Registry, language: str) -> list[tuple[str, str]]:
    """Return the name and the description of each workflow."""
    found = registry.workflows.items()
    return [(name, one.text.get(language) or one.text.get("en", "")) for name, one in found]
