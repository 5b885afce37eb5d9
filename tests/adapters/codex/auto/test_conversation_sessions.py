"""What a conversation does with sessions: another one, a new one, a copy, and none that somebody else has."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from io import StringIO
from pathlib import Path

from fakes.codex.transport import FakeTransport
from fakes.runtime import fake_world
from fakes.surroundings import HERE, situation

from upbeat.adapters.codex.auto.leases import Lease, Leases, started
from upbeat.adapters.codex.auto.session import Session, SessionFile
from upbeat.adapters.codex.auto.sessions import Known
from upbeat.adapters.codex.auto.show import Show
from upbeat.adapters.codex.auto.texts import ENGLISH
from upbeat.adapters.codex.auto.transport import Ask, Completed, Event, Failed, Message, ThreadStarted, Usage, Why
from upbeat.adapters.codex.auto.turn import Conversation, Place
from upbeat.core.settings import Mode, Switch

FIRST = "01a1fbb9-4f32-7d63-9e7f-2b9d3fbd401a"
SECOND = "01a1fbb9-0000-7d63-9e7f-2b9d3fbd401a"
NOW = "2026-01-02T03:04:05.678Z"
NEIGHBOUR = Lease(os.getppid(), started(os.getppid()), os.uname().nodename)


def good(thread_id: str) -> list[Event]:
    return [ThreadStarted(thread_id), Message("answer"), Completed(Usage(100, 0, 0))]


def conversation(
    root: Path, *turns: Sequence[Event], name: str = "default", mode: Mode = Mode.RUN, new: bool = False
) -> tuple[Conversation, FakeTransport]:
    here = situation(replace(HERE, root=str(root)), enabled=Switch.OFF, mode=mode)
    transport = FakeTransport(turns)
    made = Conversation(
        fake_world(here, {}).runtime,
        transport,
        Show(StringIO(), StringIO(), ENGLISH),
        Place(None, str(root)),
        name,
        is_named=name != "default",
    )
    made.resume(plan=False, new=new)
    return made, transport


def turn(made: Conversation, prompt: str = "hello") -> Event:
    return made.turn(prompt, made.situate())


def told(made: Conversation) -> str:
    return made._show.aside.getvalue()  # type: ignore[attr-defined, no-any-return]


def test_a_session_that_somebody_has_gets_no_prompt(tmp_path: Path) -> None:
    """Named by the person: the turn fails before anything is prepared or sent, and works when it is free."""
    SessionFile(str(tmp_path), "mine").save(Session(FIRST, NOW, NOW, "/"))
    Leases(str(tmp_path), NEIGHBOUR).take("mine", FIRST, 0)
    made, transport = conversation(tmp_path, good(FIRST), name="mine")
    first = turn(made)
    Leases(str(tmp_path), NEIGHBOUR).release()

    assert Failed(Why.ACTIVE_WRITER, f"process {NEIGHBOUR.pid}") == first
    assert Completed(Usage(100)) == turn(made)
    assert [Ask("hello", "", FIRST)] == transport.asked


def test_a_new_thread_does_not_lose_the_former(tmp_path: Path) -> None:
    """--new begins another, and the thread of before can be taken up by its number."""
    turn(conversation(tmp_path, good(FIRST))[0], "first prompt")
    made, transport = conversation(tmp_path, good(SECOND), good(FIRST), new=True)
    turn(made, "second prompt")
    number = [one.thread_id for one in made.known()].index(FIRST) + 1
    known = {one.thread_id: one for one in made.known()}
    made.take_up(str(number))
    turn(made)

    assert Known(SECOND, "default", NOW, "second prompt", is_current=True) == known[SECOND]
    assert Known(FIRST, "", NOW, "first prompt") == known[FIRST]
    assert ["", FIRST] == [ask.thread_id for ask in transport.asked]


def test_a_fork_goes_on_beside_its_origin(tmp_path: Path) -> None:
    """The next turn is on the copy; the origin keeps its name."""
    made, transport = conversation(tmp_path, good(FIRST), good(SECOND))
    turn(made)
    transport.forks = [SECOND]
    said = made.fork()
    turn(made)

    assert "this is session default-2 now" in said
    assert ([FIRST], ["", SECOND]) == (transport.forked, [ask.thread_id for ask in transport.asked])
    assert "codex-auto --session default-2" == made.resume_command()
    assert "tokens of the whole session" in told(made)


def test_a_fork_that_fails_changes_nothing(tmp_path: Path) -> None:
    """Codex's reason is shown; before the first prompt there is nothing to ask it for."""
    made, transport = conversation(tmp_path, good(FIRST))
    nothing = made.fork()
    turn(made)
    transport.forks = [Failed(Why.NO_ROLLOUT, "gone")]

    assert ("there is nothing to fork before the first prompt", "") == (nothing, made.fork())
    assert "does not know this session any more" in told(made)
    assert ("default", FIRST) == (made.name, made.session.thread_id if made.session else "")


def test_codex_exec_cannot_compact(tmp_path: Path) -> None:
    """There is no app-server to ask."""
    assert conversation(tmp_path)[0].compact() is None


def test_plan_mode_takes_no_session(tmp_path: Path) -> None:
    """Settings that want plans leave no lease; when they change, the turn takes the session first."""
    made, _ = conversation(tmp_path, good(FIRST), mode=Mode.PLAN)
    before = os.listdir(tmp_path)
    turn(made)

    assert [] == before
    assert ["default"] == list(Leases(str(tmp_path), NEIGHBOUR).living(0))


def test_closing_ends_the_way_and_frees_the_session(tmp_path: Path) -> None:
    """Nothing outlives a conversation."""
    made, transport = conversation(tmp_path)
    made.close()

    assert (True, {}) == (transport.is_closed, Leases(str(tmp_path), NEIGHBOUR).living(0))
