"""Short constructors of events and contexts for tests of policies."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from case_files import read_groups

from upbeat.adapters.clients.registry import find_client
from upbeat.core.contract.effect import Effect
from upbeat.core.contract.event import (
    Call,
    ClientName,
    Event,
    EventSource,
    FileEdit,
    Task,
    ToolFinished,
    ToolKind,
    ToolStarting,
)
from upbeat.core.destructive import ShellLocation, find_hazards
from upbeat.core.policy.definition import NO_RESULT, Policy, PolicyContext, PolicyResult
from upbeat.core.policy.evaluate import collect_queries, enabled_policies
from upbeat.core.policy.queries import Query
from upbeat.core.workflow.state import PolicyNotes, SessionState

ROOT = "/repo"
NONCE = "0123456789ab"
HERE = EventSource(ClientName.CLAUDE_CODE, ROOT, "s")
IN_CODEX = EventSource(ClientName.CODEX_CLI, ROOT, "s")
CHINESE = re.compile(r"[\u4e00-\u9fff]")
IN_AGENT = EventSource(ClientName.CLAUDE_CODE, ROOT, "s", "agent-1")


def call(
    tool: str,
    act: ToolKind,
    paths: tuple[str, ...] = (),
    changes: tuple[FileEdit, ...] = (),
    tasks: tuple[Task, ...] = (),
    given: Mapping[str, Any] | None = None,
    is_whole_list: bool = False,
) -> Call:
    """A call of a tool."""
    return Call("c", tool, given or {}, act, paths, changes, tasks, is_whole_list)


def shell(command: str) -> Call:
    """A call of the shell."""
    return Call("c", "Bash", {"command": command}, ToolKind.SHELL)


def starting(made: Call, source: EventSource = HERE) -> ToolStarting:
    """An event before the call."""
    return ToolStarting(source, made, str(made.input.get("command", "")))


def finished(made: Call, output: str = "", *, failed: bool = False, source: EventSource = HERE) -> ToolFinished:
    """An event after the call."""
    return ToolFinished(source, made, output, str(made.input.get("command", "")), has_failed=failed)


def finished_row(tool: str, kind: str, outcome: str, output: str) -> ToolFinished:
    """An event after the call that a row of a table describes: ``outcome`` is ``ok`` or ``failed``."""
    return finished(call(tool, ToolKind(kind)), output, failed=outcome == "failed")


def todo_list(*open_items: str, done: tuple[str, ...] = ()) -> ToolFinished:
    """An event after a call that writes the whole todo list."""
    tasks = (*(Task(text, is_done=True) for text in done), *(Task(text, is_done=False) for text in open_items))
    return finished(call("TodoWrite", ToolKind.TASK_LIST, tasks=tasks, is_whole_list=True))


def view_of(
    policy: Policy,
    notes: tuple[str, ...] = (),
    found: Mapping[Query, Any] | None = None,
    language: str = "en",
    state: SessionState | None = None,
    at: float = 1000.0,
) -> PolicyContext:
    """The context of ``policy``."""
    return PolicyContext(state or SessionState(), notes, at, language, ROOT, NONCE, found or {})


def asked(policy: Policy, event: Event, view: PolicyContext | None = None) -> PolicyResult:
    """Return the result of ``policy`` for ``event``. Invariant: it returns only effects that the policy declares."""
    traits = find_client(event.source.client).traits
    if policy not in enabled_policies((policy,), (policy.name,), (), traits):
        return NO_RESULT
    context, handler = replace(view or view_of(policy), client=traits, policy=policy.name), policy.handlers[type(event)]
    if not handler.applies_to(event, context.notes):
        return NO_RESULT
    result = handler.handle(event, context)
    assert {type(effect) for effect in result.effects} <= set(policy.effects)
    return result


def queried(policy: Policy, event: Event, state: SessionState | None = None) -> tuple[Query, ...]:
    """Return what ``policy`` needs to know of the world for ``event``."""
    return collect_queries(event, state or SessionState(), (policy,))


def said_by(policy: Policy, event: Event, language: str = "en", **known: Any) -> tuple[Effect, ...]:
    """The effects of ``policy`` at ``event``."""
    return asked(policy, event, view_of(policy, language=language, **known)).effects


def silent(cases: Mapping[str, Any] | Sequence[Any], play: Callable[[Any], Sequence[Effect]]) -> Callable[..., None]:
    """A test for each of ``cases``: played, it has no effect."""

    @pytest.mark.parametrize("case", cases.values() if isinstance(cases, Mapping) else cases, ids=_ids(cases))
    def test_silence(case: Any) -> None:
        """The policy does nothing."""
        assert [] == list(play(case))

    return test_silence


def says(cases: Mapping[str, tuple[Any, str]], play: Callable[[Any, str], Sequence[Effect]]) -> Callable[..., None]:
    """A test for each of ``cases``: played, it has one effect with these words, and one in Chinese."""

    @pytest.mark.parametrize(("case", "words"), cases.values(), ids=_ids(cases))
    def test_text(case: Any, words: str) -> None:
        """The policy has one effect, whose text is complete and in the language of the user."""
        [english], [chinese] = play(case, "en"), play(case, "zh")

        assert words in english.text
        assert CHINESE.search(chinese.text)
        assert chinese != english
        assert "{" not in english.text + chinese.text

    return test_text


def _ids(cases: Mapping[str, Any] | Sequence[Any]) -> list[str] | None:
    return list(cases) if isinstance(cases, Mapping) else None


class Talk:
    """A session in which one policy is evaluated event by event and keeps its notes."""

    def __init__(
        self,
        policy: Policy,
        found: Mapping[Query, Any] | None = None,
        language: str = "en",
        state: SessionState | None = None,
    ) -> None:
        self.policy, self.found, self.language = policy, found or {}, language
        self.state = state or SessionState()
        self.at = 1000.0

    def say_all(self, events: Iterable[Event]) -> list[Effect]:
        """The effects at all of ``events``."""
        return [effect for event in events for effect in self.say(event)]

    def say(self, event: Event) -> tuple[Effect, ...]:
        """The effects at ``event``; its notes are kept."""
        view = PolicyContext(
            self.state, self.state.notes_of(self.policy.name), self.at, self.language, ROOT, NONCE, self.found
        )
        word = asked(self.policy, event, view)
        if word.notes is not None:
            page = PolicyNotes(self.policy.name, word.notes, self.policy.survives_compaction)
            self.state = replace(self.state, policy_notes=(page,))
        return word.effects


DESTRUCTIVE = Path(__file__).parent / "core/destructive"
DESTRUCTIVE_LINES = {
    effect: [line for (line,) in rows] for effect, rows in read_groups(DESTRUCTIVE / "lines.tsv").items()
}
"""Effect of block-destructive-commands -> shell lines that have it in a repository with three changed files."""


def detects(module: str) -> Callable[..., None]:
    """A test for each line of ``hazards.tsv`` about a module of ``core/destructive``."""

    @pytest.mark.parametrize(("line", "expected"), read_groups(DESTRUCTIVE / "hazards.tsv")[module])
    def test_hazard(line: str, expected: str) -> None:
        """Each line has this hazard first, or none."""
        hazards = find_hazards(line, ShellLocation(ROOT, ROOT))

        assert expected == (f"{hazards[0].kind} {hazards[0].severity}" if hazards else "none")

    return test_hazard
