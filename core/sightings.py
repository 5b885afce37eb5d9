"""What one event shows that is worth remembering. Law: pure; commands are named by their program, never in full.

``wording`` has no sightings yet: nothing in an event says how its user wants things put.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from .contract.event import Event, PromptSubmitted, ToolFinished
from .observations import ObservationType, Sighting
from .shell import read_line, unwrap
from .turn.intent import read
from .turn.reading import Intent
from .workflow.facts import CommandRan, Fact, StepFinished, WorkflowStarted
from .workflow.registry import stage_of
from .workflow.runners import kind_of_program
from .workflow.state import NEW, Evidence, SessionState
from .workflow.verdict import Verdict

SEARCH_TOOL = "ci_search"
_SEARCHES = frozenset({"grep", "egrep", "fgrep", "rg", "ag", "ack", "find", "fd", "fdfind"})
_MENTIONS_SEARCH = re.compile(r"(?<![\w-])(?:[ef]?grep|rg|ag|ack|find|fd|fdfind)(?![\w-])")
_PLAIN_WORD = re.compile(r"[A-Za-z][\w.+:-]{0,30}")
MAX_WORDS = 3


def observations_of(event: Event, facts: Sequence[Fact], state: SessionState = NEW) -> tuple[Sighting, ...]:
    """What ``event`` shows, with the ``facts`` that it led to and the session's state before them."""
    return tuple(_sightings(event, facts, state))


def _sightings(event: Event, facts: Sequence[Fact], state: SessionState) -> Iterator[Sighting]:
    if isinstance(event, ToolFinished) and event.command:
        yield from _search(event.command)
    evidence = state.evidence
    for fact in facts:
        match fact:
            case CommandRan():
                yield from _resolution(evidence, fact.evidence)
                evidence = (*evidence, fact.evidence)
            case WorkflowStarted():
                yield from _routing(event, fact)
            case StepFinished():
                yield from _performance(fact, state)
            case _:
                pass


def _search(command: str) -> Iterator[Sighting]:
    """A search by shell, where a tool would have searched."""
    if not _MENTIONS_SEARCH.search(command):
        return
    words = (words for words in map(unwrap, read_line(command).every) if words and words[0] != "cd")
    first = next(words, ())
    if first and first[0] in _SEARCHES:
        yield Sighting(
            ObservationType.TOOL_PREFERENCES, f"searches with {first[0]}", f"ask {SEARCH_TOOL} first", "search"
        )


def _resolution(before: Sequence[Evidence], now: Evidence) -> Iterator[Sighting]:
    """A command that succeeded after one of its kind had failed."""
    last = next((one for one in reversed(before) if one.kind == now.kind), None)
    if last is None or not last.exit_code or now.exit_code != 0:
        return
    failed, worked = _named(last.command), _named(now.command)
    if failed and worked:
        action = f"run {worked}" if failed != worked else "change the code and run it again"
        yield Sighting(ObservationType.ERROR_RESOLUTIONS, f"{failed} fails", action, now.kind)


def _routing(event: Event, fact: WorkflowStarted) -> Iterator[Sighting]:
    """The workflow that was begun for a kind of request."""
    request = fact.run.goal or (event.prompt if isinstance(event, PromptSubmitted) else "")
    intent = read(request).intent
    if intent is not Intent.NONE:
        yield Sighting(
            ObservationType.WORKFLOW_ROUTING, f"intent {intent}", f"workflow {fact.run.workflow}", "workflow"
        )


def _performance(fact: StepFinished, state: SessionState) -> Iterator[Sighting]:
    """How a stage ended, and at which try, for the agent that did it."""
    step = state.run.step(fact.key) if state.run else None
    if state.run is None or step is None or fact.verdict in (Verdict.NONE, Verdict.UNCLEAR):
        return
    agent = next((call.agent for call in state.run.calls if call.key == fact.key), "")
    if agent:
        passed = fact.verdict is Verdict.PASS
        how = "passes at once" if passed and not step.tries else "passes in the end" if passed else "ends badly"
        yield Sighting(ObservationType.AGENT_PERFORMANCE, f"{agent} does {stage_of(fact.key)}", how, "agents")


def _named(command: str) -> str:
    """The program of the telling part of a command line, with its first plain words: no paths, values or secrets."""
    words = next((words for words in read_line(command).every if kind_of_program(unwrap(words))), ())
    names = [word.rpartition("/")[2] for word in words[:1]]
    for word in words[1:]:
        if len(names) == MAX_WORDS or not _PLAIN_WORD.fullmatch(word) or "." in word:
            break
        names.append(word)
    return " ".join(names)
