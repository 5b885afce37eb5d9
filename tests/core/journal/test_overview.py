"""Records, sessions and the journal's health as lines and as documents."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from datetime import datetime

from journal_values import BARE, ENTRY, RUN

from upbeat.core.journal.chain import ChainBreak
from upbeat.core.journal.codec import encode_record
from upbeat.core.journal.entry import (
    SESSION_RENAMED,
    JournalEntry,
    JournalHealth,
    PruneResult,
    StoredSession,
    VerificationResult,
)
from upbeat.core.journal.overview import (
    entry_line,
    format_time,
    health_lines,
    log_document,
    prune_lines,
    status_document,
    status_text,
    verification_document,
    verification_lines,
)
from upbeat.core.journal.record import Record
from upbeat.core.messages.catalogue import load_messages
from upbeat.core.workflow.state import NEW_SESSION, LoopState, StepStatus, WorkflowRun

EN = load_messages("journal", "en")
HEALTH = JournalHealth("/s/upbeat/journal.db", True, 3 * 1024 * 1024, 1234, 5, "2026-01-01T00:00:00.000Z", "", "wal")


def test_a_line() -> None:
    """A record on one line: number, time, client, session, event, what was decided and done, milliseconds."""
    assert (
        "     7  2026-01-02 03:04:05Z  claude-code  s-1       TurnEnding          "
        "loop continue_turn; → continue_turn 15  3.2 ms" == entry_line(ENTRY)
    )
    assert "     8  2026-01-02 03:04:05Z  -            -         Tea                 0.0 ms" == entry_line(BARE)


def test_the_document_of_the_log() -> None:
    """Each record is there as it is stored, with its place in the chain."""
    told = log_document([ENTRY])

    assert {
        "schema_version": "1.0",
        "records": [{"seq": 7, **ENTRY.body, "previous": "0" * 64, "hash": "f" * 64}],
    } == told
    assert told == json.loads(json.dumps(told))


def session(
    run: WorkflowRun | None = None, loop: LoopState = NEW_SESSION.loop, problem: str = "", **more: object
) -> StoredSession:
    state = replace(NEW_SESSION, run=run, loop=loop, **more)  # type: ignore[arg-type]
    return StoredSession("session-1", "/repo", "codex-cli", state, 7, 1767323045.0, ENTRY, problem)


WORKING = replace(
    RUN,
    steps=(
        replace(RUN.steps[0], status=StepStatus.DONE),
        replace(RUN.steps[1], status=StepStatus.ACTIVE),
        RUN.steps[2],
    ),
)


def test_status() -> None:
    """The sessions of a repository, a line each, and how the journal is."""
    sessions = (
        session(WORKING, LoopState(iterations=4)),
        session(RUN, LoopState(end_reason="no progress"), has_ended=True),
        session(),
        session(problem="run: not\na run"),
    )

    assert """\
/repo
  codex-cli  session-  standard running  DEV (1/3 done)  continued 4 times  TurnEnding at 2026-01-02 03:04:05Z
  codex-cli  session-  standard running  PLAN (0/3 done)  continued 0 times  loop ended: no progress  closed  \
TurnEnding at 2026-01-02 03:04:05Z
  codex-cli  session-  no workflow  TurnEnding at 2026-01-02 03:04:05Z
  codex-cli  session-  its state cannot be read (run: not a run), so it is treated as a new session  \
TurnEnding at 2026-01-02 03:04:05Z
journal: /s/upbeat/journal.db: 1,234 records of 5 sessions, 3.0 MB, since 2026-01-01 00:00:00Z
  healthy (wal)""" == status_text("/repo", sessions, HEALTH, EN)


def test_a_session_that_got_another_name_is_not_listed() -> None:
    """All of it goes on under that name."""
    renamed = JournalEntry(7, encode_record(Record("2026-01-02T03:04:05.678Z", SESSION_RENAMED)), "0" * 64, "f" * 64)
    sessions = (replace(session(RUN), last_entry=renamed), replace(session(), last_entry=None))

    assert 1 == status_text("/repo", sessions, HEALTH, EN).count("session-  ")
    assert [None] == [one["workflow"] for one in status_document("/repo", sessions, HEALTH)["sessions"]]
    assert f"  {EN['no_session']}" in status_text("/repo", sessions[:1], HEALTH, EN).splitlines()


def test_the_document_of_the_status() -> None:
    """Workflow, stages, loop and last event are data, too."""
    told = status_document("/repo", (session(WORKING, LoopState(iterations=4)), session()), HEALTH)
    first, second = told["sessions"]

    assert {
        "session_id": "session-1",
        "client": "codex-cli",
        "root": "/repo",
        "updated_at": "2026-01-02T03:04:05Z",
        "has_ended": False,
        "compactions": 0,
        "workflow": {
            "name": "standard",
            "feature": "",
            "goal": "",
            "status": "running",
            "reason": "",
            "stages": ["DEV"],
            "done": 1,
            "steps": 3,
        },
        "loop": {"iterations": 4, "consecutive_errors": 0, "turns_without_progress": 0, "end_reason": ""},
        "last_event": {"seq": 7, "event": "TurnEnding", "at": "2026-01-02T03:04:05.678Z"},
        "problem": "",
    } == first
    assert (None, "1.0", "/repo") == (second["workflow"], told["schema_version"], told["repository"])
    assert {each.name for each in fields(JournalHealth)} == set(told["journal"])


def test_the_health_of_the_journal() -> None:
    """What is wrong is told with what there is to do."""
    bad = replace(HEALTH, problem="disk full", write_failures=3, last_failure="now", damaged_files=("a.db", "b.db"))

    assert ["journal: /x: does not exist yet; the first event creates it"] == list(
        health_lines(JournalHealth("/x", False), EN)
    )
    assert [
        "/s/upbeat/journal.db",
        "  NOTHING CAN BE STORED: disk full",
        "  3 events could not be stored, the last: now; upbeat log prune resets the count",
        "  damaged files were renamed: a.db, b.db; delete them if you do not need them",
    ] == list(health_lines(bad, EN))


def test_what_was_pruned_and_verified() -> None:
    """The results of pruning and verifying, as text and as data."""
    broken = VerificationResult(5, 2, 1, ChainBreak(4, "was changed after it was written"), ("s",))

    assert ["2 records and 1 sessions removed; the journal takes 3.0 MB"] == list(
        prune_lines(PruneResult(2, 1), HEALTH, EN)
    )
    assert 2 == len(list(prune_lines(PruneResult(2, 1, is_finished=False), HEALTH, EN)))
    assert ["5 records, 1 sessions: unchanged since they were written, and every state matches its records"] == list(
        verification_lines(VerificationResult(5, 0, 1), EN)
    )
    assert [
        "2 older records were pruned",
        "BROKEN at record 4: it was changed after it was written; the records before it can be trusted",
        "the state of session s does not match its records; please report it",
    ] == list(verification_lines(broken, EN))
    assert {
        "schema_version": "1.0",
        "is_intact": False,
        "records": 5,
        "pruned_records": 2,
        "sessions": 1,
        "chain_break": {"seq": 4, "problem": "was changed after it was written"},
        "inconsistent_sessions": ["s"],
    } == verification_document(broken)


def test_moments() -> None:
    """A time is shown without T and milliseconds; what is none is shown as it is."""
    assert ("2026-01-02 03:04:05Z", "", "soon") == (
        format_time("2026-01-02T03:04:05.678Z"),
        format_time(""),
        format_time("soon"),
    )
    assert datetime.fromisoformat(format_time("2026-01-02T03:04:05.678Z"))
