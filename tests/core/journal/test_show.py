"""Records, sessions and the journal's health as text, in both languages, and as documents."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from pathlib import Path

from journal_values import ENTRY, RUN
from workflow_play import registry

from upbeat.core.journal import record, show
from upbeat.core.workflow.state import (
    NEW_SESSION,
    Evidence,
    LoopState,
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


def test_the_document_of_the_status() -> None:
    """The document of the status has the workflow, its stages, the loop and the last event."""
    working = session(WORKING, LoopState(iterations=4), evidence=(RAN,))
    document = show.status_document("/repo", (working, session()), HEALTH, registry().stages)
    first, second = document["sessions"]

    assert json.loads(expected("status.json")) == first
    assert (None, "1.0", "/repo") == (second["workflow"], document["schema_version"], document["repository"])
    assert {each.name for each in fields(record.JournalHealth)} == set(document["journal"])


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
