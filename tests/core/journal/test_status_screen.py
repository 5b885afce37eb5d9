"""The screen of ``upbeat status``: the answer first, open workflows drawn, golden in both languages."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from journal_values import ENTRY, RUN
from wcwidth import wcswidth

from upbeat.core.journal import record
from upbeat.core.journal.codec import encode_record
from upbeat.core.journal.status_screen import health_lines, status_lines
from upbeat.core.messages.layout import Screen, to_text
from upbeat.core.workflow.state import (
    NEW_SESSION,
    Evidence,
    LoopState,
    RunStatus,
    SessionState,
    StepStatus,
    StepVerdict,
    SubagentCall,
    WorkflowRun,
    WorkflowStep,
)

EXPECTED = Path(__file__).parent / "expected"
AT = 1767323045.0
NOW = datetime.fromtimestamp(AT, UTC) + timedelta(minutes=3)
HEALTH = record.JournalHealth(
    "/s/upbeat/journal.db", True, 3 * 1024 * 1024, 1234, 5, "2026-01-01T00:00:00.000Z", "", "wal"
)
DONE = StepStatus.DONE
WORKING = WorkflowRun(
    "019b7d6a0b88-abcdef",
    "quick",
    (
        WorkflowStep("PLAN", "PLAN", 0, "", DONE, StepVerdict.PASS, 1),
        WorkflowStep("DEV", "DEV", 1, "", DONE, StepVerdict.PASS, 2),
        WorkflowStep("REVIEW", "REVIEW", 2, "", StepStatus.ACTIVE),
        WorkflowStep("TEST", "TEST", 2, "verify", DONE, StepVerdict.FAIL, 3, "the total of 100 is off by one"),
        WorkflowStep("DOCS", "DOCS", 3),
    ),
    goal="give a cart of exactly 100 the discount",
    calls=(SubagentCall("c", "REVIEW", "upbeat:code-reviewer", "a", started_at=AT),),
)
EVIDENCE = (
    Evidence("tests", "python -m pytest -q", "tree", 1, "c1", AT - 60),
    Evidence("tests", "python -m pytest -q | tail -1", "tree", 0, "c2", AT, True, "hidden", "pytest"),
)


def session(run: WorkflowRun | None = None, problem: str = "", **state: object) -> record.StoredSession:
    known = replace(NEW_SESSION, run=run, **state)  # type: ignore[arg-type]
    return record.StoredSession("session-1", "/repo", "codex-cli", known, 7, AT, ENTRY, problem)


def shown(*sessions: record.StoredSession, language: str = "en", roots: tuple[str, ...] = ()) -> str:
    return to_text(status_lines("/repo", sessions, HEALTH, Screen(language, 80, NOW), roots))


@pytest.mark.parametrize("language", ["en", "zh"])
def test_golden(language: str) -> None:
    """A workflow at work, one that its limits ended, a complete one, none, and an unreadable state."""
    stuck = replace(RUN, status=RunStatus.NEEDS_HUMAN, reason="PLAN")
    complete = replace(RUN, status=RunStatus.COMPLETE)
    sessions = (
        session(WORKING, loop=LoopState(iterations=4), evidence=EVIDENCE),
        session(stuck, has_ended=True),
        session(complete),
        session(),
        session(problem="run: not\na run"),
    )

    assert (EXPECTED / f"status_screen_{language}.txt").read_text(encoding="utf-8") == (
        shown(*sessions, language=language) + "\n"
    )


@pytest.mark.parametrize(
    ("session", "language", "answer"),
    [
        (
            session(replace(RUN, status=RunStatus.NEEDS_HUMAN, reason="TEST")),
            "en",
            "standard needs you: TEST has used all its attempts; say continue in the session",
        ),
        (session(WORKING), "en", "quick running: 2 of 5 steps passed, now REVIEW."),
        (session(WORKING), "zh", "quick 运行中：5 个步骤中已通过 2 个，当前 REVIEW。"),
        (
            session(WORKING, loop=LoopState(waits_for="question")),
            "en",
            "quick needs you: it has asked you something; answer in the session.",
        ),
        (
            session(RUN, loop=LoopState(end_reason="no_progress", turns_without_progress=3)),
            "en",
            "standard needs you: loop ended: no progress in 3 turns; say continue in the",
        ),
        (session(), "en", "No workflow is open here; 1 session, the last active 3 min ago."),
    ],
)
def test_the_first_line_is_the_answer(session: record.StoredSession, language: str, answer: str) -> None:
    """The first line says where the work stands, and what to do if it waits for its user."""
    assert answer == shown(session, language=language).splitlines()[0]


def test_other_repositories() -> None:
    """Where this repository has no session, those that have are named; a renamed session is none."""
    renamed = record.JournalEntry(7, encode_record(record.Record("2026", record.SESSION_RENAMED)), "", "")
    text = shown(replace(session(RUN), last_entry=renamed), roots=("/a", "/b"))

    assert "No session of a client with upbeat is recorded for this repository yet." == text.splitlines()[0]
    assert "the journal has sessions of /a, /b; pass one with --repo" in text


def test_the_health_of_the_journal() -> None:
    """A problem of the journal is described with its fix, and is the answer."""
    bad = replace(HEALTH, problem="disk full", write_failures=3, last_failure="now", damaged_files=("a.db", "b.db"))

    assert "· journal: /x: does not exist yet; the first event creates it" == to_text(
        health_lines(record.JournalHealth("/x", False), Screen())
    )
    assert [
        "✗ NOTHING CAN BE STORED: disk full",
        "  /s/upbeat/journal.db",
        "! 3 events could not be stored, the last: now; upbeat log prune resets the count",
        "! damaged files were renamed: a.db, b.db; delete them if you do not need them",
    ] == to_text(health_lines(bad, Screen())).splitlines()
    assert "NOTHING CAN BE STORED: disk full." == next(status_lines("/r", (), bad, Screen())).text


NAMES = st.text(st.sampled_from("ab/-_:店 铺\té\n\x1b"), min_size=1, max_size=90)


@given(NAMES, NAMES, NAMES, st.integers(40, 100))
def test_no_line_is_wider_than_the_screen(name: str, goal: str, command: str, columns: int) -> None:
    """Whatever the names, goals, notes and commands are, every line fits."""
    steps = tuple(WorkflowStep(f"{name}{n}", name, n // 2, name, DONE, StepVerdict.FAIL, 1, goal) for n in range(3))
    run = WorkflowRun("r", name, (*steps, WorkflowStep(goal, name, 3)), goal)
    state = SessionState(run=run, evidence=(Evidence("tests", command, "t", 1, observed_at=AT),))
    sessions = [record.StoredSession(name, name, name, each, 7, AT) for each in (state, NEW_SESSION)]
    lines = status_lines(f"/{name}", sessions, HEALTH, Screen("zh", columns, NOW))

    assert [] == [line for line in lines if wcswidth(line.text) > columns or "\n" in line.text]
