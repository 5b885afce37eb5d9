"""``upbeat statusline`` reads what the journal stored, quickly, and says nothing wrong where there is nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from fakes.clock import FakeClock

from upbeat.adapters.cli.statusline import JOURNAL_FILE, stored_state
from upbeat.adapters.system.journal.store import SqliteJournal
from upbeat.core.journal.record import Record
from upbeat.core.workflow.facts import WorkflowStarted, apply_facts
from upbeat.core.workflow.state import NEW_SESSION, WorkflowRun, WorkflowStep

STARTED = (
    WorkflowStarted(
        WorkflowRun("r", "tdd", (WorkflowStep("TEST", "TEST", 0), WorkflowStep("DEV", "DEV", 1))), started_at=1.0
    ),
)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A state folder whose journal has one session with a workflow."""
    journal = SqliteJournal(tmp_path, FakeClock())
    with journal.transaction() as transaction:
        record = Record("2026-01-01T00:00:00.000Z", "PromptSubmitted", "claude-code", "s", root="/repo", facts=STARTED)
        transaction.append(record, apply_facts(STARTED, NEW_SESSION))
    journal.close()
    return tmp_path


def statusline(home: Path, stdin: str) -> tuple[int, str, str]:
    """Exit code and output of the command, in an environment of its own."""
    done = subprocess.run(
        [sys.executable, "-I", "-m", "upbeat", "statusline"],
        input=stdin,
        capture_output=True,
        text=True,
        env={"HOME": str(home), "XDG_STATE_HOME": str(home), "LANG": "C.UTF-8", "PATH": os.defpath},
    )
    return done.returncode, done.stdout, done.stderr


def test_the_session_of_the_client(home: Path) -> None:
    """The line shows the session on stdin, with the client's use of context."""
    payload = {"session_id": "s", "context_window": {"used_percentage": 12}}

    assert (0, "upbeat · tdd 0/2 · ○ TEST · context 12%\n", "") == statusline(home, json.dumps(payload))


@pytest.mark.parametrize("stdin", ["", "{", "[]", "null", '{"session_id": "another"}', "[" * 5000])
def test_there_is_always_a_line(home: Path, stdin: str) -> None:
    """Another session, or nothing that could be read, gives the bare name."""
    assert (0, "upbeat\n", "") == statusline(home, stdin)


def test_reading_makes_no_file(tmp_path: Path) -> None:
    """Where there is no journal there is none afterwards; a file that is no journal is left as it is."""
    assert {} == stored_state(tmp_path / JOURNAL_FILE, "s")
    assert [] == list(tmp_path.iterdir())
    (tmp_path / "odd.db").write_text("no database", encoding="utf-8")

    assert {} == stored_state(tmp_path / "odd.db", "s")
    assert "no database" == (tmp_path / "odd.db").read_text(encoding="utf-8")


def test_it_loads_little(home: Path) -> None:
    """It is started several times a minute: of the journal only its database is loaded, and pydantic not at all."""
    code = (
        "import sys, pathlib; from upbeat.adapters.cli.statusline import stored_state;"
        "stored_state(pathlib.Path(sys.argv[1]), 's'); print(*sys.modules)"
    )
    command = [sys.executable, "-I", "-c", code, str(home / JOURNAL_FILE)]
    loaded = set(subprocess.run(command, capture_output=True, text=True).stdout.split())

    assert {"apsw", "upbeat.adapters.system.journal.database"} <= loaded
    assert {"pydantic", "sqlite3", "tomli", "upbeat.core.workflow.state", "upbeat.core.journal.codec"}.isdisjoint(
        loaded
    )
