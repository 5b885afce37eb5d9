"""What records show of hooks: which guards were reached in a session, and which should have been. Pure.

Law: what codex-auto has told the core itself is no evidence of a hook, nor is a record of before the hooks of now.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime

from ..journal.entry import Entry
from ..turn.report import timestamp
from .findings import SHOWN_BY, Canary, ClientSeen, Fault, Guard, Proof, Reason, SessionSeen

DRIVER = "driver"
"""The field of a record's ``about`` that names who told the core of an event, where it was no hook."""
FIRST = 12
"""Characters of a refusal that are looked for in what the model was told; what follows may be quoted there."""
FEW = 3
"""Prompts that may end without an end of their turn, and calls without an answer: a user may break each off."""

_NOT_MET = (Reason.UNPROVEN, Reason.DID_NOT_FIRE, Reason.CANARY_FAILED)
"""What is to be expected of a guard that had nothing to do."""

_GUARD_OF = {event: guard for guard, events in SHOWN_BY.items() for event in events}


def session_seen(entries: Sequence[Entry], most: int, now: str, since: str = "") -> SessionSeen | None:
    """What the records of one session show, oldest first, of which at most ``most`` were read. None: of no hook.

    A record shows nothing that is older than ``since`` (UTC, ISO 8601), from after ``now``, or of no time.
    """
    counts: Counter[Guard] = Counter()
    last: dict[Guard, str] = {}
    is_whole, is_wrapped = len(entries) < most, False
    for entry in entries:
        about = entry.body.get("about", {})
        if not isinstance(about, dict) or DRIVER in about:
            is_wrapped = True
            continue
        if not (since <= entry.text("at") <= now and _is_time(entry.text("at"))):
            is_whole = False
            continue
        guard = _GUARD_OF.get(entry.text("event"))
        if guard is not None:
            counts[guard] += 1
            last[guard] = entry.text("at")
    if not last:
        return None
    session_id = entries[-1].text("session_id")
    return SessionSeen(session_id, max(last.values()), dict(counts), last, is_whole, is_wrapped)


def _is_time(at: str) -> bool:
    """Whether it is a time as records have it."""
    try:
        return timestamp(datetime.fromisoformat(at)) == at
    except (ValueError, OverflowError):
        return False


def was_refused(entries: Sequence[Entry], told: str) -> bool:
    """Whether a call was denied, and what the model was ``told`` has the reason that upbeat gave."""
    effects = (effect for entry in entries for effect in entry.body.get("effects", ()) if isinstance(effect, dict))
    reasons = (str(effect.get("text", "")) for effect in effects if effect.get("kind") == "deny")
    return any(reason and reason[:FIRST] in told for reason in reasons)


def newest(client: ClientSeen) -> str:
    """When a hook was last seen at work in a session; empty for never."""
    return max((session.at for session in client.sessions), default="")


def evidence(guard: Guard, client: ClientSeen) -> Proof | Fault:
    """What is known of ``guard`` by what has happened."""
    if guard in client.own:
        return Proof("own")
    found = _by_canary(guard, client.canary) if client.canary else _by_sessions(guard, client)
    if guard is Guard.AGENTS and isinstance(found, Fault) and found.reason in _NOT_MET:
        kin = [proof for one in (Guard.ANSWERS, Guard.CALLS) if isinstance(proof := evidence(one, client), Proof)]
        return Proof("alike", kin[0].at, kin[0].session_id) if kin else found
    return found


def _by_canary(guard: Guard, canary: Canary) -> Proof | Fault:
    if guard in canary.seen and (canary.refused or guard is not Guard.CALLS):
        return Proof("canary", canary.at, canary.session_id)
    if canary.problem:
        return Fault(Reason.CANARY_FAILED, canary.problem)
    if guard in canary.seen:
        return Fault(Reason.NOT_REFUSED)
    return Fault(Reason.SERVER_NOT_CONNECTED, canary.server) if canary.server else Fault(Reason.DID_NOT_FIRE)


def _by_sessions(guard: Guard, client: ClientSeen) -> Proof | Fault:
    """The latest session decides that has shown the guard, or should have."""
    found: Proof | Fault = Fault(Reason.UNPROVEN)
    for session in client.sessions:
        if guard in session.last:
            found = Proof("session", session.last[guard], session.session_id)
            break
        if _should_have(guard, session):
            return Fault(Reason.SILENT, session.session_id[:8])
    later = [kept for kept in client.kept if kept.began > max(client.written_at, newest(client))]
    return Fault(Reason.UNSEEN_SESSION, later[0].session_id[:8]) if later else found


def _should_have(guard: Guard, session: SessionSeen) -> bool:
    """Whether a session that shows nothing of ``guard`` would do so if its hooks reached upbeat."""
    counts = session.counts
    went_on = any(counts.get(one, 0) for one in (Guard.CALLS, Guard.ANSWERS, Guard.END))
    match guard:
        case Guard.START:
            return session.is_whole and bool(counts.get(Guard.TURNS, 0) and went_on)
        case Guard.TURNS:
            return session.is_whole and went_on
        case Guard.CALLS:
            return counts.get(Guard.ANSWERS, 0) >= (1 if session.is_whole else FEW)
        case Guard.ANSWERS:
            return counts.get(Guard.CALLS, 0) >= FEW
        case Guard.END:
            return counts.get(Guard.TURNS, 0) >= FEW and not session.is_wrapped
        case _:
            return False
