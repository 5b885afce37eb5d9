"""The workflow of a session as lines for a person, and the names to choose from. Law: pure; it tells the state."""

from __future__ import annotations

from collections.abc import Iterator

from ....core.texts import workflow as core_texts
from ....core.workflow.brief import names, progress
from ....core.workflow.machine import current, pending
from ....core.workflow.registry import Registry
from ....core.workflow.state import SessionState, StepStatus
from ....core.workflow.tasks import Tasks
from .texts import Texts

NO_STAGE = "—"
VERBS = ("start", "stop", "continue", "list")


def stage(state: SessionState) -> str:
    """The steps that are worked on or come next, for the line below the prompt."""
    run = state.run
    return names(current(run)) or NO_STAGE if run and run.is_running else NO_STAGE


def standing(state: SessionState, tasks: Tasks | None, texts: Texts, language: str) -> Iterator[str]:
    """How far the workflow is, what comes next, and what keeps it from going on."""
    run = state.run
    if run is None:
        yield texts.workflow_none
        return
    yield f"{run.workflow}: {progress(run)}"
    if run.goal:
        yield texts.workflow_goal.format(goal=" ".join(run.goal.split()))
    if run.is_running:
        if busy := [step for step in current(run) if step.status is StepStatus.ACTIVE]:
            yield texts.workflow_busy.format(steps=names(busy))
        if steps := pending(run):
            yield texts.workflow_next.format(steps=names(steps))
    if tasks is not None:
        yield texts.workflow_boxes.format(done=len(tasks.done), all=len(tasks.done) + len(tasks.open))
    words = core_texts.texts(language)
    reason = words.reason(state.loop.ended).format(count=state.loop.stale) if state.loop.ended else run.reason
    over = "ended" if run.is_running and state.loop.ended else "" if run.is_running else run.status.value
    if over:
        yield texts.workflow_over.format(state=texts.workflow_states[over].format(reason=reason))
    yield texts.workflow_how


def listed(registry: Registry, language: str) -> list[tuple[str, str]]:
    """Each workflow's name with its sentence."""
    found = registry.workflows.items()
    return [(name, one.text.get(language) or one.text.get("en", "")) for name, one in found]
