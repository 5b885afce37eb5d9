"""Every journal does the same: the real one on disk, the real one where nothing can be stored, the one for tests."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from fakes.clock import FakeClock
from fakes.journal import MemoryJournal
from journal_values import RUN, STARTED, record, step

from upbeat.adapters.system.journal.store import SqliteJournal
from upbeat.core.engine.ports import Journal
from upbeat.core.workflow.facts import SessionBegan, SessionClosed, apply_facts
from upbeat.core.workflow.state import NEW_SESSION, SessionState

Make = Callable[[Path], Journal]


def on_disk(folder: Path) -> Journal:
    return SqliteJournal(folder, FakeClock())


def in_memory(folder: Path) -> Journal:
    return MemoryJournal()


def nowhere(folder: Path) -> Journal:
    (folder / "upbeat").write_text("in the way")
    return SqliteJournal(folder, FakeClock())


@pytest.fixture(params=[on_disk, in_memory])
def journal(request: pytest.FixtureRequest, tmp_path: Path) -> Journal:
    made: Journal = request.param(tmp_path)
    return made


def happen(journal: Journal, session_id: str, number: int = 1, root: str = "/repo") -> SessionState:
    with journal.transaction() as transaction:
        facts, state = step(transaction.state(session_id), number)
        transaction.append(record(session_id, root, facts=facts), state)
    return state


def state_of(journal: Journal, session_id: str) -> SessionState:
    with journal.transaction() as transaction:
        return transaction.state(session_id)


def peer_sessions_of(journal: Journal, root: str) -> list[str]:
    with journal.transaction() as transaction:
        return [session.session_id for session in transaction.peer_sessions(root)]


def test_an_unknown_session_is_new(journal: Journal) -> None:
    """Nobody is known at first."""
    assert (NEW_SESSION, []) == (state_of(journal, "s"), peer_sessions_of(journal, "/repo"))


def test_a_state_is_there_for_the_next_event(journal: Journal) -> None:
    """What one transaction stored the next one reads."""
    first = happen(journal, "s")
    second = happen(journal, "s", 2)

    assert (RUN, 1, second) == (first.run, second.loop.iterations, state_of(journal, "s"))


def test_a_transaction_sees_what_it_appended(journal: Journal) -> None:
    """Inside the block the new state is the present one."""
    with journal.transaction() as transaction:
        facts, state = step(transaction.state("s"), 1)
        transaction.append(record("s", facts=facts), state)

        assert state == transaction.state("s")
        assert ["s"] == [session.session_id for session in transaction.peer_sessions("/repo")]


def test_an_unchanged_state_stays(journal: Journal) -> None:
    """A record without a state leaves the state as it is."""
    state = happen(journal, "s")
    with journal.transaction() as transaction:
        transaction.append(record("s", event="Tea"))

    assert state == state_of(journal, "s")


def test_what_raises_is_undone(journal: Journal) -> None:
    """An exception in the block goes to the caller, and nothing of the block is left."""
    state = happen(journal, "s")

    def fail() -> None:
        with journal.transaction() as transaction:
            transaction.append(record("s", facts=(SessionClosed(),)), replace(state, has_ended=True))
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        fail()

    assert state == state_of(journal, "s")
    assert 2 == happen(journal, "s", 2).loop.iterations + 1


def test_sessions_are_apart(journal: Journal) -> None:
    """Two sessions whose events alternate do not see each other's state."""
    for number in range(3):
        for session_id in ("a", "b"):
            if session_id == "a" or number:
                happen(journal, session_id, number)

    assert (2, 1) == (state_of(journal, "a").loop.iterations, state_of(journal, "b").loop.iterations)


def test_peer_sessions(journal: Journal) -> None:
    """The peer sessions are those of a repository that have a run, the latest first."""
    for session_id, root in (("a", "/repo"), ("b", "/other"), ("c", "/repo"), ("a", "/repo")):
        happen(journal, session_id, 2, root)
    with journal.transaction() as transaction:
        transaction.append(
            record("idle", "/repo", facts=(SessionBegan("codex-cli", "/repo"),)), replace(NEW_SESSION, root="/repo")
        )

    assert (["a", "c"], ["b"], []) == tuple(peer_sessions_of(journal, root) for root in ("/repo", "/other", "/none"))


def test_a_state_says_where_its_session_is(journal: Journal) -> None:
    """A session is a peer where its state says it is, whatever folder an event happened in."""
    facts = (SessionBegan("codex-cli", "/home"), STARTED)
    with journal.transaction() as transaction:
        transaction.append(record("s", "/elsewhere", facts=facts), apply_facts(facts, NEW_SESSION))

    assert (["s"], []) == (peer_sessions_of(journal, "/home"), peer_sessions_of(journal, "/elsewhere"))


def test_at_most_fifty_peer_sessions(journal: Journal) -> None:
    """Of many peer sessions the latest fifty are returned."""
    for number in range(55):
        happen(journal, f"s{number}")

    assert [f"s{number}" for number in range(54, 4, -1)] == peer_sessions_of(journal, "/repo")


@pytest.mark.parametrize("make", [on_disk, in_memory, nowhere])
def test_events_without_a_session_have_no_state(make: Make, tmp_path: Path) -> None:
    """What belongs to no session is recorded, and changes none."""
    journal = make(tmp_path)
    with journal.transaction() as transaction:
        transaction.append(record("", facts=(STARTED,)), replace(NEW_SESSION, run=RUN))

    assert (NEW_SESSION, []) == (state_of(journal, ""), peer_sessions_of(journal, "/repo"))


def test_where_nothing_can_be_stored(tmp_path: Path) -> None:
    """A transaction works on empty state, sees its own changes, and raises nothing but what is raised in it."""
    journal = nowhere(tmp_path)
    with journal.transaction() as transaction:
        facts, state = step(transaction.state("s"), 1)
        transaction.append(record("s", facts=facts), state)

        assert (state, ()) == (transaction.state("s"), transaction.peer_sessions("/repo"))
    with pytest.raises(KeyError), journal.transaction():
        raise KeyError

    assert NEW_SESSION == state_of(journal, "s")
