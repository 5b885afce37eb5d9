"""Remove old records, always the oldest first. Invariant: the remaining records can still be verified and replayed.

The anchor keeps the hash that the first record left follows on; a session whose earlier records go keeps the state
that they made, its base. A session goes with its last record, unless its run goes on.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING

from upbeat.core.contract.timestamp import format_timestamp
from upbeat.core.journal.codec import decode_facts, decode_state, encode_state
from upbeat.core.journal.record import PruneResult, Retention
from upbeat.core.workflow.facts import apply_facts
from upbeat.core.workflow.state import NEW_SESSION, SessionState

if TYPE_CHECKING:
    from upbeat.adapters.system.journal.database import Database

MEGABYTE = 1024 * 1024
TARGET_SHARE = 0.8
"""A file over its limit is reduced to this part of the limit, so that not every day prunes."""
MAX_RECORDS_PER_EVENT = 2000
"""The most records that one event removes."""

_OLD_SESSIONS = """
DELETE FROM sessions WHERE seq <= ? AND (has_run = 0 OR updated_at < ? OR NOT json_valid(state)
    OR CASE WHEN json_valid(state) THEN json_extract(state, '$.has_ended') END = 1)
"""
_ANCHOR = """
INSERT INTO anchor SELECT 1, seq, hash, ? FROM records WHERE seq = ?
ON CONFLICT (only) DO UPDATE SET seq = excluded.seq, hash = excluded.hash, records = records + excluded.records
"""


def prune_if_due(database: Database, retention: Callable[[], Retention], now: datetime) -> bool:
    """Prune a part of what is over the limits unless today's pruning is done; return whether it is done now.

    After a gap longer than records are kept, age does not count that day: the clock may have jumped.
    """
    last = _last_pruned_on(database)
    if last == now.date():
        return True
    limits = retention()
    is_steady = last is not None and timedelta() <= now.date() - last <= timedelta(days=limits.max_days)
    pruned = prune(database, limits, now, applies_age_limit=is_steady, max_records=MAX_RECORDS_PER_EVENT)
    if pruned.is_finished:
        database.execute("INSERT OR REPLACE INTO notes VALUES ('pruned_on', ?)", now.date().isoformat())
    return pruned.is_finished


def prune(
    database: Database,
    retention: Retention,
    now: datetime,
    *,
    before: datetime | None = None,
    applies_age_limit: bool = True,
    max_records: int | None = None,
) -> PruneResult:
    """Remove the records ``before`` a time, or those over the limits; at most ``max_records``. Raises StorageError."""
    oldest = _days_before(now, retention.max_days)
    database.begin()
    try:
        if before is None:
            wanted = max(
                _last_before(database, oldest) if applies_age_limit else 0, _last_over_size(database, retention)
            )
        else:
            wanted = _last_before(database, before)
        first = database.scalar("SELECT min(seq) FROM records")
        last = min(wanted, first + max_records - 1) if max_records else wanted
        if not first or last < first:
            return PruneResult()
        records, sessions = _delete_through(database, last, oldest.timestamp())
        database.commit()
    finally:
        database.rollback()
    database.execute("PRAGMA incremental_vacuum")
    return PruneResult(records, sessions, is_finished=last == wanted)


def _days_before(now: datetime, days: int) -> datetime:
    """Return the time so many days earlier; the earliest date if there is no such date."""
    try:
        return now - timedelta(days=days)
    except OverflowError:
        return datetime.min.replace(tzinfo=UTC)


def _delete_through(database: Database, last: int, oldest: float) -> tuple[int, int]:
    """Remove the records up to ``last``; return how many records and sessions were removed."""
    _advance_bases(database, last)
    count = database.scalar("SELECT count(*) FROM records WHERE seq <= ?", last)
    database.execute(_ANCHOR, count, last)
    database.execute("DELETE FROM records WHERE seq <= ?", last)
    return count, database.execute(_OLD_SESSIONS, last, oldest)


def _last_before(database: Database, before: datetime) -> int:
    """Return the number of the last record before the first one that is not older than ``before``."""
    kept = database.row("SELECT seq FROM records WHERE at >= ? ORDER BY seq LIMIT 1", format_timestamp(before))
    return int(kept[0]) - 1 if kept else database.scalar("SELECT max(seq) FROM records")


def _last_over_size(database: Database, retention: Retention) -> int:
    """Return the last record to remove because of the file's size; 0 if it fits. The latest record stays."""
    pages = database.scalar("PRAGMA page_count") - database.scalar("PRAGMA freelist_count")
    taken = pages * database.scalar("PRAGMA page_size")
    allowed = retention.max_mb * MEGABYTE
    first = database.scalar("SELECT min(seq) FROM records")
    last = database.scalar("SELECT max(seq) FROM records")
    if taken <= allowed or not last:
        return 0
    too_many = int((last - first + 1) * (1 - allowed * TARGET_SHARE / taken)) + 1
    return min(first + too_many - 1, last - 1)


def _advance_bases(database: Database, last: int) -> None:
    """Set each session's base to its state after record ``last``."""
    states: dict[str, SessionState] = {}
    known = database.rows("SELECT session_id, base, base_seq FROM sessions WHERE base_seq < ?", last)
    since = {key: base_seq for key, _, base_seq in known}
    bases = {key: base for key, base, _ in known}
    for seq, key, body in database.iterate(
        "SELECT seq, session_id, body FROM records WHERE seq <= ? ORDER BY seq", last
    ):
        if key in since and seq > since[key]:
            with contextlib.suppress(ValueError):
                facts = decode_facts(json.loads(body))
                if key not in states:
                    states[key] = decode_state(bases[key]) if bases[key] else NEW_SESSION
                states[key] = apply_facts(facts, states[key])
    for key, state in states.items():
        database.execute(
            "UPDATE sessions SET base = ?, base_seq = ? WHERE session_id = ?", encode_state(state), last, key
        )


def _last_pruned_on(database: Database) -> date | None:
    """Return the day of the last finished pruning."""
    row = database.row("SELECT value FROM notes WHERE name = 'pruned_on'")
    try:
        return date.fromisoformat(row[0]) if row else None
    except ValueError:
        return None
