"""The journal's tables, and the migrations from every earlier version.

Invariant: a version never changes, it is only followed by another. A migration is one transaction and runs once,
however many processes open an old file. Version 1 was ``log.jsonl``, one JSON object a line.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from upbeat.adapters.system.journal.faults import StorageError, StorageErrorKind
from upbeat.core.contract.timestamp import format_timestamp
from upbeat.core.journal.codec import GENESIS, canonical_json, compute_digest, decode_state, encode_state, make_storable
from upbeat.core.journal.legacy import upgrade_event_name

if TYPE_CHECKING:
    from upbeat.adapters.system.journal.database import Database

SCHEMA_VERSION = 3
READABLE_VERSIONS = (2, 3)
"""Versions that can be read as they are; the first event that is stored migrates the file."""

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

CODEX_SESSIONS = """
CREATE TABLE IF NOT EXISTS codex_sessions (
    root TEXT NOT NULL,
    repository TEXT NOT NULL,
    name TEXT NOT NULL,
    thread_id TEXT NOT NULL COLLATE NOCASE,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    cwd TEXT NOT NULL,
    title TEXT NOT NULL,
    usage TEXT NOT NULL,
    pid INTEGER NOT NULL,
    process_start TEXT NOT NULL,
    host TEXT NOT NULL,
    renewed_at INTEGER NOT NULL,
    PRIMARY KEY (root, name, thread_id)
) WITHOUT ROWID
"""
"""The sessions of codex-auto and their leases: ``adapters/codex_auto/sessions/store.py``."""

OLD_LOGS = ("log.1.jsonl", "log.jsonl")
"""Version 1, the older file first."""
IMPORTED_SUFFIX = ".imported"


def migrate(database: Database) -> None:
    """Migrate the file to ``SCHEMA_VERSION``. Raises StorageError; a newer file stays unchanged."""
    version = schema_version(database)
    if version < SCHEMA_VERSION:
        if not version:
            database.execute("PRAGMA auto_vacuum=INCREMENTAL")  # counts only before the first table
        database.ensure_journal_mode()
        database.begin()
        try:
            while (version := schema_version(database)) < SCHEMA_VERSION:
                following, step = MIGRATIONS[version]
                step(database)
                database.execute(f"PRAGMA user_version={following}")
            database.commit()
        finally:
            database.rollback()
        for name in OLD_LOGS:  # kept under another name; the user may delete them
            with contextlib.suppress(OSError):
                (database.path.parent / name).rename(database.path.parent / (name + IMPORTED_SUFFIX))
    if version > SCHEMA_VERSION:
        raise StorageError(
            StorageErrorKind.OTHER,
            f"{database.path.name} is of version {version}, written by a newer upbeat; update this one",
        )


def schema_version(database: Database) -> int:
    """Return the version of the file; 0 for an empty one."""
    return database.scalar("PRAGMA user_version")


def _create(database: Database) -> None:
    """Create the tables; the lines of version 1, if any, become the first records."""
    for statement in TABLES.split(";\n"):
        database.execute(statement)
    previous = GENESIS
    for seq, body in enumerate(_bodies_of_version_1(database.path.parent), start=1):
        text = canonical_json(body)
        link = compute_digest(previous, text)
        database.execute(
            "INSERT INTO records VALUES (?, ?, ?, ?, ?, ?, ?)",
            *(seq, body["session_id"], body["at"], body["event"], text, previous, link),
        )
        previous = link


def _migrate_to_version_3(database: Database) -> None:
    """Add the table of codex-auto, and store the states of sessions under the names of version 3.

    Records keep their names: the hash chain covers them.
    """
    database.execute(CODEX_SESSIONS)
    for key, *states in database.rows("SELECT session_id, state, base FROM sessions"):
        with contextlib.suppress(ValueError):  # what cannot be read stays as it is, and counts as new
            texts = [encode_state(decode_state(text)) if text else "" for text in states]
            database.execute("UPDATE sessions SET state = ?, base = ? WHERE session_id = ?", *texts, key)


MIGRATIONS: Mapping[int, tuple[int, Callable[[Database], None]]] = {0: (2, _create), 2: (3, _migrate_to_version_3)}
"""Version of the file -> the next one, and what makes it. An empty file is 0, with or without version 1 next to it."""


def _bodies_of_version_1(folder: Path) -> Iterator[dict[str, Any]]:
    for name in OLD_LOGS:
        with contextlib.suppress(OSError), open(folder / name, encoding="utf-8", errors="replace") as lines:
            for line in lines:
                with contextlib.suppress(ValueError, RecursionError):
                    line_values = json.loads(line)
                    if isinstance(line_values, dict):
                        yield _body_of_version_1(line_values)


def _body_of_version_1(line: dict[str, Any]) -> dict[str, Any]:
    """Return a line of version 1 as the body of a record; fields that not every record has become ``event_fields``."""
    names = {name: str(line.pop(name, "")) for name in ("event", "client", "session_id")}
    names["event"] = upgrade_event_name(names["event"])
    at, milliseconds, injected = _parse_time(line.pop("at", "")), line.pop("ms", 0), line.pop("injected_chars", 0)
    return make_storable(
        {
            **names,
            "at": at,
            "event_fields": {name: value for name, value in line.items() if value not in ("", [], None)},
            "duration_ms": milliseconds if isinstance(milliseconds, int | float) else 0,
            "injected_chars": injected if isinstance(injected, int) else 0,
        }
    )


def _parse_time(value: object) -> str:
    """Return a time as records have it; version 1 wrote +00:00 for UTC."""
    try:
        return format_timestamp(datetime.fromisoformat(str(value)))
    except (ValueError, OverflowError):
        return ""
