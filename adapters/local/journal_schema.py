"""The journal's tables, and the way to them from every earlier version.

Law: a version is never changed, only followed by another; a migration is one transaction, and runs once however many
processes find an old file. Version 1 was ``log.jsonl``, one JSON object a line.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...core.journal.chain import GENESIS, canonical, digest
from ...core.journal.fit import fit
from .journal_trouble import StorageError, Trouble

if TYPE_CHECKING:
    from .journal_database import Database

VERSION = 2

TABLES = """
CREATE TABLE records (
    seq INTEGER PRIMARY KEY,
    session_id TEXT NOT NULL,
    at TEXT NOT NULL,
    event TEXT NOT NULL,
    body TEXT NOT NULL,
    previous TEXT NOT NULL,
    hash TEXT NOT NULL
);
CREATE INDEX records_of_session ON records (session_id, seq);
CREATE TABLE sessions (
    session_id TEXT PRIMARY KEY,
    root TEXT NOT NULL,
    client TEXT NOT NULL,
    state TEXT NOT NULL,
    has_run INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    updated_at REAL NOT NULL,
    base TEXT NOT NULL DEFAULT '',
    base_seq INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;
CREATE INDEX sessions_of_root ON sessions (root, has_run, seq);
CREATE TABLE anchor (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    seq INTEGER NOT NULL,
    hash TEXT NOT NULL,
    records INTEGER NOT NULL
);
CREATE TABLE notes (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
"""
"""``base`` is a session's state before the first of its records that is kept, the one with ``base_seq`` included.

``anchor`` has the last record that was pruned: its place, its hash, and how many were pruned in all.
"""

OLD_LOGS = ("log.1.jsonl", "log.jsonl")
"""Version 1, the older file first."""
IMPORTED = ".imported"


def migrate(database: Database) -> None:
    """Bring the file to ``VERSION``. Raises StorageError; a newer file is left as it is."""
    found = version_of(database)
    if found < VERSION:
        if not found:
            database.run("PRAGMA auto_vacuum=INCREMENTAL")  # counts only before the first table
        database.prepare_mode()
        database.begin()
        try:
            while (found := version_of(database)) < VERSION:
                following, step = MIGRATIONS[found]
                step(database)
                database.run(f"PRAGMA user_version={following}")
            database.commit()
        finally:
            database.rollback()
        _rename_imported(database.path.parent)
    if found > VERSION:
        raise StorageError(
            Trouble.OTHER, f"{database.path.name} is of version {found}, written by a newer upbeat; update this one"
        )


def version_of(database: Database) -> int:
    """The version that the file says it is of; 0 for an empty one."""
    return database.number("PRAGMA user_version")


def _create(database: Database) -> None:
    """From nothing, or from version 1, whose lines become the first records."""
    for statement in TABLES.split(";\n"):
        database.run(statement)
    previous = GENESIS
    for seq, body in enumerate(_old_bodies(database.path.parent), start=1):
        text = canonical(body)
        link = digest(previous, text)
        database.run(
            "INSERT INTO records VALUES (?, ?, ?, ?, ?, ?, ?)",
            *(seq, body["session_id"], body["at"], body["event"], text, previous, link),
        )
        previous = link


MIGRATIONS: Mapping[int, tuple[int, Callable[[Database], None]]] = {0: (2, _create)}
"""Version of the file -> the next one, and what makes it. An empty file is 0, with version 1 beside it or not."""


def _old_bodies(folder: Path) -> Iterator[dict[str, Any]]:
    for name in OLD_LOGS:
        with contextlib.suppress(OSError), open(folder / name, encoding="utf-8", errors="replace") as lines:
            for line in lines:
                with contextlib.suppress(ValueError, RecursionError):
                    told = json.loads(line)
                    if isinstance(told, dict):
                        yield _body_of_old(told)


def _body_of_old(told: dict[str, Any]) -> dict[str, Any]:
    """A line of version 1 as the body of a record: what it had beside the fields of every record is ``about``."""
    names = {name: str(told.pop(name, "")) for name in ("event", "client", "session_id")}
    at, milliseconds, injected = _time_of(told.pop("at", "")), told.pop("ms", 0), told.pop("injected_chars", 0)
    return fit(
        {
            **names,
            "at": at,
            "about": {name: value for name, value in told.items() if value not in ("", [], None)},
            "milliseconds": milliseconds if isinstance(milliseconds, int | float) else 0,
            "injected_chars": injected if isinstance(injected, int) else 0,
        }
    )


def _time_of(told: object) -> str:
    """Version 1 wrote +00:00 for UTC."""
    try:
        moment = datetime.fromisoformat(str(told)).astimezone(UTC)
    except (ValueError, OverflowError):
        return ""
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _rename_imported(folder: Path) -> None:
    """The old files stay readable under another name; a person may delete them."""
    for name in OLD_LOGS:
        with contextlib.suppress(OSError):
            (folder / name).rename(folder / (name + IMPORTED))
