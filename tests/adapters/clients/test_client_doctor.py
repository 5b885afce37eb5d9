"""What the doctor sees of each client: a fault disables the hook points that it concerns, and no others."""

from __future__ import annotations

import pytest
from doctor_home import DoctorHome, inactive_points
from reliability.doctor_faults import FAULTS

from upbeat.adapters.clients.registry import CLIENTS, find_client
from upbeat.adapters.wiring import build_journal
from upbeat.core.doctor.findings import ClientSnapshot

DAILY = {
    *("hooks switched off in the project", "only the administrator's hooks", "interpreter gone", "a hook taken out"),
    *("the server switched off", "installed from two marketplaces", "another hook of the kind", "no end arrives"),
    *("a session that left nothing", "one hook without trust", "a hook edited after the review", "an old Codex"),
    "hooks told in another form",
}
"""Faults that the default suite plants; the others are among the promises."""


def inspect(home: DoctorHome, client: str) -> ClientSnapshot:
    """The snapshot of ``client`` as it would start in the project."""
    project = str(home.project)
    return find_client(client).inspect(home.environment, project, project, build_journal(home.environment))


@pytest.mark.parametrize("client", [client.id for client in CLIENTS])
def test_everything_is_active_after_an_installation_and_a_turn(doctor_home: DoctorHome, client: str) -> None:
    """Without a fault, with trusted hooks and a turn in the journal, every hook point is active."""
    assert {} == inactive_points(inspect(doctor_home, client))


@pytest.mark.parametrize(
    "name",
    [
        name if name in DAILY else pytest.param(name, marks=pytest.mark.reliability)
        for name, fault in FAULTS.items()
        if fault.client and fault.reason != "server_not_connected"
    ],
)
def test_a_fault_disables_the_hook_points_that_it_concerns(doctor_home: DoctorHome, name: str) -> None:
    """These hook points are inactive for the fault's reason; others are at most unproven."""
    planted = FAULTS[name]
    planted.plant(doctor_home)
    inactive = inactive_points(inspect(doctor_home, planted.client))

    assert planted.hook_points == {point for point, reasons in inactive.items() if planted.reason in reasons}
    assert all(reasons == {"unproven"} for point, reasons in inactive.items() if point not in planted.hook_points)
