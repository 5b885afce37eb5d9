"""Detect observations of habits in one event.

Invariant: pure; a command is identified by its program and never stored in full. ``HabitType.WORDING`` has no
observations yet, because no event shows how the user wants things phrased.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from upbeat.core.contract.event import FILE_CHANGING_KINDS, Event, PromptSubmitted, SubagentReturned, ToolFinished
from upbeat.core.learned.model import HabitObservation, HabitType
from upbeat.core.messages.catalogue import load_messages
from upbeat.core.package_data import load_toml
from upbeat.core.prompt.analysis import Intent
from upbeat.core.prompt.classify import analyze_prompt
from upbeat.core.shell import prove_success, unwrap
from upbeat.core.workflow.facts import CommandRan, Fact, StepFinished, WorkflowStarted
from upbeat.core.workflow.registry import stage_of_step_key
from upbeat.core.workflow.state import NEW_SESSION, Evidence, SessionState, StepVerdict
from upbeat.core.workflow.verdict.evidence import classify_program

SEARCH_TOOL = "ci_search"
_SEARCHES = frozenset({"grep", "egrep", "fgrep", "rg", "ag", "ack", "find", "fd", "fdfind"})
_MENTIONS_SEARCH = re.compile(r"(?<![\w-])(?:[ef]?grep|rg|ag|ack|find|fd|fdfind)(?![\w-])")
_PLAIN_WORD = re.compile(r"[A-Za-z][\w.+:-]{0,30}")
MAX_COMMAND_WORDS = 3
MAX_ERROR_CHARS = 1000


def detect_habits(
    event: Event, facts: Sequence[Fact], state: SessionState = NEW_SESSION
) -> tuple[HabitObservation, ...]:
    """Return the observations in ``event`` and its ``facts``; ``state`` is the session's state before them."""
    return tuple(_detect(event, facts, state))


def _detect(event: Event, facts: Sequence[Fact], state: SessionState) -> Iterator[HabitObservation]:
    if isinstance(event, ToolFinished) and event.command:
        yield from _detect_shell_search(event.command)
    elif isinstance(event, ToolFinished | SubagentReturned):
        yield from _detect_failure(event)
    evidence = state.evidence
    for fact in facts:
        match fact:
            case CommandRan():
                yield from _detect_resolution(evidence, fact.evidence)
                evidence = (*evidence, fact.evidence)
            case WorkflowStarted():
                yield from _detect_routing(event, fact)
            case StepFinished():
                yield from _detect_agent_performance(fact, state)
            case _:
                pass


def _detect_shell_search(command: str) -> Iterator[HabitObservation]:
    """Yield a shell search that a tool could have done."""
    if not _MENTIONS_SEARCH.search(command):
        return
    words = (words for words in map(unwrap, prove_success(command).commands) if words and words[0] != "cd")
    first = next(words, ())
    if first and first[0] in _SEARCHES:
        yield HabitObservation(
            HabitType.TOOL_PREFERENCES, f"searches with {first[0]}", f"ask {SEARCH_TOOL} first", "search"
        )


def _detect_failure(event: ToolFinished | SubagentReturned) -> Iterator[HabitObservation]:
    """Yield a failed call of a tool other than the shell, if its error is one that a policy explains."""
    if isinstance(event, SubagentReturned):
        table, error = "recover-from-failed-delegation", event.error
    else:
        is_edit = event.call.kind in FILE_CHANGING_KINDS
        table, error = f"recover-from-failed-{'edit' if is_edit else 'tool'}", event.output
        error = "" if event.was_interrupted else error
    if not event.has_failed or not error:
        return
    causes = load_toml("upbeat.core.policies", "errors.toml")[table].items()
    cause = next((key for key, pattern in causes if re.search(pattern, error[:MAX_ERROR_CHARS], re.IGNORECASE)), "")
    if cause:
        advice = load_messages("policies", "en").group(table)[cause].format()
        trigger = f"{event.call.tool[:80]} fails: {cause.removeprefix('cause_').replace('_', ' ')}"
        yield HabitObservation(HabitType.ERROR_RESOLUTIONS, trigger, advice, "tools")


def _detect_resolution(before: Sequence[Evidence], now: Evidence) -> Iterator[HabitObservation]:
    """Yield a command that succeeded after one of its kind failed."""
    known = (run for run in reversed(before) if run.kind == now.kind and not run.is_hidden)
    last = next(known, None)
    if last is None or not last.exit_code or now.exit_code != 0:
        return
    failed, worked = _command_name(last.command), _command_name(now.command)
    if failed and worked:
        action = f"run {worked}" if failed != worked else "change the code and run it again"
        yield HabitObservation(HabitType.ERROR_RESOLUTIONS, f"{failed} fails", action, now.kind)


def _detect_routing(event: Event, fact: WorkflowStarted) -> Iterator[HabitObservation]:
    """Yield the workflow that was started for a kind of request."""
    request = fact.run.goal or (event.prompt if isinstance(event, PromptSubmitted) else "")
    intent = analyze_prompt(request).likely_intent
    if intent is not Intent.NONE:
        yield HabitObservation(
            HabitType.WORKFLOW_ROUTING, f"intent {intent}", f"workflow {fact.run.workflow}", "workflow"
        )


def _detect_agent_performance(fact: StepFinished, state: SessionState) -> Iterator[HabitObservation]:
    """Yield how a stage ended, and at which attempt, for its agent."""
    step = state.run.find_step(fact.step_key) if state.run else None
    if state.run is None or step is None or fact.verdict in (StepVerdict.NONE, StepVerdict.UNCLEAR):
        return
    agent = next((call.agent for call in state.run.calls if call.step_key == fact.step_key), "")
    if agent:
        passed = fact.verdict is StepVerdict.PASS
        how = "passes at once" if passed and not step.attempts else "passes in the end" if passed else "ends badly"
        yield HabitObservation(
            HabitType.AGENT_PERFORMANCE, f"{agent} does {stage_of_step_key(fact.step_key)}", how, "agents"
        )


def _command_name(command: str) -> str:
    """Return the program of the relevant part of a command line and its first plain words, without paths or values."""
    lines = [words for words in prove_success(command).commands if words[0] != "cd"]
    words = next((words for words in lines if classify_program(unwrap(words))), lines[0] if lines else ())
    names = [word.rpartition("/")[2] for word in words[:1]]
    for word in words[1:]:
        if len(names) == MAX_COMMAND_WORDS or not _PLAIN_WORD.fullmatch(word) or "." in word:
            break
        names.append(word)
    return " ".join(names)
