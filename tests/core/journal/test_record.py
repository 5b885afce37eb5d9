"""The records, sessions and verification results of the journal as values."""

from __future__ import annotations

from dataclasses import replace

import pytest
from journal_values import ENTRY

from upbeat.core.journal import record
from upbeat.core.workflow.state import NEW_SESSION

SESSION = record.StoredSession("s", "/repo", "codex-cli", NEW_SESSION, 7, 0.0, ENTRY)


@pytest.mark.parametrize(("name", "text"), [("event", "TurnEnding"), ("duration_ms", "3.2"), ("missing", "")])
def test_text_field(name: str, text: str) -> None:
    """A field of any type is returned as text, and a missing one is empty."""
    assert text == ENTRY.text_field(name)


def test_a_renamed_session() -> None:
    """Only a session whose last event is a rename is renamed."""
    renamed = record.JournalEntry(8, {"event": record.SESSION_RENAMED}, "0" * 64, "f" * 64)

    assert [False, True, False] == [replace(SESSION, last_entry=entry).is_renamed for entry in (ENTRY, renamed, None)]


def test_an_intact_journal() -> None:
    """A journal is intact if the chain holds and every state matches its records; pruning does not break it."""
    results = (
        record.VerificationResult(5, 2, 1),
        record.VerificationResult(5, 0, 1, record.ChainBreak(4, "was changed")),
        record.VerificationResult(5, 0, 1, inconsistent_sessions=("s",)),
    )

    assert [True, False, False] == [result.is_intact for result in results]


def test_drop_reasons() -> None:
    """The reasons for dropping an effect differ, and none contains the separator of reasons."""
    reasons = [record.HELD_OUT, record.OVER_CAP, record.OVER_BUDGET, record.DUPLICATE]

    assert 4 == len({*reasons} - {record.DROPPED})
    assert not any(";" in reason for reason in reasons)
