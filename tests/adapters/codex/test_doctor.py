"""What the doctor sees of Codex: each fault disables the hook points that it concerns, and no others."""

from __future__ import annotations

import pytest
from doctor_home import DoctorHome, inactive_points
from reliability.doctor_faults import CODEX, FAULTS

from upbeat.adapters.codex.client import Codex
from upbeat.adapters.codex.doctor import WRAPPER_HOOK_POINTS, inspect_codex, inspect_wrapper, list_hooks
from upbeat.adapters.wiring import build_journal
from upbeat.core.doctor.findings import ClientSnapshot, Fault, HookPoint, Reason

DAILY = ("one hook without trust", "a hook edited after the review", "an old Codex", "hooks told in another form")
"""Faults that the default suite plants; the others are among the promises."""


def inspect(home: DoctorHome) -> ClientSnapshot:
    """The snapshot of Codex as it would start in the project."""
    return inspect_codex(Codex(), home.environment, str(home.project), build_journal(home.environment))


def test_everything_is_active_after_a_review_and_a_turn(doctor_home: DoctorHome) -> None:
    """With trusted hooks, and with a turn in the journal, every hook point is active."""
    assert {} == inactive_points(inspect(doctor_home))


@pytest.mark.parametrize(
    "name",
    [
        name if name in DAILY else pytest.param(name, marks=pytest.mark.reliability)
        for name, fault in FAULTS.items()
        if fault.client == CODEX and fault.reason != "server_not_connected"
    ],
)
def test_a_fault_disables_the_hook_points_that_it_concerns(doctor_home: DoctorHome, name: str) -> None:
    """These hook points are inactive for the fault's reason; others are at most unproven."""
    planted = FAULTS[name]
    planted.plant(doctor_home)
    inactive = inactive_points(inspect(doctor_home))

    assert planted.hook_points == {point for point, reasons in inactive.items() if planted.reason in reasons}
    assert all(reasons == {"unproven"} for point, reasons in inactive.items() if point not in planted.hook_points)


def test_codex_auto_needs_hooks_only_for_what_it_does_not_do_itself(doctor_home: DoctorHome) -> None:
    """Without trust, codex-auto still starts, prepares and ends turns; the other hook points are inactive."""
    FAULTS["no trust"].plant(doctor_home)

    assert set(HookPoint) - WRAPPER_HOOK_POINTS == set(inactive_points(inspect_wrapper(inspect(doctor_home))))


@pytest.mark.parametrize(
    "data", [None, 5, {}, [], [5], [{}], *([{"hooks": hooks}] for hooks in (None, 5, {}, [5], "hooks"))], ids=repr
)
def test_a_list_of_hooks_in_another_form_is_a_problem(doctor_home: DoctorHome, data: object) -> None:
    """A response that cannot be read is a fault, which shows it."""
    doctor_home.change(doctor_home.codex_home / "fake.json", listed={"data": data})
    fault = list_hooks(str(doctor_home.bin / "codex"), doctor_home.variables, str(doctor_home.project))

    assert isinstance(fault, Fault)
    assert (Reason.CLIENT_BROKEN, True) == (fault.reason, fault.detail.startswith("hooks/list: "))
