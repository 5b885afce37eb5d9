"""The journal stores the records of sessions and their states; no secret reaches the file."""

from __future__ import annotations

import json
import threading
from dataclasses import replace
from datetime import timedelta

import apsw
import pytest
from journal_values import STARTED, record
from session_journal import SettableClock, change_file, happen, rebuild_state

from upbeat.adapters.system.journal.store import SqliteJournal
from upbeat.core.journal.record import VerificationResult
from upbeat.core.workflow.facts import SessionClosed, TurnContinued, apply_facts
from upbeat.core.workflow.state import NEW_SESSION

KEY = "AKIA" + "Q3EGRRZ7ZKD5LMNO"


def test_records_are_kept(journal: SqliteJournal) -> None:
    """Records are there in order, with their time, number, and a hash that the next one follows on."""
    happen(journal)
    happen(journal, "s-2", event="Tea")
    first, second = journal.records()

    assert [(1, "TurnEnding", "s-1"), (2, "Tea", "s-2")] == [
        (entry.seq, entry.text_field("event"), entry.text_field("session_id")) for entry in (first, second)
    ]
    assert ("2026-01-02T03:04:05.678Z", first.digest) == (first.text_field("at"), second.previous)
    assert (first, None) == (journal.record(1), journal.record(3))


def test_it_is_clean(journal: SqliteJournal) -> None:
    """No secret reaches the file: not in a record, not in a state, not in a name."""
    run = replace(STARTED.run, goal=f"with {KEY}")
    started = replace(STARTED, run=run)
    with journal.transaction() as transaction:
        transaction.append(
            record(f"s {KEY}", f"/{KEY}", event_fields={"problem": f"\x1b[31m{KEY}", KEY: [KEY]}, facts=(started,)),
            replace(apply_facts((started,), NEW_SESSION), handover_client=KEY),
        )
    journal.close()

    assert not [file for file in journal.file.folder.iterdir() if KEY.encode() in file.read_bytes()]
    with journal.transaction() as transaction:
        assert run.steps == (transaction.state(f"s {KEY}").run or run).steps
        assert "<redacted:aws-access-key>" == transaction.state(f"s {KEY}").handover_client
        assert 1 == len(transaction.peer_sessions(f"/{KEY}"))


@pytest.mark.parametrize("goal", [KEY, "x" * 9000, "\u202edo\x00 it"])
def test_a_state_can_be_folded_from_its_records(journal: SqliteJournal, goal: str) -> None:
    """Even if a fact is sanitized, the stored state is the fold of the stored facts."""
    started = replace(STARTED, run=replace(STARTED.run, goal=goal))
    for facts in ((started,), (TurnContinued(f"a{goal}", 1),), (SessionClosed(),)):
        with journal.transaction() as transaction:
            state = transaction.state("s")
            transaction.append(record("s", facts=facts), apply_facts(facts, state))
    [known] = journal.sessions()

    assert goal != (known.state.run or STARTED.run).goal
    assert known.state == rebuild_state(journal, "s")
    assert VerificationResult(3, 0, 1) == journal.verify()


def test_a_block_in_a_block_is_part_of_it(journal: SqliteJournal) -> None:
    """A transaction inside another one is no second one."""

    def both() -> None:
        with journal.transaction() as outer:
            with journal.transaction() as inner:
                inner.append(record())
            raise KeyError(outer is inner)

    with pytest.raises(KeyError, match="True"):
        both()

    assert () == journal.records()


def test_threads_share_it(journal: SqliteJournal) -> None:
    """Threads of one process write one after the other, and lose nothing."""
    threads = [threading.Thread(target=lambda: [happen(journal) for _ in range(10)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert (40, 39) == (len(journal.records()), rebuild_state(journal, "s-1").loop.iterations)


def test_a_clock_that_goes_back(journal: SqliteJournal, clock: SettableClock) -> None:
    """Order is the order of writing, whatever the clock says."""
    happen(journal, "a")
    clock.time -= timedelta(days=400)
    happen(journal, "b")

    assert ["a", "b"] == [entry.text_field("session_id") for entry in journal.records()]
    assert ["b", "a"] == [session.session_id for session in journal.sessions()]
    assert journal.verify().is_intact


def test_an_unreadable_state_is_new_and_told(journal: SqliteJournal) -> None:
    """An unreadable state counts as new, a record reports it, and the session goes on from there."""
    happen(journal)
    change_file(journal, "UPDATE sessions SET state = '{\"run\": 5}'")
    [spoilt] = journal.sessions()
    happen(journal)

    assert (NEW_SESSION, True) == (spoilt.state, "run" in spoilt.problem)
    assert ["TurnEnding", "journal_state_unreadable", "TurnEnding"] == [
        e.text_field("event") for e in journal.records()
    ]
    assert journal.sessions()[0].state == rebuild_state(journal, "s-1") == apply_facts((STARTED,), NEW_SESSION)
    assert journal.verify().is_intact


def test_the_body_is_canonical(journal: SqliteJournal) -> None:
    """The stored body is the hashed text."""
    happen(journal)
    with apsw.Connection(str(journal.file.path)) as connection:
        [(body,)] = connection.execute("SELECT body FROM records").fetchall()

    assert body == json.dumps(json.loads(body), sort_keys=True, ensure_ascii=False, separators=(",", ":"))
