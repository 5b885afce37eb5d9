"""Hook points are active or inactive by the faults and the evidence that were observed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from doctor_values import BEFORE, NOW, SEEN, client, installation, session
from hypothesis import given
from hypothesis import strategies as st

from upbeat.core.doctor.diagnose import diagnose, summarize_session, was_refused
from upbeat.core.doctor.findings import (
    ALL_HOOK_POINTS,
    STATEFUL_HOOK_POINTS,
    CanaryResult,
    ClientSnapshot,
    DoctorReport,
    Fault,
    HookPoint,
    InstallationSnapshot,
    InstallStatus,
    Proof,
    Reason,
    SessionActivity,
    UnrecordedSession,
)
from upbeat.core.journal.record import JournalEntry, JournalHealth
from upbeat.core.messages.catalogue import LANGUAGES, load_messages

MESSAGES = load_messages("doctor", "en")

COMPLETED = CanaryResult(NOW, "ca4a4100", ALL_HOOK_POINTS - {HookPoint.AGENTS}, refused=True)
OLD = Fault(Reason.CLIENT_TOO_OLD, "1.0.0", can_be_disproved=True)
BROKEN_JOURNAL = JournalHealth("/j", exists=True, problem="no room")


def diagnosed(seen: ClientSnapshot, here: InstallationSnapshot | None = None) -> DoctorReport:
    return diagnose(NOW, [seen], here or installation(), MESSAGES)


def inactive_points(report: DoctorReport) -> dict[HookPoint, list[Reason]]:
    """The hook points that are inactive, and why."""
    hook_points = [hook_point for reported in report.clients for hook_point in reported.hook_points]
    return {
        hook_point.hook_point: [reason.reason for reason in hook_point.reasons]
        for hook_point in hook_points
        if not hook_point.active
    }


def without(hook_point: HookPoint, **more: Any) -> SessionActivity:
    """A session that reached every hook point except one."""
    return session(*(ALL_HOOK_POINTS - {hook_point}), **more)


ACTIVE = {
    "seen in a session": client(),
    "the canary completed": client(sessions=(), canary=COMPLETED),
    "no agent was ever started": client(sessions=(without(HookPoint.AGENTS),)),
    "a session has just begun": client(sessions=(session(HookPoint.START, HookPoint.TURNS), session(at=SEEN))),
    "a session before the hooks": client(unrecorded_sessions=(UnrecordedSession("0ld", BEFORE),)),
    "old, and the canary completed": client(
        sessions=(), canary=COMPLETED, hookless_points=frozenset({HookPoint.START}), faults=(OLD,)
    ),
    "needs no hook": client(sessions=(), hookless_points=ALL_HOOK_POINTS),
    "not installed": client(install_status=InstallStatus.NOT_INSTALLED),
    "no such client": client(install_status=InstallStatus.CLIENT_NOT_FOUND),
}


@pytest.mark.parametrize("seen", ACTIVE.values(), ids=ACTIVE)
def test_active(seen: ClientSnapshot) -> None:
    """Nothing is inactive if every hook point was observed, or if there is nothing to check."""
    report = diagnosed(seen)

    assert (True, {}) == (report.active, inactive_points(report))


def all_for(reason: Reason) -> dict[HookPoint, Reason]:
    return dict.fromkeys(HookPoint, reason)


def not_seen(hook_point: HookPoint, **more: Any) -> tuple[ClientSnapshot, dict[HookPoint, Reason]]:
    """A client whose session did not reach one hook point, and why that is inactive."""
    return client(sessions=(without(hook_point, **more),)), {hook_point: Reason.NOT_SEEN_IN_SESSION}


INACTIVE: dict[str, tuple[ClientSnapshot, dict[HookPoint, Reason]]] = {
    "nothing seen yet": (client(sessions=()), all_for(Reason.UNPROVEN)),
    "the beginning of a session is missing": (
        client(sessions=(session(HookPoint.TURNS, HookPoint.RESULTS, is_complete=False),)),
        dict.fromkeys((HookPoint.START, HookPoint.CALLS, HookPoint.END), Reason.UNPROVEN),
    ),
    "calls without a prompt": not_seen(HookPoint.TURNS),
    "no start": not_seen(HookPoint.START),
    "results without a call": not_seen(HookPoint.CALLS),
    "three calls without a result": not_seen(HookPoint.RESULTS, times=3),
    "three prompts without an end, which an earlier session had": (
        client(sessions=(without(HookPoint.END, times=3), session())),
        {HookPoint.END: Reason.NOT_SEEN_IN_SESSION},
    ),
    "a later session is not recorded": (
        client(unrecorded_sessions=(UnrecordedSession("a1b2c3d4e5", "2026-11-22T09:28:00.000Z"),)),
        all_for(Reason.UNRECORDED_SESSION),
    ),
    "the canary reached nothing": (client(canary=replace(COMPLETED, seen=frozenset())), all_for(Reason.DID_NOT_FIRE)),
    "nothing was refused": (client(canary=replace(COMPLETED, refused=False)), {HookPoint.CALLS: Reason.NOT_REFUSED}),
    "the canary broke off": (
        client(canary=replace(COMPLETED, seen=COMPLETED.seen - {HookPoint.END}, problem="it did not end")),
        {HookPoint.END: Reason.CANARY_FAILED},
    ),
    "only the command hooks fired": (
        client(canary=replace(COMPLETED, seen=frozenset({HookPoint.START}), server="plugin:upbeat:upbeat: failed")),
        dict.fromkeys(set(HookPoint) - {HookPoint.START}, Reason.SERVER_NOT_CONNECTED),
    ),
    "a fault of one hook point": (
        client(faults=(Fault(Reason.UNTRUSTED, "Stop", frozenset({HookPoint.END})),)),
        {HookPoint.END: Reason.UNTRUSTED},
    ),
    "old, and nothing seen": (client(sessions=(), faults=(OLD,)), all_for(Reason.CLIENT_TOO_OLD)),
    "old, and a newer one may have been seen": (client(faults=(OLD,)), all_for(Reason.CLIENT_TOO_OLD)),
    "old, needs no hook, and the canary did not start": (
        client(hookless_points=ALL_HOOK_POINTS, canary=CanaryResult(NOW, problem="exit 127"), faults=(OLD,)),
        all_for(Reason.CLIENT_TOO_OLD),
    ),
}


@pytest.mark.parametrize(("seen", "expected"), INACTIVE.values(), ids=INACTIVE)
def test_inactive(seen: ClientSnapshot, expected: dict[HookPoint, Reason]) -> None:
    """A hook point that was not reached, or cannot be, is inactive, with one reason."""
    report = diagnosed(seen)

    assert (False, {hook_point: [reason] for hook_point, reason in expected.items()}) == (
        report.active,
        inactive_points(report),
    )


@pytest.mark.parametrize(
    ("more", "reason", "hook_points"),
    [
        ({"disabled_by": "environment: CI_AUTO_TOOLS"}, Reason.UPBEAT_DISABLED, ALL_HOOK_POINTS),
        ({"plan_mode_by": "auto-tools.toml:3"}, Reason.PLAN_MODE, {HookPoint.TURNS}),
        ({"settings_problems": ("a.toml:1: unknown key",)}, Reason.SETTINGS_INVALID, {HookPoint.TURNS}),
        ({"uncompiled_modules": 12}, Reason.NO_BYTE_CODE, ALL_HOOK_POINTS),
        ({"sqlite": "3.40.1", "is_sqlite_sound": False}, Reason.AFFECTED_SQLITE, STATEFUL_HOOK_POINTS),
        ({"is_network_file_system": True}, Reason.NETWORK_FILE_SYSTEM, STATEFUL_HOOK_POINTS),
        ({"journal": BROKEN_JOURNAL}, Reason.JOURNAL_UNUSABLE, STATEFUL_HOOK_POINTS),
    ],
)
def test_a_fault_of_the_installation(more: dict[str, Any], reason: Reason, hook_points: set[HookPoint]) -> None:
    """A fault of this installation disables its hook points in every client and is among the checks."""
    report = diagnosed(client(), installation(**more))

    assert {hook_point: [reason] for hook_point in hook_points} == inactive_points(report)
    assert 1 == sum(check.status == "bad" for check in report.checks)


def test_notes_disable_nothing() -> None:
    """Failed events, lost records and disabled policies are noted, and disable no hook point."""
    health = JournalHealth("/j", exists=True, write_failures=2, last_failure="2026-11-22 no room")
    here = installation(journal=health, failed_events=3, last_failed_event=SEEN, policies_off=("announce-startup",))
    report = diagnosed(client(), here)

    assert report.active
    assert ["not stored", "not answered", "policies"] == [one.name for one in report.checks if one.status == "note"]


def test_proofs_are_named() -> None:
    """An active hook point has the proof of it; agents are inferred from calls and results."""
    by_session = diagnosed(client(sessions=(without(HookPoint.AGENTS),))).clients[0].hook_points
    by_canary = diagnosed(client(canary=COMPLETED)).clients[0].hook_points
    kinds = dict.fromkeys(HookPoint, "session") | {HookPoint.AGENTS: "inferred"}

    assert {hook_point: Proof(kind, SEEN, "5e551000") for hook_point, kind in kinds.items()} == {
        reported.hook_point: reported.proof for reported in by_session
    }
    assert {"canary", "inferred"} == {reported.proof.kind for reported in by_canary if reported.proof}


def test_one_inactive_client_is_enough() -> None:
    """The report is active only if each client is."""
    report = diagnose(NOW, [client(), client(sessions=())], installation(), MESSAGES)

    assert (False, [True, False]) == (report.active, [one.active for one in report.clients])


FAULTS = st.builds(
    Fault, st.sampled_from(Reason), st.text(max_size=8), st.frozensets(st.sampled_from(HookPoint)), st.booleans()
)
SESSIONS = st.builds(
    session,
    st.sampled_from(HookPoint),
    at=st.sampled_from([BEFORE, SEEN]),
    times=st.integers(1, 5),
    is_complete=st.booleans(),
    is_wrapped=st.booleans(),
)


@given(st.lists(FAULTS, max_size=4), st.lists(SESSIONS, max_size=3), st.sampled_from(LANGUAGES))
def test_active_only_with_proof(faults: list[Fault], sessions: list[Any], language: str) -> None:
    """A hook point is active with a proof and without a certain fault, or inactive with a reason."""
    seen = client(faults=tuple(faults), sessions=tuple(sessions))
    [report] = diagnose(NOW, [seen], installation(), load_messages("doctor", language)).clients
    certain = {hook_point for fault in faults if not fault.can_be_disproved for hook_point in fault.hook_points}

    assert [*HookPoint] == [hook_point.hook_point for hook_point in report.hook_points]
    for hook_point in report.hook_points:
        assert (hook_point.proof is not None) is hook_point.active
        assert bool(hook_point.reasons) is not hook_point.active
        assert not (hook_point.active and hook_point.hook_point in certain)
        assert all(reason.message and reason.fix for reason in hook_point.reasons)


MOST = 100
LATER = "2026-01-02T04:00:00.000Z"


def entry(event: str, at: str = "2026-01-02T03:04:05.000Z", about: Any = None, **more: Any) -> JournalEntry:
    body = {"event": event, "at": at, "session_id": "s-1", "event_fields": about or {}} | more
    return JournalEntry(1, body, "", "")


def test_events_are_counted_by_hook_point() -> None:
    """Each event counts for its hook point, with its last time; other events do not count."""
    entries = [
        entry("SessionStarted", "2026-01-02T03:00:00.000Z"),
        entry("ToolStarting", "2026-01-02T03:01:00.000Z"),
        entry("SubagentRequested", "2026-01-02T03:02:00.000Z"),
        entry("SessionEnded", "2026-01-02T03:03:00.000Z"),
    ]
    last = {HookPoint.START: "2026-01-02T03:00:00.000Z", HookPoint.CALLS: "2026-01-02T03:02:00.000Z"}

    assert SessionActivity(
        "s-1", "2026-01-02T03:02:00.000Z", {HookPoint.START: 1, HookPoint.CALLS: 2}, last
    ) == summarize_session(entries, MOST, LATER)


def test_events_of_a_driver_are_no_evidence() -> None:
    """Events that codex-auto reported itself show no hook, and that the session was wrapped."""
    driven = entry("PromptSubmitted", event_fields={"driver": "codex-auto", "prompt": "p"})
    hooked = entry("PromptSubmitted", event_fields={"origin": "wrapped"})
    seen = summarize_session([driven, hooked], MOST, LATER)

    assert summarize_session([driven, driven], MOST, LATER) is None
    assert seen is not None
    assert ({HookPoint.TURNS: 1}, True) == (seen.counts, seen.is_wrapped)


def test_no_records_show_nothing() -> None:
    """An unknown session, and one of other records only, are none."""
    assert [None, None] == [summarize_session(entries, MOST, LATER) for entries in ([], [entry("internal_error")])]


def test_a_long_session_is_not_whole() -> None:
    """Where as many records were read as may be, its beginning may be missing."""
    seen = summarize_session([entry("PromptSubmitted")] * 3, 3, NOW)

    assert seen is not None
    assert not seen.is_complete


def test_records_of_other_hooks_show_nothing() -> None:
    """What was seen before the hooks were written is not counted, and the session is not whole."""
    entries = [entry("ToolStarting"), entry("PromptSubmitted", "2026-01-02T03:30:00.000Z")]
    last = {HookPoint.TURNS: "2026-01-02T03:30:00.000Z"}
    seen = summarize_session(entries, MOST, LATER, since="2026-01-02T03:20:00.000Z")

    assert SessionActivity("s-1", "2026-01-02T03:30:00.000Z", {HookPoint.TURNS: 1}, last, is_complete=False) == seen
    assert summarize_session(entries, MOST, LATER, since="2026-01-02T03:40:00.000Z") is None


@pytest.mark.parametrize(
    "at",
    [
        *("", "yesterday", "2026-01-02", "2026-01-02T03:04:05.000", "2026-13-02T03:04:05.000Z"),
        *("2026-01-02T03:04:05.000+05:00", "0001-01-01T00:00:00.000+23:00", "9999-12-31T23:59:59.000Z", 5, None),
    ],
)
def test_records_without_a_valid_time_are_skipped(at: object) -> None:
    """A record without a valid time, or from the future, is skipped; the others count."""
    seen = summarize_session([entry("ToolStarting", at=at), entry("PromptSubmitted")], MOST, LATER)  # type: ignore[arg-type]

    assert seen is not None
    assert ({HookPoint.TURNS: 1}, False) == (seen.counts, seen.is_complete)


def test_was_refused() -> None:
    """A refusal is a recorded denial whose reason the model received; one without the other is none."""
    denied = [entry("ToolStarting", effects=[{"kind": "deny", "text": "Stopped: it deletes the history"}])]
    asked = [entry("ToolStarting", effects=[{"kind": "ask", "text": "Stopped: it deletes the history"}])]

    assert was_refused(denied, '[{"content": "hook error: Stopped: it deletes …"}]')
    assert not was_refused(denied, "Permission to use Bash has been denied")
    assert not was_refused(asked, "Stopped: it deletes the history")
    assert not was_refused([], "Stopped: it deletes the history")
