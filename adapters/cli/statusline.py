"""``upbeat statusline``: print one line for the client's status bar from its JSON on stdin.

``upbeat statusline --help`` prints the entry for Claude Code's settings, with the whole path of the launcher.

Invariant: it is fast and never fails. It reads one value straight from the journal's database, because importing the
rest of the journal takes longer than the whole command may take.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from upbeat.adapters.claude.statusline import parse_status_payload, status_line_setting
from upbeat.adapters.system.config.switch import is_switched_off
from upbeat.adapters.system.environment import read_environment
from upbeat.adapters.system.files.tail import parse_json_object
from upbeat.adapters.system.journal.faults import storage_problem
from upbeat.core.workflow.statusline import format_status_line

JOURNAL_FILE = "upbeat/journal.db"
USAGE = """\
usage: upbeat statusline < JSON

Prints the state of the session's workflow. In Claude Code's settings.json:
  {setting}"""
BUSY_TIMEOUT_SECONDS = 0.05
"""How long to wait for a writer of the journal."""


def run(arguments: Sequence[str]) -> int:
    """Print the line; return 0 for any input."""
    if arguments:
        print(USAGE.format(setting=status_line_setting()))
        return 0
    environment = read_environment()
    payload = parse_json_object(sys.stdin.buffer.read())
    session_id, used = parse_status_payload(payload)
    cwd = payload.get("cwd")
    is_off = isinstance(cwd, str) and is_switched_off(cwd, environment)
    state = stored_state(environment.state_home / JOURNAL_FILE, session_id)
    can_store = not storage_problem((environment.state_home / JOURNAL_FILE).parent)
    print(" ".join(format_status_line(state, used, environment.language, can_store=can_store, is_off=is_off).split()))
    return 0


def stored_state(journal: Path, session_id: str) -> Mapping[str, Any]:
    """Return the stored state of the session; empty if there is none or the database is busy."""
    if not os.path.lexists(journal):
        return {}
    from upbeat.adapters.system.journal.database import Database
    from upbeat.adapters.system.journal.faults import StorageError

    try:
        with contextlib.closing(Database(journal, busy_timeout=BUSY_TIMEOUT_SECONDS)) as database:
            row = database.row("SELECT state FROM sessions WHERE session_id = ?", session_id)
    except StorageError:
        return {}
    return parse_json_object(row[0]) if row else {}
