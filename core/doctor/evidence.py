"""Derive from journal records which hook points a session reached, and which it should have reached.

Invariant: an event that codex-auto itself reported is no evidence of a hook, nor is a record from before the current
hooks were installed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime

from upbeat.core.doctor.findings import (
    EVENTS_BY_HOOK_POINT,
    CanaryResult,
    ClientSnapshot,
    Fault,
    HookPoint,
    Proof,
    Reason,
    SessionActivity,
)
from upbeat.core.journal.record import JournalEntry
from upbeat.core.turn.report import format_timestamp

DRIVER_FIELD = "driver"
"""The event field that names the program that reported the event, if it was no hook."""
REASON_PREFIX_CHARS = 12
"""The length of a denial's start that is searched in the model's input; the rest may be escaped there."""
MIN_OCCURRENCES = 3
"""Fewer turns without an end, or calls without a result, prove nothing: the user may have interrupted each of them."""

_NOT_EXERCISED = (Reason.UNPROVEN, Reason.DID_NOT_FIRE, Reason.CANARY_FAILED)
"""The expected faults of a hook point that nothing triggered."""

_HOOK_POINT_BY_EVENT = {event: hook_point for hook_point, events in EVENTS_BY_HOOK_POINT.items() for event in events}


def summarize_session(
    entries: Sequence[JournalEntry], max_entries: int, now: str, since: str = ""
) -> SessionActivity | None:
    """Summarize the records of one session, oldest first, at most ``max_entries`` of them; None without hooks.

    A record counts only if it is from between ``since`` and ``now`` (UTC, ISO 8601).
    """
    counts: Counter[HookPoint] = Counter()
    last: dict[HookPoint, str] = {}
    is_whole, is_wrapped = len(entries) < max_entries, False
    for entry in entries:
        about = entry.body.get("event_fields", {})
        if not isinstance(about, dict) or DRIVER_FIELD in about:
            is_wrapped = True
            continue
        if not (since <= entry.text_field("at") <= now and _is_timestamp(entry.text_field("at"))):
            is_whole = False
            continue
        hook_point = _HOOK_POINT_BY_EVENT.get(entry.text_field("event"))
        if hook_point is not None:
            counts[hook_point] += 1
            last[hook_point] = entry.text_field("at")
    if not last:
        return None
    session_id = entries[-1].text_field("session_id")
    return SessionActivity(session_id, max(last.values()), dict(counts), last, is_whole, is_wrapped)


def _is_timestamp(at: str) -> bool:
    """Return whether it is a timestamp in the form of records."""
    try:
        return format_timestamp(datetime.fromisoformat(at)) == at
    except (ValueError, OverflowError):
        return False


def was_refused(entries: Sequence[JournalEntry], model_text: str) -> bool:
    """Return whether a call was denied and ``model_text`` has upbeat's reason."""
    effects = (effect for entry in entries for effect in entry.body.get("effects", ()) if isinstance(effect, dict))
    reasons = (str(effect.get("text", "")) for effect in effects if effect.get("kind") == "deny")
    return any(reason and reason[:REASON_PREFIX_CHARS] in model_text for reason in reasons)


def last_hook_at(client: ClientSnapshot) -> str:
    """Return when a hook last fired in a session; empty if never."""
    return max((session.last_seen_at for session in client.sessions), default="")


def find_proof(hook_point: HookPoint, client: ClientSnapshot) -> Proof | Fault:
    """Return the proof that ``hook_point`` is active, or the fault that the evidence shows."""
    if hook_point in client.hookless_points:
        return Proof("no_hook_needed")
    found = _proof_from_canary(hook_point, client.canary) if client.canary else _proof_from_sessions(hook_point, client)
    if hook_point is HookPoint.AGENTS and isinstance(found, Fault) and found.reason in _NOT_EXERCISED:
        kin = [
            proof for one in (HookPoint.RESULTS, HookPoint.CALLS) if isinstance(proof := find_proof(one, client), Proof)
        ]
        return Proof("inferred", kin[0].at, kin[0].session_id) if kin else found
    return found


def _proof_from_canary(hook_point: HookPoint, canary: CanaryResult) -> Proof | Fault:
    if hook_point in canary.seen and (canary.refused or hook_point is not HookPoint.CALLS):
        return Proof("canary", canary.at, canary.session_id)
    if canary.problem:
        return Fault(Reason.CANARY_FAILED, canary.problem)
    if hook_point in canary.seen:
        return Fault(Reason.NOT_REFUSED)
    return Fault(Reason.SERVER_NOT_CONNECTED, canary.server) if canary.server else Fault(Reason.DID_NOT_FIRE)


def _proof_from_sessions(hook_point: HookPoint, client: ClientSnapshot) -> Proof | Fault:
    """Decide by the most recent session that reached the hook point or should have."""
    found: Proof | Fault = Fault(Reason.UNPROVEN)
    for session in client.sessions:
        if hook_point in session.last_seen_by_point:
            found = Proof("session", session.last_seen_by_point[hook_point], session.session_id)
            break
        if _should_have_fired(hook_point, session):
            return Fault(Reason.NOT_SEEN_IN_SESSION, session.session_id[:8])
    later = [
        kept
        for kept in client.unrecorded_sessions
        if kept.started_at > max(client.hooks_written_at, last_hook_at(client))
    ]
    return Fault(Reason.UNRECORDED_SESSION, later[0].session_id[:8]) if later else found


def _should_have_fired(hook_point: HookPoint, session: SessionActivity) -> bool:
    """Return whether a session without ``hook_point`` would have reached it if its hooks had fired."""
    counts = session.counts
    went_on = any(counts.get(one, 0) for one in (HookPoint.CALLS, HookPoint.RESULTS, HookPoint.END))
    match hook_point:
        case HookPoint.START:
            return session.is_complete and bool(counts.get(HookPoint.TURNS, 0) and went_on)
        case HookPoint.TURNS:
            return session.is_complete and went_on
        case HookPoint.CALLS:
            return counts.get(HookPoint.RESULTS, 0) >= (1 if session.is_complete else MIN_OCCURRENCES)
        case HookPoint.RESULTS:
            return counts.get(HookPoint.CALLS, 0) >= MIN_OCCURRENCES
        case HookPoint.END:
            return counts.get(HookPoint.TURNS, 0) >= MIN_OCCURRENCES and not session.is_wrapped
        case _:
            return False
