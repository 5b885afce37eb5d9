"""Read records, sessions and the state of the journal. Invariant: reading changes nothing and sees one snapshot."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from upbeat.core.journal.codec import GENESIS, Link, decode_facts, decode_state, find_first_break
from upbeat.core.journal.legacy import upgrade_record
from upbeat.core.journal.record import ChainBreak, JournalEntry, JournalHealth, StoredSession, VerificationResult
from upbeat.core.lazy_dataclass import replace
from upbeat.core.workflow.facts import apply_facts
from upbeat.core.workflow.state import NEW_SESSION, SessionState

if TYPE_CHECKING:
    from upbeat.adapters.system.journal.database import Database

_COLUMNS = "SELECT seq, body, previous, hash FROM records"
_SESSIONS = "SELECT session_id, root, client, state, seq, updated_at FROM sessions"


def records(
    database: Database,
    *,
    limit: int,
    session_id: str = "",
    root: str = "",
    after: int = 0,
    since: str = "",
    is_latest: bool = False,
) -> tuple[JournalEntry, ...]:
    """Return at most ``limit`` records in order: the first, or with ``is_latest`` the last of those selected.

    Records have numbers above ``after`` and times from ``since`` on, of one session or repository if given.
    """
    in_root = "CASE WHEN json_valid(body) THEN json_extract(body, '$.root') END = ?"
    filters = {"seq > ?": after, "session_id = ?": session_id, "at >= ?": since, in_root: root}
    chosen = {condition: value for condition, value in filters.items() if value}
    where = f"WHERE {' AND '.join(chosen)}" if chosen else ""
    order = "DESC" if is_latest else "ASC"
    rows = database.rows(f"{_COLUMNS} {where} ORDER BY seq {order} LIMIT ?", *chosen.values(), limit)
    return tuple(_entry(row) for row in (reversed(rows) if is_latest else rows))


def record(database: Database, seq: int) -> JournalEntry | None:
    """Return the record with this number."""
    row = database.row(f"{_COLUMNS} WHERE seq = ?", seq)
    return _entry(row) if row else None


def sessions(database: Database, root: str, last: int) -> tuple[StoredSession, ...]:
    """Return the ``last`` sessions, of one repository if given, the latest first."""
    with database.snapshot():
        where = "WHERE root = ?" if root else "WHERE ? = ''"
        rows = database.rows(f"{_SESSIONS} {where} ORDER BY seq DESC LIMIT ?", root, last)
        return tuple(_session(database, row) for row in rows)


def find_session(database: Database, start: str) -> str:
    """Return the id that is ``start``, else the latest session's id that begins with it, else an empty string."""
    row = database.row(
        "SELECT session_id FROM sessions WHERE substr(session_id, 1, length(?1)) = ?1"
        " ORDER BY session_id = ?1 DESC, seq DESC LIMIT 1",
        start,
    )
    return str(row[0]) if row else ""


def recorded_roots(database: Database, last: int) -> tuple[str, ...]:
    """Return the ``last`` repositories with sessions, the latest first."""
    rows = database.rows(
        "SELECT root FROM sessions WHERE root <> '' GROUP BY root ORDER BY max(seq) DESC LIMIT ?", last
    )
    return tuple(root for (root,) in rows)


def verify(database: Database) -> VerificationResult:
    """Verify that the hash chain holds and that every session's state is what its records say."""
    with database.snapshot():
        anchor = database.row("SELECT seq, hash, records FROM anchor") or (0, GENESIS, 0)
        count = database.scalar("SELECT count(*) FROM records")
        links = (Link(*row) for row in database.iterate("SELECT seq, body, previous, hash FROM records ORDER BY seq"))
        broken = find_first_break(links, anchor[1]) or _find_misfiled(database)
        stored = database.rows("SELECT session_id, state, base, base_seq, seq FROM sessions")
        last = max(database.scalar("SELECT max(seq) FROM records"), int(anchor[0]))
        ahead = [row[4] for row in stored if row[4] > last]
        if ahead and broken is None:
            broken = ChainBreak(last + 1, "is gone, and sessions remember it: the end was taken off")
        differing = tuple(sorted(_mismatched_sessions(database, stored)))
        return VerificationResult(count, int(anchor[2]), len(stored), broken, differing)


def with_measurements(health: JournalHealth, database: Database | None) -> JournalHealth:
    """Complete ``health`` from the open file, and check that it can be written. Raises StorageError."""
    if database is None:
        return health
    try:
        database.busy_timeout = 0.5
        with database.snapshot():
            count = database.scalar("SELECT count(*) FROM records")
            known = database.scalar("SELECT count(*) FROM sessions")
            oldest = database.row("SELECT at FROM records ORDER BY seq LIMIT 1") or ("",)
            newest = database.row("SELECT at FROM records ORDER BY seq DESC LIMIT 1") or ("",)
        mode = database.row("PRAGMA journal_mode") or ("",)
        database.begin()
        database.rollback()
    finally:
        database.close()
    return replace(health, records=count, sessions=known, oldest=oldest[0], newest=newest[0], journal_mode=mode[0])


def _entry(row: tuple[Any, ...]) -> JournalEntry:
    seq, text, previous, digest = row
    return JournalEntry(seq, _body(text), previous, digest)


def _body(text: str) -> Mapping[str, Any]:
    """Parse a stored body; one that was damaged since becomes a record of the event ``unreadable``."""
    try:
        body = json.loads(text)
    except ValueError:
        return {"event": "unreadable", "event_fields": {"text": text[:200]}}
    return upgrade_record(body) if isinstance(body, dict) else {"event": "unreadable"}


def _session(database: Database, row: tuple[Any, ...]) -> StoredSession:
    session_id, root, client, text, seq, updated_at = row
    state, problem = NEW_SESSION, ""
    try:
        state = decode_state(text)
    except ValueError as error:
        problem = str(error).split("\n", 1)[0]
    return StoredSession(session_id, root, client, state, seq, updated_at, record(database, seq), problem)


def _find_misfiled(database: Database) -> ChainBreak | None:
    """Find a record whose indexed columns differ from its body: the hash chain does not cover the columns."""
    row = database.row(
        "SELECT seq FROM records WHERE session_id <> json_extract(body, '$.session_id')"
        " OR at <> json_extract(body, '$.at') OR event <> json_extract(body, '$.event') ORDER BY seq LIMIT 1"
    )
    return ChainBreak(row[0], "is filed under another session, time or event than its own") if row else None


def _mismatched_sessions(database: Database, stored: list[tuple[Any, ...]]) -> Iterator[str]:
    """Yield the sessions whose state is not their base with their records applied."""
    states: dict[str, SessionState | None] = {}
    since = {key: base_seq for key, _, _, base_seq, _ in stored}
    for key, _, base, _, _ in stored:
        states[key] = _state_or_none(base) if base else NEW_SESSION
    for seq, key, body in database.iterate("SELECT seq, session_id, body FROM records ORDER BY seq"):
        state = states.get(key)
        if state is not None and seq > since[key]:
            try:
                states[key] = apply_facts(decode_facts(json.loads(body)), state)
            except ValueError:
                states[key] = None
    for key, text, _, _, _ in stored:
        if states[key] is None or states[key] != _state_or_none(text):
            yield key


def _state_or_none(text: str) -> SessionState | None:
    try:
        return decode_state(text)
    except ValueError:
        return None
