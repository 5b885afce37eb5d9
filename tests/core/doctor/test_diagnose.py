"""From observations to active or inactive: what each fault disables, and what counts as proof."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from doctor_values import BEFORE, NOW, SEEN, client, installation, session
from hypothesis import given
from hypothesis import strategies as st

from upbeat.core.doctor.diagnose import diagnose
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
    UnrecordedSession,
)
from upbeat.core.journal.record import JournalHealth
from upbeat.core.messages.catalogue import LANGUAGES, load_messages

MESSAGES = load_messages("doctor", "en")

FLOWN = CanaryResult(NOW, "ca4a4100", ALL_HOOK_POINTS - {HookPoint.AGENTS}, refused=True)
OLD = Fault(Reason.CLIENT_TOO_OLD, "1.0.0", can_be_disproved=True)
BROKEN_JOURNAL = JournalHealth("/j", exists=True, problem="no room")


def judged(seen: ClientSnapshot, here: InstallationSnapshot | None = None) -> DoctorReport:
    return diagnose(NOW, [seen], here or installation(), MESSAGES)


def inactive_points(report: DoctorReport) -> dict[HookPoint, list[Reason]]:
    """The hook points that are inactive, and why."""
    hook_points = [hook_point for one in report.clients for hook_point in one.hook_points]
    return {
        hook_point.hook_point: [reason.reason for reason in hook_point.reasons]
        for hook_point in hook_points
        if not hook_point.active
    }


@pytest.mark.parametrize(
    "seen",
    [
        pytest.param(client(), id="seen in a session"),
        pytest.param(client(sessions=(), canary=FLOWN), id="the canary came through"),
        pytest.param(
            client(sessions=(session(*(ALL_HOOK_POINTS - {HookPoint.AGENTS})),)), id="no agent was ever started"
        ),
        pytest.param(
            client(sessions=(session(HookPoint.START, HookPoint.TURNS), session(at=SEEN))), id="a session just begun"
        ),
        pytest.param(
            client(unrecorded_sessions=(UnrecordedSession("0ld", BEFORE),)), id="a session of before the hooks"
        ),
        pytest.param(
            client(sessions=(), canary=FLOWN, hookless_points=frozenset({HookPoint.START}), faults=(OLD,)),
            id="old, and the canary came through",
        ),
        pytest.param(client(sessions=(), hookless_points=ALL_HOOK_POINTS), id="needs no hook"),
        pytest.param(client(install_status=InstallStatus.NOT_INSTALLED), id="never installed"),
        pytest.param(client(install_status=InstallStatus.CLIENT_NOT_FOUND), id="no such client"),
    ],
)
def test_active(seen: ClientSnapshot) -> None:
    """Nothing is inactive where every hook point was seen at work, or there is nothing to check."""
    report = judged(seen)

    assert (True, {}) == (report.active, inactive_points(report))


@pytest.mark.parametrize(
    ("seen", "expected"),
    [
        pytest.param(client(sessions=()), dict.fromkeys(HookPoint, Reason.UNPROVEN), id="nothing seen yet"),
        pytest.param(
            client(sessions=(session(HookPoint.TURNS, HookPoint.RESULTS, is_complete=False),)),
            dict.fromkeys((HookPoint.START, HookPoint.CALLS, HookPoint.END), Reason.UNPROVEN),
            id="its beginning shows nothing",
        ),
        pytest.param(
            client(sessions=(session(*(ALL_HOOK_POINTS - {HookPoint.TURNS})),)),
            {HookPoint.TURNS: Reason.NOT_SEEN_IN_SESSION},
            id="calls, and no prompt",
        ),
        pytest.param(
            client(sessions=(session(*(ALL_HOOK_POINTS - {HookPoint.START})),)),
            {HookPoint.START: Reason.NOT_SEEN_IN_SESSION},
            id="begun without",
        ),
        pytest.param(
            client(sessions=(session(*(ALL_HOOK_POINTS - {HookPoint.CALLS})),)),
            {HookPoint.CALLS: Reason.NOT_SEEN_IN_SESSION},
            id="answers, and no call",
        ),
        pytest.param(
            client(sessions=(session(*(ALL_HOOK_POINTS - {HookPoint.RESULTS}), times=3),)),
            {HookPoint.RESULTS: Reason.NOT_SEEN_IN_SESSION},
            id="three calls, and no answer",
        ),
        pytest.param(
            client(sessions=(session(*(ALL_HOOK_POINTS - {HookPoint.END}), times=3), session())),
            {HookPoint.END: Reason.NOT_SEEN_IN_SESSION},
            id="three prompts, and no end; the session before it had one",
        ),
        pytest.param(
            client(unrecorded_sessions=(UnrecordedSession("a1b2c3d4e5", "2026-11-22T09:28:00.000Z"),)),
            dict.fromkeys(HookPoint, Reason.UNRECORDED_SESSION),
            id="a later session left nothing",
        ),
        pytest.param(
            client(canary=replace(FLOWN, seen=frozenset())),
            dict.fromkeys(HookPoint, Reason.DID_NOT_FIRE),
            id="the canary came through nowhere, whatever was seen before",
        ),
        pytest.param(
            client(canary=replace(FLOWN, refused=False)),
            {HookPoint.CALLS: Reason.NOT_REFUSED},
            id="nothing was stopped",
        ),
        pytest.param(
            client(canary=replace(FLOWN, seen=FLOWN.seen - {HookPoint.END}, problem="it did not end")),
            {HookPoint.END: Reason.CANARY_FAILED},
            id="the canary broke off; what came counts",
        ),
        pytest.param(
            client(canary=replace(FLOWN, seen=frozenset({HookPoint.START}), server="plugin:upbeat:upbeat: failed")),
            dict.fromkeys(set(HookPoint) - {HookPoint.START}, Reason.SERVER_NOT_CONNECTED),
            id="only the command hooks came",
        ),
        pytest.param(
            client(faults=(Fault(Reason.UNTRUSTED, "Stop", frozenset({HookPoint.END})),)),
            {HookPoint.END: Reason.UNTRUSTED},
            id="a fault of one hook point, whatever was seen",
        ),
        pytest.param(
            client(sessions=(), faults=(OLD,)),
            dict.fromkeys(HookPoint, Reason.CLIENT_TOO_OLD),
            id="old, and nothing seen",
        ),
        pytest.param(
            client(faults=(OLD,)),
            dict.fromkeys(HookPoint, Reason.CLIENT_TOO_OLD),
            id="old; a newer one may have been seen",
        ),
        pytest.param(
            client(hookless_points=ALL_HOOK_POINTS, canary=CanaryResult(NOW, problem="exit 127"), faults=(OLD,)),
            dict.fromkeys(HookPoint, Reason.CLIENT_TOO_OLD),
            id="old, needs no hook, and the canary did not start",
        ),
    ],
)
def test_inactive(seen: ClientSnapshot, expected: dict[HookPoint, Reason]) -> None:
    """Each hook point that was not reached, or cannot be, is inactive, with one reason."""
    report = judged(seen)

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
    report = judged(client(), installation(**more))

    assert {hook_point: [reason] for hook_point in hook_points} == inactive_points(report)
    assert 1 == sum(check.status == "bad" for check in report.checks)


def test_notes_disable_nothing() -> None:
    """What upbeat failed at, could not store, or was told to leave is said, and all is active."""
    health = JournalHealth("/j", exists=True, write_failures=2, last_failure="2026-11-22 no room")
    here = installation(journal=health, failed_events=3, last_failed_event=SEEN, policies_off=("announce-startup",))
    report = judged(client(), here)

    assert report.active
    assert ["not stored", "not answered", "policies"] == [one.name for one in report.checks if one.status == "note"]


def test_proofs_are_named() -> None:
    """What is active says how that is known."""
    by_session = judged(client(sessions=(session(*(ALL_HOOK_POINTS - {HookPoint.AGENTS})),))).clients[0].hook_points
    by_canary = judged(client(canary=FLOWN)).clients[0].hook_points

    assert {hook_point: Proof("session", SEEN, "5e551000") for hook_point in set(HookPoint) - {HookPoint.AGENTS}} == {
        one.hook_point: one.proof for one in by_session if one.hook_point is not HookPoint.AGENTS
    }
    assert [Proof("inferred", SEEN, "5e551000")] == [
        one.proof for one in by_session if one.hook_point is HookPoint.AGENTS
    ]
    assert {"canary", "inferred"} == {one.proof.kind for one in by_canary if one.proof}


def test_one_unarmed_client_is_enough() -> None:
    """The whole is active only when each client is."""
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
    """Whatever was seen: a hook point is active with a proof and without a certain fault, or inactive with a reason."""
    seen = client(faults=tuple(faults), sessions=tuple(sessions))
    [report] = diagnose(NOW, [seen], installation(), load_messages("doctor", language)).clients
    certain = {hook_point for fault in faults if not fault.can_be_disproved for hook_point in fault.hook_points}

    assert [*HookPoint] == [hook_point.hook_point for hook_point in report.hook_points]
    for hook_point in report.hook_points:
        assert (hook_point.proof is not None) is hook_point.active
        assert bool(hook_point.reasons) is not hook_point.active
        assert not (hook_point.active and hook_point.hook_point in certain)
        assert all(reason.message and reason.fix for reason in hook_point.reasons)
