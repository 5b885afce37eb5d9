"""Draw the steps of a workflow: one row each, parallel groups in brackets, with a mark and a word for its state."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from upbeat.core.lazy_dataclass import dataclass
from upbeat.core.messages import layout
from upbeat.core.messages.catalogue import Messages, load_messages
from upbeat.core.messages.layout import Line, Mark, Screen
from upbeat.core.workflow.registry import (
    Registry,
    Stage,
    StageGroups,
    Workflow,
    localized_text,
    mode_of_step,
    stage_of_step_key,
)
from upbeat.core.workflow.state import (
    RunStatus,
    StepAuthor,
    StepStatus,
    StepVerdict,
    WorkflowRun,
    WorkflowStep,
    current_steps,
)

MAX_NOTE_COLUMNS = 140
"""Of the failure of a step."""


@dataclass(frozen=True, slots=True)
class DrawnStep:
    """One row: its group, its mark, and its cells, of which the last is wrapped."""

    group: int
    mark: Mark
    cells: tuple[str, ...]


def draw_steps(steps: Sequence[DrawnStep], screen: Screen, indent: str = "") -> Iterator[Line]:
    """Yield the rows of ``steps``; consecutive ones of one group are parallel and stand in a bracket."""
    marks = [Mark(f"{_bracket(number, steps)} {step.mark.glyph}", step.mark.style) for number, step in enumerate(steps)]
    yield from layout.table([step.cells for step in steps], screen, indent, marks)


def _bracket(number: int, steps: Sequence[DrawnStep]) -> str:
    group = steps[number].group
    is_below = number > 0 and steps[number - 1].group == group
    is_above = number + 1 < len(steps) and steps[number + 1].group == group
    return {(False, False): " ", (False, True): "┌", (True, True): "│", (True, False): "└"}[is_below, is_above]


def draw_run(run: WorkflowRun, screen: Screen, indent: str = "") -> Iterator[Line]:
    """Yield the steps of a run with their verdicts, tries, repairs and failures."""
    following = {step.key for step in current_steps(run)} if run.is_open else set()
    yield from draw_steps([_draw_step(step, following, run, screen) for step in run.steps], screen, indent)


def _draw_step(step: WorkflowStep, following: set[str], run: WorkflowRun, screen: Screen) -> DrawnStep:
    mark, word = step_state(step, step.key in following, screen.language)
    texts = load_messages("screens", screen.language)
    tries = texts.group("tries")["one" if step.attempts == 1 else "many"].format(count=step.attempts)
    agents = [call for call in run.calls if call.step_key == step.key and call.verdict is StepVerdict.NONE]
    about = [
        " ".join((call.agent.rpartition(":")[2], layout.relative_time(call.started_at, screen))) for call in agents
    ]
    if step.repair_of:
        about.append(texts["repairs"].format(steps=", ".join(step.repair_of)))
    if step.author is StepAuthor.MAIN:
        about.append(texts["self_declared"])
    if step.failure_notes and not step.has_passed:
        about.append(layout.clip_to_width(" ".join(step.failure_notes.split()), MAX_NOTE_COLUMNS))
    name = f"{step.key} ({step.mode})" if step.mode else step.key
    return DrawnStep(step.group, mark, (name, word, tries if step.attempts else "", layout.join(about)))


def step_state(step: WorkflowStep, is_next: bool, language: str) -> tuple[Mark, str]:
    """Return how a step stands, as a mark and a word."""
    words = load_messages("screens", language).group("steps")
    verdicts = load_messages("journal", language).group("words")
    if step.status is StepStatus.ACTIVE:
        return layout.CURRENT, words["active"]
    if step.status is StepStatus.DONE and step.verdict:
        marks = {StepVerdict.PASS: layout.GOOD, StepVerdict.UNCLEAR: layout.ATTENTION}
        return marks.get(step.verdict, layout.BAD), verdicts.get(step.verdict, step.verdict)
    if step.attempts:
        return layout.ATTENTION, words["retry"]
    return (layout.CURRENT, words["next"]) if is_next else (layout.QUIET, words["pending"])


def draw_workflow(workflow: Workflow, registry: Registry, screen: Screen) -> Iterator[Line]:
    """Yield a workflow: its purpose, its steps with their agents and what happens after a failure, where it is from."""
    texts, language = load_messages("screens", screen.language).group("workflow"), screen.language
    text = localized_text(workflow.text, language)
    keys = workflow.step_keys
    head = texts["head"].format(name=workflow.name, steps=len(keys), first=keys[0], last=keys[-1])
    yield from layout.headline(head if len(keys) > 1 else workflow.name, screen)
    yield from layout.paragraph(text, screen)
    yield Line("")
    steps = []
    for number, group in enumerate(workflow.groups):
        for key in group:
            mode = mode_of_step(workflow, key, registry.stages)
            stage = registry.stages[stage_of_step_key(key)]
            cells = (f"{key} ({mode})" if mode else key, stage.agent, _stage_text(stage, texts, screen))
            steps.append(DrawnStep(number, layout.QUIET, cells))
    yield from draw_steps(steps, screen)
    yield Line("")
    files = texts["files"].format(files=", ".join(workflow.files)) if workflow.files else ""
    about = [texts["start"].format(name=workflow.name), files, texts["defined"].format(origin=workflow.origin)]
    yield from layout.paragraph(layout.join(about), screen)


def _stage_text(stage: Stage, texts: Messages, screen: Screen) -> str:
    """Return the task of a stage, the evidence that it needs, and what happens after a failure."""
    words = load_messages("journal", screen.language).group("words")
    kinds = load_messages("workflow", screen.language).group("check_kinds")
    kind = stage.required_evidence
    needs = [texts["evidence"].format(kind=kinds[kind])] if kind in kinds else [texts["change_read"]] if kind else []
    needs += [
        texts["repair"].format(verdict=words.get(verdict, verdict), order=format_order(groups))
        for verdict, groups in stage.repairs.items()
    ]
    tries = texts["tries"].format(count=stage.max_attempts) if stage.repairs else ""
    return "\n".join(filter(None, (localized_text(stage.text, screen.language), layout.join([*needs, tries]))))


def format_order(groups: StageGroups) -> str:
    """Return the order of stages, such as ``DEV → REVIEW + TEST``."""
    return " → ".join(" + ".join(group) for group in groups)


def run_mark(status: RunStatus) -> Mark:
    """Return the mark of a run."""
    marks = {
        RunStatus.RUNNING: layout.CURRENT,
        RunStatus.COMPLETE: layout.GOOD,
        RunStatus.NEEDS_HUMAN: layout.ATTENTION,
    }
    return marks.get(status, layout.QUIET)
