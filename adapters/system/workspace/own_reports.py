"""What upbeat says of itself in a session: the texts of ``/upbeat:context``, ``/upbeat:why`` and ``/upbeat:status``."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

from upbeat.adapters.system.journal.store import SqliteJournal
from upbeat.core.errors import JournalError
from upbeat.core.journal.explain import find_telling_entry, format_explanation
from upbeat.core.journal.status_screen import status_lines
from upbeat.core.journal.turn_context import context_text, find_last_turn
from upbeat.core.messages.catalogue import load_messages
from upbeat.core.messages.layout import Screen, to_text

MAX_SEARCHED_RECORDS = 500
"""Records of the session that are searched."""
MAX_SESSIONS = 10
COLUMNS = 76
"""What a client's terminal leaves of 80 columns."""
MARK_FILE = Path("upbeat", "introduced")
"""In the state folder: the user has been told the commands."""


def report_on_itself(command: str, session_id: str, root: str, journal: SqliteJournal, language: str) -> str:
    """Return what ``command`` shows of this session, or of its repository."""
    try:
        if command == "status":
            screen = Screen(language, COLUMNS, datetime.now(UTC))
            return to_text(status_lines(root, journal.sessions(root, MAX_SESSIONS), journal.health(), screen))
        entries = journal.records(session_id, last=MAX_SEARCHED_RECORDS) if session_id else ()
    except JournalError as error:
        return str(error)
    find, tell = (find_last_turn, context_text) if command == "context" else (find_telling_entry, format_explanation)
    entry = find(entries)
    return tell(entry, language) if entry else str(load_messages("explain", language)["no_turn"])


def is_new_user(state_home: Path) -> bool:
    """Return whether the user has not been told the commands."""
    return not os.path.lexists(state_home / MARK_FILE)


def mark_introduced(state_home: Path) -> None:
    """Remember that the user has been told the commands; a folder that cannot be written is reported elsewhere."""
    path = state_home / MARK_FILE
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.touch(mode=0o600)
    except OSError:
        return
