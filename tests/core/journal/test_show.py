"""Records, sessions and the journal's health as text, in both languages, and as documents."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from pathlib import Path

import pytest
from journal_values import BARE, ENTRY, RUN
from workflow_play import registry

from upbeat.core.journal import record, show
from upbeat.core.journal.codec import encode_record
from upbeat.core.workflow.state import (
    NEW_SESSION,
    Evidence,
    LoopState,
    RunStatus,
    StepStatus,
    StepVerdict,
    SubagentCall,
    WorkflowRun,
)

HEALTH = record.JournalHealth(
    "/s/upbeat/journal.db", True, 3 * 1024 * 1024, 1234, 5, "2026-01-01T00:00:00.000Z", "", "wal"
)


def expected(name: str) -> str:
    """The expected text in the folder ``expected``."""
    return (Path(__file__).parent / "expected" / name).read_text(encoding="utf-8").removesuffix("\n")


def test_a_line() -> None:
    """A record on one line has its number, time, client, session, event, decisions, effects and duration."""
    assert (
        "     7  2026-01-02 03:04:05Z  claude-code  s-1       TurnEnding          "
        "loop: turn continued; → turn continued, 15 characters  3.2 ms" == show.entry_line(ENTRY, "en")
    )
    assert "     8  2026-01-02 03:04:05Z  -            -         Tea                 0.0 ms" == show.entry_line(
        BARE, "en"
    )


def test_the_document_of_the_log() -> None:
    """The document of the log has each record as it is stored, with its place in the chain."""
    document = show.log_document([ENTRY])

    assert {
        "schema_version": "1.0",
        "records": [{"seq": 7, **ENTRY.body, "previous": "0" * 64, "hash": "f" * 64}],
    } == document
    assert document == json.loads(json.dumps(document))


def session(
    run: WorkflowRun | None = None, loop: LoopState = NEW_SESSION.loop, problem: str = "", **more: object
) -> record.StoredSession:
    state = replace(NEW_SESSION, run=run, loop=loop, **more)  # type: ignore[arg-type]
    return record.StoredSession("session-1", "/repo", "codex-cli", state, 7, 1767323045.0, ENTRY, problem)


WORKING = replace(
    RUN,
    steps=(
        replace(RUN.steps[0], status=StepStatus.DONE, verdict=StepVerdict.PASS, attempts=2),
        replace(RUN.steps[1], status=StepStatus.ACTIVE),
        replace(RUN.steps[2], verdict=StepVerdict.UNCLEAR, attempts=1),
    ),
    id="019b7d6a0b88-abcdef",
    calls=(
        SubagentCall("call-1", "DEV", "upbeat:developer", "agent-1", started_at=1767323044.0),
        SubagentCall("call-0", "DEV", "upbeat:developer", "agent-0", verdict=StepVerdict.PASS),
    ),
)
RAN = Evidence("tests", "pytest", "tree", 0, "call-9", 1767323043.0)


def test_status() -> None:
    """The status has a line for each session of the repository, and the health of the journal."""
    sessions = (
        session(WORKING, LoopState(iterations=4)),
        session(RUN, LoopState(end_reason="no_progress", turns_without_progress=3), has_ended=True),
        session(),
        session(problem="run: not\na run"),
    )

    assert expected("status.txt") == show.status_text("/repo", sessions, HEALTH, "en")


@pytest.mark.parametrize(
    ("language", "text"),
    [
        (
            "en",
            "needs you  (2/3 done)  not passed: TEST  TEST has used all its attempts; say continue in the session",
        ),
        ("zh", "需要你  （已完成 2/3）  未通过：TEST  TEST 已用完所有重试次数；在该会话中说“继续”即可重试"),
    ],
)
def test_a_workflow_that_waits_for_its_user(language: str, text: str) -> None:
    """The status says which step waits for the user, and how to go on; a failed step is not done."""
    done = replace(RUN.steps[0], status=StepStatus.DONE, verdict=StepVerdict.PASS)
    steps = (done, replace(done, key="DEV"), replace(done, key="TEST", verdict=StepVerdict.FAIL, attempts=3))
    run = replace(RUN, steps=steps, status=RunStatus.NEEDS_HUMAN, reason="TEST")
    loop = LoopState(end_reason="needs_human")

    assert text in show.status_text("/repo", [session(run, loop)], HEALTH, language)
    [listed] = show.status_document("/repo", [session(run, loop)], HEALTH)["sessions"]
    assert ("needs_human", 2, ["TEST"]) == (
        listed["needs_user"],
        listed["workflow"]["done"],
        listed["workflow"]["failed"],
    )
    tested = listed["workflow"]["step_details"][2]
    assert ("done", "fail", 3, 3) == tuple(tested[name] for name in ("state", "result", "tries", "failures"))


def test_a_turn_that_ended_in_a_question() -> None:
    """The status says that it is the user's turn, and what to do."""
    shown = show.status_text("/repo", [session(WORKING, LoopState(waits_for="question"))], HEALTH, "en")

    assert "standard needs you" in shown
    assert "it has asked you something; answer in the session" in shown


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "x: context injected, user notified; loop: turn may end; y: could not be evaluated; z: new word"),
        ("zh", "x: 注入上下文, 通知用户; loop: 允许结束回合; y: 无法判断; z: new word"),
    ],
)
def test_decisions_in_words(language: str, text: str) -> None:
    """Names of decisions and effects are shown in the words of the catalogue."""
    decisions = {
        "x": "InjectContext, NotifyUser",
        "loop": "allow_end",
        "y": "could not evaluate",
        "z": "new_word",
    }
    explanations = [{"component": name, "decision": decision} for name, decision in decisions.items()]

    assert text in show.entry_line(record.JournalEntry(1, {"explanations": explanations}, "", ""), language)


def test_a_renamed_session_is_not_listed() -> None:
    """A session that continues under another name is not listed."""
    renamed = record.JournalEntry(
        7, encode_record(record.Record("2026-01-02T03:04:05.678Z", record.SESSION_RENAMED)), "0" * 64, "f" * 64
    )
    sessions = (replace(session(RUN), last_entry=renamed), replace(session(), last_entry=None))

    assert 1 == show.status_text("/repo", sessions, HEALTH, "en").count("session-  ")
    assert [None] == [listed["workflow"] for listed in show.status_document("/repo", sessions, HEALTH)["sessions"]]
    assert "  no session in this repository yet" in show.status_text("/repo", sessions[:1], HEALTH, "en").splitlines()


def test_the_document_of_the_status() -> None:
    """The document of the status has the workflow, its stages, the loop and the last event."""
    working = session(WORKING, LoopState(iterations=4), evidence=(RAN,))
    document = show.status_document("/repo", (working, session()), HEALTH, registry().stages)
    first, second = document["sessions"]

    assert json.loads(expected("status.json")) == first
    assert (None, "1.0", "/repo") == (second["workflow"], document["schema_version"], document["repository"])
    assert {each.name for each in fields(record.JournalHealth)} == set(document["journal"])


def test_the_health_of_the_journal() -> None:
    """A problem of the journal is described with its fix."""
    bad = replace(HEALTH, problem="disk full", write_failures=3, last_failure="now", damaged_files=("a.db", "b.db"))

    assert ["journal: /x: does not exist yet; the first event creates it"] == list(
        show.health_lines(record.JournalHealth("/x", False), "en")
    )
    assert [
        "/s/upbeat/journal.db",
        "  NOTHING CAN BE STORED: disk full",
        "  3 events could not be stored, the last: now; upbeat log prune resets the count",
        "  damaged files were renamed: a.db, b.db; delete them if you do not need them",
    ] == list(show.health_lines(bad, "en"))


def test_what_was_pruned_and_verified() -> None:
    """The results of pruning and verifying are available as text and as data."""
    broken = record.VerificationResult(5, 2, 1, record.ChainBreak(4, "was changed after it was written"), ("s",))

    assert ["2 records and 1 session removed; the journal takes 3.0 MB"] == list(
        show.prune_lines(record.PruneResult(2, 1), HEALTH, "en")
    )
    assert 2 == len(list(show.prune_lines(record.PruneResult(2, 1, is_finished=False), HEALTH, "en")))
    assert ["5 records, 1 session: unchanged since they were written, and every state matches its records"] == list(
        show.verification_lines(record.VerificationResult(5, 0, 1), "en")
    )
    assert [
        "pruned before: 2 records",
        "BROKEN at record 4: it was changed after it was written; the records before it can be trusted",
        "the state of session s does not match its records; please report it",
    ] == list(show.verification_lines(broken, "en"))
    assert {
        "schema_version": "1.0",
        "is_intact": False,
        "records": 5,
        "pruned_records": 2,
        "sessions": 1,
        "chain_break": {"seq": 4, "problem": "was changed after it was written"},
        "inconsistent_sessions": ("s",),
    } == show.verification_document(broken)
    assert {"schema_version": "1.0", "records": 2, "sessions": 1, "is_finished": True, "size_bytes": 3145728} == (
        show.prune_document(record.PruneResult(2, 1), HEALTH)
    )


def test_a_malformed_record_has_a_line() -> None:
    """A record with values of the wrong types is listed without an error."""
    malformed = record.JournalEntry(9, {"event": 5, "explanations": "x", "effects": [3], "duration_ms": "y"}, "", "")

    assert "     9  -            -         5                   y ms" == show.entry_line(malformed, "en")
