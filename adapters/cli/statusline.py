"""``upbeat statusline``: one line for the client's status bar, from its JSON on stdin.

Law: it is fast and never in the way. It asks the journal's file for one value itself, through the SQLite that the
journal is written with: what the journal has beside takes longer to import than the line may take in all.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ...core.workflow.statusline import line
from ..claude.statusline import decode
from ..local.environment import read_environment

JOURNAL = "upbeat/journal.db"
USAGE = """\
usage: upbeat statusline < JSON

Where the session's workflow is, on one line. In Claude Code's settings.json:
  "statusLine": {"type": "command", "command": "upbeat statusline"}"""
PATIENCE = 0.05
"""Seconds that it waits for a writer."""


def run(arguments: Sequence[str]) -> int:
    """Print the line; 0 whatever came in."""
    if arguments:
        print(USAGE)
        return 0
    environment = read_environment()
    session_id, used = decode(_object(sys.stdin.buffer.read()))
    state = stored_state(environment.state_home / JOURNAL, session_id)
    print(" ".join(line(state, used, environment.language).split()))
    return 0


def stored_state(journal: Path, session_id: str) -> Mapping[str, Any]:
    """The session's state as it is stored; empty when there is none, or it cannot be had at once."""
    if not os.path.lexists(journal):
        return {}
    from ..local.journal_database import Database
    from ..local.journal_trouble import StorageError

    try:
        with contextlib.closing(Database(journal, patience=PATIENCE)) as database:
            row = database.row("SELECT state FROM sessions WHERE session_id = ?", session_id)
    except StorageError:
        return {}
    return _object(row[0]) if row else {}


def _object(text: str | bytes) -> Mapping[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
