"""Past sessions: the clients' own records first, then the journal, with how each call ended."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from past import AT, transcript

from upbeat.adapters.clients.history import SessionHistory
from upbeat.adapters.clients.registry import CLIENTS
from upbeat.adapters.system.environment import read_environment
from upbeat.core.contract.event import ToolStarting
from upbeat.core.journal.record import JournalEntry
from upbeat.core.rules.backtest import CallStatus, HistoryItem, RecordedCallEnd, RecordedEvent

CALL = {"call_id": "c", "tool": "Read", "input": {"file_path": "a.py"}}


def body(event: str, client: str = "claude-code", **fields: Any) -> dict[str, Any]:
    """A record of the journal."""
    common = {"at": AT, "root": "/repo", "client": client, "session_id": "s", "event": event}
    return {**common, "event_fields": CALL | fields, "effects": []}


def history(home: Path, *bodies: dict[str, Any]) -> SessionHistory:
    """The past in ``home``, with a journal of records with these bodies."""

    def entries(_since: str) -> Iterator[JournalEntry]:
        return (JournalEntry(number, record, "", "") for number, record in enumerate(bodies))

    return SessionHistory(CLIENTS, read_environment({"HOME": str(home)}), entries)


def journal_items(*bodies: dict[str, Any]) -> list[HistoryItem]:
    """What the journal alone tells of the past."""
    [source] = history(Path("/nowhere"), *bodies).sources(0)
    return list(source.events)


def test_the_most_recent_record_comes_first_and_the_journal_last(tmp_path: Path) -> None:
    """Records of all clients are in one order; a record from before the time is left out."""
    for number, session in enumerate(("old", "first", "second")):
        path = transcript(tmp_path, {"c": ("ls", "out")}, session)
        os.utime(path, (1000 + number, 1000 + number))
    sources = history(tmp_path).sources(1001)

    assert ["second.jsonl", "first.jsonl", ""] == [os.path.basename(source.path) for source in sources]
    assert [True, True, False] == [bool(list(source.events)) for source in sources]


def test_a_call_in_the_journal_gets_its_paths_from_the_client() -> None:
    """The journal has only the client's input of a call; records that are no event are skipped."""
    [item] = journal_items({"event": "internal_error"}, body("ToolStarting"))

    assert isinstance(item, RecordedEvent)
    assert isinstance(item.event, ToolStarting)
    assert (AT, "/repo", ("/repo/a.py",)) == (item.timestamp, item.root, item.event.call.paths)


@pytest.mark.parametrize(
    ("record", "status"),
    [
        (body("ToolStarting") | {"effects": [{"kind": "deny"}]}, CallStatus.DENIED),
        (body("ToolFinished"), CallStatus.SUCCEEDED),
        (body("ToolFinished", "codex-cli", tool="mcp__a__b"), CallStatus.UNKNOWN),
        (body("ToolFinished", tool="Bash", tool_kind="shell"), CallStatus.UNKNOWN),
        (body("ToolFinished", "codex-cli", tool="Bash", tool_kind="shell", exit_code=0), CallStatus.SUCCEEDED),
        (body("ToolFinished", tool="Bash", exit_code=3), CallStatus.FAILED),
        (body("ToolFinished", has_failed=True), CallStatus.FAILED),
        (body("ToolFinished", was_interrupted=True), CallStatus.UNKNOWN),
        (body("SubagentReturned"), CallStatus.UNKNOWN),
        (body("SubagentReturned", has_failed=True), CallStatus.FAILED),
    ],
)
def test_how_a_call_in_the_journal_ended(record: dict[str, Any], status: CallStatus) -> None:
    """A call without a failure has succeeded only if its client reports failures, or its exit code is known."""
    assert RecordedCallEnd("s", "c", status) == journal_items(record)[-1]
