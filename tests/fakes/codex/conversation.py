"""A conversation of fakes on a real session store: what the tests of codex-auto's parts share."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from io import StringIO
from pathlib import Path
from typing import Any

from fakes.context import HERE, FakeContextResolver, repo_context
from fakes.runtime import FakeWorld, fake_world

from upbeat.adapters.codex.transport import base
from upbeat.adapters.codex.transport.app_server.transport import AppServerTransport
from upbeat.adapters.codex_auto.conversation.conversation import Conversation
from upbeat.adapters.codex_auto.conversation.rollouts import RolloutReader
from upbeat.adapters.codex_auto.conversation.turns import DEFAULT_EFFORT, EffortSettings, OpenedTransport
from upbeat.adapters.codex_auto.conversation.workflow_bridge import CodexLocation
from upbeat.adapters.codex_auto.sessions.manager import SessionManager
from upbeat.adapters.codex_auto.sessions.session import Lease, Session, process_start_time
from upbeat.adapters.codex_auto.sessions.store import SessionStore
from upbeat.adapters.codex_auto.texts import Texts, load_texts
from upbeat.adapters.codex_auto.view.show import TurnPrinter
from upbeat.core.contract.finding import ToolOutput
from upbeat.core.engine.ports import RepoContext

ENGLISH, CHINESE = load_texts("en"), load_texts("zh")

FIRST = "01a1fbb9-4f32-7d63-9e7f-2b9d3fbd401a"
SECOND = "01a1fbb9-0000-7d63-9e7f-2b9d3fbd401a"
THIRD = "01a1fbb9-1111-7d63-9e7f-2b9d3fbd401a"
NEIGHBOR = Lease(os.getppid(), process_start_time(os.getppid()), os.uname().nodename)
"""Another process that lives as long as this one."""
GONE = Lease(os.getpid(), "0", os.uname().nodename)
"""The process id of this process with another start time: a process that has ended."""


def good(thread_id: str = FIRST, tokens: int = 100, *more: base.TurnEvent) -> list[base.TurnEvent]:
    """The events of a turn that succeeds."""
    return [base.ThreadStarted(thread_id), base.Message("answer"), *more, base.Completed(base.TokenUsage(tokens, 0, 0))]


def store_of(root: Path, own: Lease | None = None) -> SessionStore:
    """The sessions of the repository at ``root``, whose database is next to it."""
    return SessionStore(root.with_name(f"{root.name}-state"), str(root), own)


def save_session(
    root: Path, thread_id: str = FIRST, name: str = "default", updated: str = "2026", **more: Any
) -> Session:
    """Store a session that no process holds."""
    session = Session(thread_id, "then", updated, "/", **{"root": str(root), **more})
    store = store_of(root)
    store.claim(name, session, 0)
    store.release()
    return session


def threads_by_name(store: SessionStore) -> dict[str, list[str]]:
    """The stored threads by the name of their session; the empty name for those without."""
    threads: dict[str, list[str]] = {}
    for row in store.read(0):
        if row.session:
            threads.setdefault(row.name, []).append(row.session.thread_id)
    return threads


class FakeTransport:
    """Implements ``base.Transport``: each turn plays the next events of ``turns``; ``asked`` is what was sent."""

    name = "fake"

    def __init__(self, turns: Sequence[Sequence[base.TurnEvent]] = (), room: int = 1000) -> None:
        self.turns = list(turns)
        self.asked: list[base.TurnInput] = []
        self._room = room
        self.forks: list[str | base.Failed] = []
        """The results of the next forks: the new thread, or why there is none."""
        self.forked: list[str] = []
        self.is_closed = False

    def planned_command(self, thread_id: str, effort: str = "") -> str:
        return f"fake {thread_id} {effort}".strip()

    def remaining_chars(self, prompt: str) -> int:
        return self._room - len(prompt)

    def send(self, ask: base.TurnInput) -> Iterator[base.TurnEvent]:
        self.asked.append(ask)
        yield from self.turns.pop(0)

    def fork(self, thread_id: str) -> str:
        self.forked.append(thread_id)
        result = self.forks.pop(0)
        if isinstance(result, base.Failed):
            raise base.CodexRequestError(result)
        return result

    def close(self) -> None:
        self.is_closed = True


@dataclass
class Scene:
    """A conversation, and all that it touches."""

    conversation: Conversation
    transport: Any
    world: FakeWorld
    printer: TurnPrinter
    root: Path

    @property
    def printed(self) -> str:
        """What was printed next to the answers."""
        return self.printer.status_stream.getvalue()  # type: ignore[attr-defined, no-any-return]

    def turn(self, prompt: str = "hello") -> base.Ending:
        """Run one turn."""
        return self.conversation.run_turn(prompt, self.conversation.resolve_context())

    def stored(self) -> dict[str, str]:
        """The threads that have a name."""
        return {name: threads[0] for name, threads in threads_by_name(store_of(self.root)).items() if name}


def open_scene(
    root: Path,
    *turns: Sequence[base.TurnEvent],
    context: RepoContext | None = None,
    answers: Mapping[str, Any] | None = None,
    world: FakeWorld | None = None,
    transport: FakeTransport | None = None,
    server: AppServerTransport | None = None,
    room: int = 10_000,
    name: str = "default",
    is_new: bool = False,
    texts: Texts = ENGLISH,
    rollouts: RolloutReader | None = None,
    effort: EffortSettings = DEFAULT_EFFORT,
    **settings: Any,
) -> Scene:
    """A conversation at ``root`` whose turns come out as ``turns``, its stored session resumed."""
    resolved = context or repo_context(replace(HERE, root=str(root)), **settings)
    world = world or fake_world(resolved, answers or {"ci_search": ToolOutput("nothing", ())})
    runtime = replace(world.runtime, context_resolver=FakeContextResolver(resolved))
    printer, used = TurnPrinter(StringIO(), StringIO(), texts), server or transport or FakeTransport(turns, room)
    problem = resolved.repository.problem
    sessions = SessionManager(
        None if problem else store_of(root), name, texts, runtime.clock.now, is_named=name != "default"
    )
    sessions.problems += [problem] if problem else []
    opened = OpenedTransport(used, server)
    location = CodexLocation(str(root), None, str(root))
    conversation = Conversation(runtime, opened, printer, location, sessions, rollouts, effort)
    conversation.open_session(is_plan_only=False, is_new=is_new)
    return Scene(conversation, used, world, printer, root)
