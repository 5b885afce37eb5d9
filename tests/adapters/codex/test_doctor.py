"""What the doctor sees of Codex: each fault disables the hook points that it concerns, and no others."""

from __future__ import annotations

import pytest
from doctor_home import DoctorHome, inactive_points
from reliability.doctor_faults import FAULTS

from upbeat.adapters.codex.client import Codex
from upbeat.adapters.codex.doctor import WRAPPER_HOOK_POINTS, inspect_codex, inspect_wrapper, list_hooks
from upbeat.adapters.wiring import build_journal
from upbeat.core.doctor.findings import ClientSnapshot, Fault, HookPoint, Reason


def inspect(home: DoctorHome) -> ClientSnapshot:
    """The snapshot of Codex as it would start in the project."""
    return inspect_codex(Codex(), home.environment, str(home.project), build_journal(home.environment))


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
