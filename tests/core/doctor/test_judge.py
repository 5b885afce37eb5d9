"""From observations to armed or not armed: what each fault disarms, and what counts as proof."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from doctor_values import BEFORE, NOW, SEEN, client, installation, session
from hypothesis import given
from hypothesis import strategies as st

from upbeat.core.doctor.findings import (
    ALL,
    REMEMBERING,
    Canary,
    ClientSeen,
    Fault,
    Guard,
    InstallationSeen,
    Presence,
    Proof,
    Reason,
    Report,
    Unseen,
)
from upbeat.core.doctor.judge import judge
from upbeat.core.doctor.texts import EN, TEXTS
from upbeat.core.journal.entry import Health

FLOWN = Canary(NOW, "ca4a4100", ALL - {Guard.AGENTS}, refused=True)
OLD = Fault(Reason.CLIENT_TOO_OLD, "1.0.0", can_be_disproved=True)
BROKEN_JOURNAL = Health("/j", exists=True, problem="no room")


def judged(seen: ClientSeen, here: InstallationSeen | None = None) -> Report:
    return judge(NOW, [seen], here or installation(), EN)


def unarmed(report: Report) -> dict[Guard, list[Reason]]:
    """The guards that are not armed, and why."""
    guards = [guard for one in report.clients for guard in one.guards]
    return {guard.guard: [because.reason for because in guard.reasons] for guard in guards if not guard.armed}


@pytest.mark.parametrize(
    "seen",
    [
        pytest.param(client(), id="seen in a session"),
        pytest.param(client(sessions=(), canary=FLOWN), id="the canary came through"),
        pytest.param(client(sessions=(session(*(ALL - {Guard.AGENTS})),)), id="no agent was ever started"),
        pytest.param(client(sessions=(session(Guard.START, Guard.TURNS), session(at=SEEN))), id="a session just begun"),
        pytest.param(client(kept=(Unseen("0ld", BEFORE),)), id="a session of before the hooks"),
        pytest.param(
            client(sessions=(), canary=FLOWN, own=frozenset({Guard.START}), faults=(OLD,)),
            id="old, and the canary came through",
        ),
        pytest.param(client(sessions=(), own=ALL), id="needs no hook"),
        pytest.param(client(presence=Presence.NOT_INSTALLED), id="never installed"),
        pytest.param(client(presence=Presence.NOT_HERE), id="no such client"),
    ],
)
def test_armed(seen: ClientSeen) -> None:
    """Nothing is unarmed where every guard was seen at work, or there is nothing to arm."""
    report = judged(seen)

    assert (True, {}) == (report.armed, unarmed(report))


@pytest.mark.parametrize(
    ("seen", "expected"),
    [
        pytest.param(client(sessions=()), dict.fromkeys(Guard, Reason.UNPROVEN), id="nothing seen yet"),
        pytest.param(
            client(sessions=(session(Guard.TURNS, Guard.ANSWERS, is_whole=False),)),
            dict.fromkeys((Guard.START, Guard.CALLS, Guard.END), Reason.UNPROVEN),
            id="its beginning shows nothing",
        ),
        pytest.param(
            client(sessions=(session(*(ALL - {Guard.TURNS})),)), {Guard.TURNS: Reason.SILENT}, id="calls, and no prompt"
        ),
        pytest.param(
            client(sessions=(session(*(ALL - {Guard.START})),)), {Guard.START: Reason.SILENT}, id="begun without"
        ),
        pytest.param(
            client(sessions=(session(*(ALL - {Guard.CALLS})),)), {Guard.CALLS: Reason.SILENT}, id="answers, and no call"
        ),
        pytest.param(
            client(sessions=(session(*(ALL - {Guard.ANSWERS}), times=3),)),
            {Guard.ANSWERS: Reason.SILENT},
            id="three calls, and no answer",
        ),
        pytest.param(
            client(sessions=(session(*(ALL - {Guard.END}), times=3), session())),
            {Guard.END: Reason.SILENT},
            id="three prompts, and no end; the session before it had one",
        ),
        pytest.param(
            client(kept=(Unseen("a1b2c3d4e5", "2026-11-22T09:28:00.000Z"),)),
            dict.fromkeys(Guard, Reason.UNSEEN_SESSION),
            id="a later session left nothing",
        ),
        pytest.param(
            client(canary=replace(FLOWN, seen=frozenset())),
            dict.fromkeys(Guard, Reason.DID_NOT_FIRE),
            id="the canary came through nowhere, whatever was seen before",
        ),
        pytest.param(
            client(canary=replace(FLOWN, refused=False)), {Guard.CALLS: Reason.NOT_REFUSED}, id="nothing was stopped"
        ),
        pytest.param(
            client(canary=replace(FLOWN, seen=FLOWN.seen - {Guard.END}, problem="it did not end")),
            {Guard.END: Reason.CANARY_FAILED},
            id="the canary broke off; what came counts",
        ),
        pytest.param(
            client(canary=replace(FLOWN, seen=frozenset({Guard.START}), server="plugin:upbeat:upbeat: failed")),
            dict.fromkeys(set(Guard) - {Guard.START}, Reason.SERVER_NOT_CONNECTED),
            id="only the command hooks came",
        ),
        pytest.param(
            client(faults=(Fault(Reason.UNTRUSTED, "Stop", frozenset({Guard.END})),)),
            {Guard.END: Reason.UNTRUSTED},
            id="a fault of one guard, whatever was seen",
        ),
        pytest.param(
            client(sessions=(), faults=(OLD,)), dict.fromkeys(Guard, Reason.CLIENT_TOO_OLD), id="old, and nothing seen"
        ),
        pytest.param(
            client(faults=(OLD,)), dict.fromkeys(Guard, Reason.CLIENT_TOO_OLD), id="old; a newer one may have been seen"
        ),
        pytest.param(
            client(own=ALL, canary=Canary(NOW, problem="exit 127"), faults=(OLD,)),
            dict.fromkeys(Guard, Reason.CLIENT_TOO_OLD),
            id="old, needs no hook, and the canary did not start",
        ),
    ],
)
def test_not_armed(seen: ClientSeen, expected: dict[Guard, Reason]) -> None:
    """Each guard that was not reached, or cannot be, is not armed, with one reason."""
    report = judged(seen)

    assert (False, {guard: [reason] for guard, reason in expected.items()}) == (report.armed, unarmed(report))


@pytest.mark.parametrize(
    ("more", "reason", "guards"),
    [
        ({"off_by": "environment: CI_AUTO_TOOLS"}, Reason.SWITCHED_OFF, ALL),
        ({"plan_by": "auto-tools.toml:3"}, Reason.PLAN_MODE, {Guard.TURNS}),
        ({"uncompiled": 12}, Reason.NO_BYTE_CODE, ALL),
        ({"sqlite": "3.40.1", "is_sqlite_sound": False}, Reason.AFFECTED_SQLITE, REMEMBERING),
        ({"is_network": True}, Reason.NETWORK_FILE_SYSTEM, REMEMBERING),
        ({"journal": BROKEN_JOURNAL}, Reason.JOURNAL_UNUSABLE, REMEMBERING),
    ],
)
def test_an_installation_disarms(more: dict[str, Any], reason: Reason, guards: set[Guard]) -> None:
    """A fault of this installation disarms the guards that it concerns in every client, and stands among its checks."""
    report = judged(client(), installation(**more))

    assert {guard: [reason] for guard in guards} == unarmed(report)
    assert 1 == sum(check.grade == "bad" for check in report.checks)


def test_notes_disarm_nothing() -> None:
    """What upbeat failed at, could not store, or was told to leave is said, and all is armed."""
    health = Health("/j", exists=True, failures=2, last_failure="2026-11-22 no room")
    here = installation(journal=health, unanswered=3, last_unanswered=SEEN, policies_off=("greet",))
    report = judged(client(), here)

    assert report.armed
    assert ["not stored", "not answered", "policies"] == [one.name for one in report.checks if one.grade == "note"]


def test_proofs_are_named() -> None:
    """What is armed says how that is known."""
    by_session = judged(client(sessions=(session(*(ALL - {Guard.AGENTS})),))).clients[0].guards
    by_canary = judged(client(canary=FLOWN)).clients[0].guards

    assert {guard: Proof("session", SEEN, "5e551000") for guard in set(Guard) - {Guard.AGENTS}} == {
        one.guard: one.proof for one in by_session if one.guard is not Guard.AGENTS
    }
    assert [Proof("alike", SEEN, "5e551000")] == [one.proof for one in by_session if one.guard is Guard.AGENTS]
    assert {"canary", "alike"} == {one.proof.kind for one in by_canary if one.proof}


def test_one_unarmed_client_is_enough() -> None:
    """The whole is armed only when each client is."""
    report = judge(NOW, [client(), client(sessions=())], installation(), EN)

    assert (False, [True, False]) == (report.armed, [one.armed for one in report.clients])


FAULTS = st.builds(
    Fault, st.sampled_from(Reason), st.text(max_size=8), st.frozensets(st.sampled_from(Guard)), st.booleans()
)
SESSIONS = st.builds(
    session,
    st.sampled_from(Guard),
    at=st.sampled_from([BEFORE, SEEN]),
    times=st.integers(1, 5),
    is_whole=st.booleans(),
    is_wrapped=st.booleans(),
)


@given(st.lists(FAULTS, max_size=4), st.lists(SESSIONS, max_size=3), st.sampled_from(sorted(TEXTS)))
def test_armed_only_with_proof(faults: list[Fault], sessions: list[Any], language: str) -> None:
    """Whatever was seen: a guard is armed with a proof and without a certain fault, or not armed with a reason."""
    seen = client(faults=tuple(faults), sessions=tuple(sessions))
    [report] = judge(NOW, [seen], installation(), TEXTS[language]).clients
    certain = {guard for fault in faults if not fault.can_be_disproved for guard in fault.guards}

    assert [*Guard] == [guard.guard for guard in report.guards]
    for guard in report.guards:
        assert (guard.proof is not None) is guard.armed
        assert bool(guard.reasons) is not guard.armed
        assert not (guard.armed and guard.guard in certain)
        assert all(because.sentence and because.way_out for because in guard.reasons)
