"""What upbeat says of itself in a session, and the mark of a user who has been introduced."""

from __future__ import annotations

from pathlib import Path

import pytest

from upbeat.adapters.system.clock import SystemClock
from upbeat.adapters.system.environment import Environment
from upbeat.adapters.system.journal.store import SqliteJournal
from upbeat.adapters.system.workspace.own_reports import MARK_FILE, report_on_itself
from upbeat.adapters.system.workspace.world_queries import LocalWorldQueries
from upbeat.core.contract.event import ClientName, EventSource
from upbeat.core.journal.record import Record
from upbeat.core.policy.definition import MarkIntroduced
from upbeat.core.policy.queries import IsNewUserQuery, OwnReportQuery

SOURCE = EventSource(ClientName.CLAUDE_CODE, "/repo", "s-1")


@pytest.fixture
def journal(tmp_path: Path) -> SqliteJournal:
    journal = SqliteJournal(tmp_path / "state", SystemClock())
    for session in ("s-1", "s-2"):
        effects = ({"kind": "inject_context", "part": "turn", "text": f"BLOCK of {session}"},)
        fields = {"origin": "user", "prompt": f"ask {session}"}
        with journal.transaction() as transaction:
            transaction.append(
                Record("2026-01-02T03:04:05.678Z", "PromptSubmitted", "claude-code", session, root="/repo",
                       event_fields=fields, effects=effects)
            )  # fmt: skip
    return journal


def world(tmp_path: Path, journal: SqliteJournal, *, is_headless: bool = False) -> LocalWorldQueries:
    environment = Environment({}, tmp_path, tmp_path / "state", tmp_path)
    return LocalWorldQueries(
        environment=environment, open_journal=lambda: journal, is_headless=lambda _source: is_headless
    )


@pytest.mark.parametrize(
    ("command", "beginning", "end"),
    [
        ("context", "The prompt “ask s-1” got 12 characters of context", "\nBLOCK of s-1"),
        ("why", "At your prompt “ask s-1”, upbeat added 12 characters of context.", "in /repo"),
        ("status", "No workflow is open here; 2 sessions, the last active", ""),
    ],
)
def test_the_reports(tmp_path: Path, journal: SqliteJournal, command: str, beginning: str, end: str) -> None:
    """Context and why are about the session that asks, status is about the repository."""
    text = world(tmp_path, journal).query(OwnReportQuery(command), SOURCE, "/repo")

    assert isinstance(text, str)
    assert text.startswith(beginning)
    assert text.endswith(end)


def test_a_session_without_records(tmp_path: Path, journal: SqliteJournal) -> None:
    """A session that has nothing yet is told so, not about another session."""
    for command in ("context", "why"):
        assert "no prompt is recorded here yet" in report_on_itself(command, "s-3", "/repo", journal, "en")


def test_nothing_where_nobody_sees_it(tmp_path: Path, journal: SqliteJournal) -> None:
    """Without a screen nothing is reported, and the user stays new."""
    unseen = world(tmp_path, journal, is_headless=True)

    assert unseen.query(OwnReportQuery("why"), SOURCE, "/repo") is None
    assert not unseen.query(IsNewUserQuery(), SOURCE, "/repo")


def test_a_user_is_new_once(tmp_path: Path, journal: SqliteJournal) -> None:
    """The mark in the state folder is set once, and private."""
    here = world(tmp_path, journal)

    assert here.query(IsNewUserQuery(), SOURCE, "/repo")
    here.perform(MarkIntroduced(), "/repo")
    assert not here.query(IsNewUserQuery(), SOURCE, "/repo")
    assert 0o600 == (tmp_path / "state" / MARK_FILE).stat().st_mode & 0o777


def test_below_codex_auto_nobody_is_introduced(tmp_path: Path) -> None:
    """codex-auto has commands of its own, so its user stays new."""
    environment = Environment({}, tmp_path, tmp_path / "state", tmp_path, is_wrapped=True)

    assert not LocalWorldQueries(environment=environment).query(IsNewUserQuery(), SOURCE, "/repo")


def test_a_folder_that_cannot_be_written(tmp_path: Path, journal: SqliteJournal) -> None:
    """A mark that cannot be stored is no error."""
    (tmp_path / "file").write_text("")
    environment = Environment({}, tmp_path, tmp_path / "file", tmp_path)

    LocalWorldQueries(environment=environment).perform(MarkIntroduced(), "/repo")
