"""Derive the doctor's report from observations: every hook point of every client, active or not, and why.

Invariant: an event that codex-auto itself reported is no evidence of a hook, nor is a record from before the current
hooks were installed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime

from upbeat.core.contract.timestamp import format_timestamp
from upbeat.core.doctor.findings import (
    EVENTS_BY_HOOK_POINT,
    STATEFUL_HOOK_POINTS,
    CanaryResult,
    CheckStatus,
    ClientReport,
    ClientSnapshot,
    Diagnosis,
    DoctorReport,
    Fault,
    HookPoint,
    HookPointReport,
    InstallationCheck,
    InstallationSnapshot,
    InstallStatus,
    Proof,
    Reason,
    SessionActivity,
    State,
)
from upbeat.core.journal.record import JournalEntry
from upbeat.core.json_fields import mappings_of
from upbeat.core.messages.catalogue import Messages

DRIVER_FIELD = "driver"
"""The event field that names the program that reported the event, if it was no hook."""
REASON_PREFIX_CHARS = 12
"""The length of a denial's start that is searched in the model's input; the rest may be escaped there."""
MIN_OCCURRENCES = 3
"""Fewer turns without an end, or calls without a result, prove nothing: the user may have interrupted each of them."""

_NOT_EXERCISED = (Reason.UNPROVEN, Reason.DID_NOT_FIRE, Reason.CANARY_FAILED)
"""The expected faults of a hook point that nothing triggered."""

_HOOK_POINT_BY_EVENT = {event: hook_point for hook_point, events in EVENTS_BY_HOOK_POINT.items() for event in events}


def diagnose(
    at: str, clients: Sequence[ClientSnapshot], installation: InstallationSnapshot, messages: Messages
) -> DoctorReport:
    """Return the report at time ``at`` (UTC, ISO 8601)."""
    shared_faults = tuple(_find_faults(installation))
    reports = tuple(_diagnose_client(client, shared_faults, messages) for client in clients)
    checks = tuple(_build_checks(installation, messages))
    states = {hook_point.state for report in reports for hook_point in report.hook_points}
    worst = max(states, key=tuple(State).index, default=State.ACTIVE)
    return DoctorReport(at, all(report.active for report in reports), reports, checks, state=worst)


def _find_faults(installation: InstallationSnapshot) -> Iterator[Fault]:
    """Yield the faults that disable hook points of every client."""
    if installation.disabled_by:
        yield Fault(Reason.UPBEAT_DISABLED, installation.disabled_by)
    if installation.plan_mode_by:
        yield Fault(Reason.PLAN_MODE, installation.plan_mode_by, frozenset({HookPoint.TURNS}))
    if installation.settings_problems:
        yield Fault(Reason.SETTINGS_INVALID, "; ".join(installation.settings_problems), frozenset({HookPoint.TURNS}))
    if installation.uncompiled_modules:
        yield Fault(Reason.NO_BYTE_CODE, f"{installation.uncompiled_modules}/{installation.modules}")
    if not installation.is_sqlite_sound:
        yield Fault(Reason.AFFECTED_SQLITE, installation.sqlite, STATEFUL_HOOK_POINTS)
    if installation.is_network_file_system:
        yield Fault(Reason.NETWORK_FILE_SYSTEM, installation.journal.path, STATEFUL_HOOK_POINTS)
    if installation.journal.problem and installation.is_sqlite_sound:
        yield Fault(Reason.JOURNAL_UNUSABLE, installation.journal.problem, STATEFUL_HOOK_POINTS)


def _diagnose_client(client: ClientSnapshot, shared_faults: tuple[Fault, ...], messages: Messages) -> ClientReport:
    is_installed = client.install_status is InstallStatus.INSTALLED
    hook_points = (
        tuple(_diagnose_hook_point(hook_point, client, shared_faults, messages) for hook_point in HookPoint)
        if is_installed
        else ()
    )
    return ClientReport(
        client.client,
        client.name,
        client.display_name,
        client.cli_name,
        client.install_status,
        client.version,
        client.program,
        all(hook_point.active for hook_point in hook_points),
        hook_points,
        client.canary,
        client.notes,
    )


def _diagnose_hook_point(
    hook_point: HookPoint, client: ClientSnapshot, shared_faults: tuple[Fault, ...], messages: Messages
) -> HookPointReport:
    evidence = _find_proof(hook_point, client)
    is_disproof = client.canary is not None and bool(client.canary.seen) and isinstance(evidence, Proof)
    faults = [fault for fault in (*shared_faults, *client.faults) if hook_point in fault.hook_points]
    faults = [fault for fault in faults if not (fault.can_be_disproved and is_disproof)]
    if isinstance(evidence, Fault) and not faults:  # the other faults explain why it has not fired
        faults.append(evidence)
    if faults:
        reasons = []
        for fault in faults:
            texts = format_reason(fault.reason, fault.detail, client.display_name, client.cli_name, messages)
            reasons.append(Diagnosis(fault.reason, fault.detail, *texts))
        is_fresh = all(fault.reason is Reason.UNPROVEN for fault in faults)
        state = State.UNVERIFIED if is_fresh else State.ACTION_NEEDED
        return HookPointReport(hook_point, False, None, tuple(dict.fromkeys(reasons)), state)
    return HookPointReport(hook_point, True, evidence if isinstance(evidence, Proof) else None)


def format_reason(reason: Reason, detail: str, name: str, cli_name: str, messages: Messages) -> tuple[str, str]:
    """Return the message of ``reason`` and how to fix it, for the client ``name``."""
    texts = messages.group("reasons").group(reason)
    fix = texts.get(f"fix_{cli_name}") or texts["fix"]
    fields = {"detail": detail, "name": name, "cli_name": cli_name}
    return texts["message"].format(**fields), fix.format(**fields)


def _build_checks(installation: InstallationSnapshot, messages: Messages) -> Iterator[InstallationCheck]:
    """Yield each check of this installation, passed or not."""
    journal = installation.journal
    bad = {fault.reason: fault for fault in _find_faults(installation)}

    def check(name: str, reason: Reason, fine: str) -> InstallationCheck:
        if reason not in bad:
            return InstallationCheck(name, CheckStatus.OK, fine)
        return InstallationCheck(name, CheckStatus.BAD, *format_reason(reason, bad[reason].detail, "", "", messages))

    yield InstallationCheck(
        "upbeat", CheckStatus.OK, messages["installed"].format(version=installation.version, python=installation.python)
    )
    for name, reason in (
        ("switch", Reason.UPBEAT_DISABLED),
        ("mode", Reason.PLAN_MODE),
        ("settings", Reason.SETTINGS_INVALID),
    ):
        if reason in bad:
            yield check(name, reason, "")
    yield check("byte code", Reason.NO_BYTE_CODE, messages["byte_code_ok"].format(modules=installation.modules))
    yield check("SQLite", Reason.AFFECTED_SQLITE, messages["sqlite_ok"].format(version=installation.sqlite))
    yield check("file system", Reason.NETWORK_FILE_SYSTEM, messages["file_system_ok"].format(path=journal.path))
    yield check("journal", Reason.JOURNAL_UNUSABLE, messages["journal_ok"].format(records=f"{journal.records:,}"))
    if journal.write_failures:
        yield InstallationCheck(
            "not stored",
            CheckStatus.NOTE,
            messages["write_failures"].format(count=journal.write_failures, last=journal.last_failure),
        )
    if installation.failed_events:
        message = messages["failed_events"].format(
            count=installation.failed_events, days=installation.period_days, last=installation.last_failed_event
        )
        yield InstallationCheck("not answered", CheckStatus.NOTE, message, messages["failed_events_fix"])
    if installation.policies_off:
        yield InstallationCheck(
            "policies", CheckStatus.NOTE, messages["policies_off"].format(names=", ".join(installation.policies_off))
        )


# Evidence in the journal


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
        event_fields = entry.body.get("event_fields", {})
        if not isinstance(event_fields, dict) or DRIVER_FIELD in event_fields:
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
    effects = (effect for entry in entries for effect in mappings_of(entry.body, "effects"))
    reasons = (str(effect.get("text", "")) for effect in effects if effect.get("kind") == "deny")
    return any(reason and reason[:REASON_PREFIX_CHARS] in model_text for reason in reasons)


def last_hook_at(client: ClientSnapshot) -> str:
    """Return when a hook last fired in a session; empty if never."""
    return max((session.last_seen_at for session in client.sessions), default="")


def _find_proof(hook_point: HookPoint, client: ClientSnapshot) -> Proof | Fault:
    """Return the proof that ``hook_point`` is active, or the fault that the evidence shows."""
    if hook_point in client.hookless_points:
        return Proof("no_hook_needed")
    canary = client.canary
    proof = _proof_from_canary(hook_point, canary) if canary else _proof_from_sessions(hook_point, client)
    if hook_point is HookPoint.AGENTS and isinstance(proof, Fault) and proof.reason in _NOT_EXERCISED:
        for similar in (HookPoint.RESULTS, HookPoint.CALLS):
            known = _find_proof(similar, client)
            if isinstance(known, Proof):
                return Proof("inferred", known.at, known.session_id)
    return proof


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
    proof: Proof | Fault = Fault(Reason.UNPROVEN)
    for session in client.sessions:
        if hook_point in session.last_seen_by_point:
            proof = Proof("session", session.last_seen_by_point[hook_point], session.session_id)
            break
        if _should_have_fired(hook_point, session):
            return Fault(Reason.NOT_SEEN_IN_SESSION, session.session_id[:8])
    later = [
        session
        for session in client.unrecorded_sessions
        if session.started_at > max(client.hooks_written_at, last_hook_at(client))
    ]
    return Fault(Reason.UNRECORDED_SESSION, later[0].session_id[:8]) if later else proof


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
