"""Events and views for tests of policies, in as few words as a table has room for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from upbeat.core.contract.effect import Effect
from upbeat.core.contract.event import Act, Call, Change, ClientName, Event, Source, Task, ToolFinished, ToolStarting
from upbeat.core.policies.look import Look
from upbeat.core.policies.policy import Policy, View, Word
from upbeat.core.workflow.state import Page, SessionState

ROOT = "/repo"
NONCE = "0123456789ab"
HERE = Source(ClientName.CLAUDE_CODE, ROOT, "s")
IN_CODEX = Source(ClientName.CODEX_CLI, ROOT, "s")
IN_AGENT = Source(ClientName.CLAUDE_CODE, ROOT, "s", "agent-1")


def call(
    tool: str,
    act: Act,
    paths: tuple[str, ...] = (),
    changes: tuple[Change, ...] = (),
    tasks: tuple[Task, ...] = (),
    given: Mapping[str, Any] | None = None,
    is_whole_list: bool = False,
) -> Call:
    """A call of a tool."""
    return Call("c", tool, given or {}, act, paths, changes, tasks, is_whole_list)


def shell(command: str) -> Call:
    """A call of the shell."""
    return Call("c", "Bash", {"command": command}, Act.SHELL)


def starting(made: Call, source: Source = HERE) -> ToolStarting:
    """The call is about to happen."""
    return ToolStarting(source, made, str(made.input.get("command", "")))


def finished(made: Call, output: str = "", *, failed: bool = False, source: Source = HERE) -> ToolFinished:
    """The call has happened."""
    return ToolFinished(source, made, output, str(made.input.get("command", "")), failed=failed)


def view_of(
    policy: Policy,
    notes: tuple[str, ...] = (),
    found: Mapping[Look, Any] | None = None,
    language: str = "en",
    state: SessionState | None = None,
    at: float = 1000.0,
) -> View:
    """What ``policy`` sees beside an event."""
    return View(state or SessionState(), notes, at, language, ROOT, NONCE, found or {})


def asked(policy: Policy, event: Event, view: View | None = None) -> Word:
    """The whole word of ``policy`` to ``event``."""
    return policy.on[type(event)](event, view or view_of(policy))


def said_by(policy: Policy, event: Event, language: str = "en", **known: Any) -> tuple[Effect, ...]:
    """The effects of ``policy`` at ``event``."""
    return asked(policy, event, view_of(policy, language=language, **known)).effects


class Talk:
    """A session in which one policy is asked event after event, and remembers."""

    def __init__(self, policy: Policy, found: Mapping[Look, Any] | None = None, language: str = "en") -> None:
        self.policy, self.found, self.language = policy, found or {}, language
        self.state = SessionState()
        self.at = 1000.0

    def say(self, event: Event) -> tuple[Effect, ...]:
        """The effects at ``event``; its notes are kept."""
        view = View(self.state, self.state.notes(self.policy.name), self.at, self.language, ROOT, NONCE, self.found)
        word = asked(self.policy, event, view)
        if word.notes is not None:
            page = Page(self.policy.name, word.notes, self.policy.stays)
            self.state = SessionState(notebook=(page,))
        return word.effects
