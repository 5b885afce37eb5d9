"""The texts that tell a model where its workflow stands. Law: bounded, on few lines, nothing that was not recorded."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ..texts.workflow import Texts, texts
from ..turn.frame import Ours
from ..turn.strip import strip
from ..turn.word import plain, word
from .machine import current, pending
from .registry import Registry, Stage
from .state import Assignment, Run, RunStatus, SessionState, Step, StepStatus
from .verdict import Verdict

if TYPE_CHECKING:
    from .tasks import Tasks

DELEGATED_CHARS = 1500
RESUMED_CHARS = 2000
TURN_CHARS = 1000
MAX_BOXES = 5
CUT = "…"

MARKS = {
    Verdict.PASS: "✓",
    Verdict.FAIL: "✗",
    Verdict.REJECT: "✗",
    Verdict.ISSUES: "!",
    Verdict.UNCLEAR: "?",
}


def progress(run: Run) -> str:
    """The run on one line: ``PLAN ✓ → DEV … → [REVIEW, TEST:2]``."""
    groups: dict[int, list[str]] = {}
    for step in run.steps:
        groups.setdefault(step.group, []).append(_marked(step))
    return " → ".join(", ".join(group) if len(group) == 1 else f"[{', '.join(group)}]" for group in groups.values())


def names(steps: Iterable[Step]) -> str:
    """The keys of ``steps``."""
    return ", ".join(step.key for step in steps)


def unfinished(run: Run) -> str:
    """What has not ended well."""
    return names(step for step in run.steps if not step.is_good)


def whole(state: SessionState, registry: Registry, language: str, tasks: Tasks | None = None) -> str:
    """All that a model needs to go on, after a compaction or in a new session; at most ``RESUMED_CHARS``."""
    return _cut(_standing(state, registry, language, tasks), RESUMED_CHARS)


def of_turn(state: SessionState, registry: Registry, language: str) -> str:
    """Where the workflow stands, for one turn; at most ``TURN_CHARS``. Empty when nothing runs."""
    run = state.run
    if run is None or not (run.is_running or run.status is RunStatus.NEEDS_HUMAN):
        return ""
    return _cut(_standing(state, registry, language, None), TURN_CHARS)


def of_step(run: Run, step: Step, call_id: str, registry: Registry, language: str) -> str:
    """What stands before the prompt of an agent that does ``step``; at most ``DELEGATED_CHARS``."""
    words = texts(language)
    stage = registry.stages.get(step.stage, Stage(step.stage, ""))
    mode = Ours(f" ({word(step.mode)})" if step.mode else "")
    lines = [words.step.format(workflow=run.workflow, key=step.key, mode=mode)]
    if run.goal:
        lines.append(words.goal.format(goal=word(run.goal, 300)))
    if text := stage.text.get(language) or stage.text.get("en"):
        lines.append(text)
    if step.tries:
        lines.append(words.attempt.format(number=step.tries + 1, most=stage.tries))
    if before := _before(run, step):
        lines += [words.before, *before]
    workflow = registry.workflows.get(run.workflow)
    if run.feature:
        lines.append(words.feature.format(feature=run.feature))
    elif workflow and "bdd" in workflow.files and step.group == 0:
        lines.append(words.no_feature.format(workflow=run.workflow))
    for earlier in _before_it(run, step):
        lines += [words.handed.format(key=earlier.key), *_quoted(earlier.handoff)]
    lines.append(words.report)
    last = words.verdict.format(words="|".join(verdict_words(stage)), call=call_id[-40:])
    return _cut(lines, DELEGATED_CHARS - len(last) - 1) + "\n" + last


def onward(state: SessionState, registry: Registry, language: str, most: int, tasks: Tasks | None) -> str:
    """Why the turn goes on, and with what. Clients show it to people, so how to do it stands elsewhere."""
    run = state.run
    if run is None:
        return ""
    words = texts(language)
    head = words.onward.format(
        number=state.loop.iterations + 1, most=most, workflow=run.workflow, progress=progress(run)
    )
    ask = [words.ask] if state.loop.iterations == 0 else []
    return _cut([head, *_unclear(run), *_next(run, registry, words), *_boxes(tasks, words), *ask], RESUMED_CHARS)


def verdict_words(stage: Stage) -> tuple[str, ...]:
    """What an agent of ``stage`` may say; every stage may fail."""
    return tuple(dict.fromkeys(verdict.value.upper() for verdict in (*stage.verdicts, Verdict.FAIL)))


def _standing(state: SessionState, registry: Registry, language: str, tasks: Tasks | None) -> list[str]:
    run = state.run
    if run is None:
        return _boxes(tasks, texts(language))
    words = texts(language)
    lines = [words.head.format(workflow=run.workflow, progress=progress(run))]
    if run.goal:
        lines.append(words.goal.format(goal=word(run.goal, 300)))
    if run.status is RunStatus.NEEDS_HUMAN:
        lines.append(words.needs_human.format(step=run.reason))
    elif state.loop.ended:
        lines.append(words.loop_over.format(reason=words.reason(state.loop.ended).format(count=state.loop.stale)))
    if run.is_running:
        lines += _next(run, registry, words) + _how(run, words)
        lines += [f"{step.key}: {word(step.notes, 200)}" for step in run.steps if step.notes]
    return lines + _boxes(tasks, words)


def _next(run: Run, registry: Registry, words: Texts) -> list[str]:
    """What to delegate now, or what is being worked on."""
    steps = pending(run)
    busy = [step for step in current(run) if step.status is StepStatus.ACTIVE]
    lines = [words.running.format(steps=names(busy))] if busy else []
    if len(steps) == 1:
        lines.append(words.next_one.format(step=steps[0].key, agents=_agent(registry, steps[0])))
    elif steps:
        each = ", ".join(f"{step.key} ({_agent(registry, step)})" for step in steps)
        lines.append(words.next_many.format(steps=each))
    return lines


def _unclear(run: Run) -> list[str]:
    """Why an answer on a step that comes next did not count: who is not told says the same again."""
    return [word(step.notes, 400) for step in pending(run) if step.verdict is Verdict.UNCLEAR]


def _how(run: Run, words: Texts) -> list[str]:
    """How a step is done, for a model that may not have read it yet."""
    return [words.how.format(key=step.key) for step in pending(run)[:1]]


def _agent(registry: Registry, step: Step) -> str:
    stage = registry.stages.get(step.stage)
    return f"upbeat:{stage.agent}" if stage else step.stage


def _before_it(run: Run, step: Step) -> list[Step]:
    """The steps of the group before, which have something to hand over."""
    groups = [other.group for other in run.steps if other.group < step.group and other.handoff]
    return [other for other in run.steps if groups and other.group == groups[-1] and other.handoff]


def _before(run: Run, step: Step) -> list[str]:
    """What went wrong with the step itself, and with those that it repairs."""
    causes = [cause for key in step.repairs if (cause := run.step(key))]
    return [f"- {cause.key}: {word(cause.notes, 400)}" for cause in (*causes, step) if cause.notes]


def _boxes(tasks: Tasks | None, words: Texts) -> list[str]:
    if tasks is None or not tasks.open:
        return []
    shown = [f"- [ ] {word(box.text, 120)}" for box in tasks.open[:MAX_BOXES]]
    left = len(tasks.open) - len(shown)
    head = words.boxes.format(done=len(tasks.done), all=len(tasks.done) + len(tasks.open))
    return [head, *shown, *([words.more.format(count=left)] if left else [])]


def _marked(step: Step) -> str:
    if step.status is StepStatus.ACTIVE:
        return f"{step.key} …"
    return f"{step.key} {MARKS[step.verdict]}" if step.verdict in MARKS else step.key


def waiting(calls: Iterable[Assignment]) -> str:
    """The steps that calls work on."""
    return ", ".join(dict.fromkeys(call.key for call in calls))


def _quoted(text: str) -> list[str]:
    """The lines of ``text`` as what somebody else said: neither orders nor, if they are repeated, a verdict."""
    return [f"> {plain(line)}".rstrip() for line in strip(text).splitlines()]


def _line(text: str, limit: int) -> str:
    """``text`` on one line of at most ``limit`` characters."""
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1] + CUT


def _cut(lines: Iterable[str], limit: int) -> str:
    """Whole lines as far as they fit."""
    kept: list[str] = []
    room = limit
    for line in lines:
        if len(line) + 1 > room:
            kept.append(_line(line, max(room - 1, 1)) if room > 40 else "")
            break
        kept.append(line)
        room -= len(line) + 1
    return "\n".join(kept).rstrip()
