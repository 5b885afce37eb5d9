"""The parts of ``docs/promises.md``, in its order, by the names that the command takes."""

from __future__ import annotations

from collections.abc import Mapping

from . import (
    doctor_faults,
    exact_approvals,
    hostile_repository,
    install_homes,
    misbehaving_servers,
    never_in_the_way,
    nothing_lost,
    package,
    plan_bytes,
    planted_secrets,
    supervision,
    text_stays_data,
    tools_that_hang,
)
from .promise import Part

PARTS: Mapping[str, Part] = {
    "install": install_homes,
    "package": package,
    "doctor": doctor_faults,
    "nothing-lost": nothing_lost,
    "never-in-the-way": never_in_the_way,
    "tools-that-hang": tools_that_hang,
    "misbehaving-servers": misbehaving_servers,
    "secrets": planted_secrets,
    "hostile-repository": hostile_repository,
    "supervision": supervision,
    "text-stays-data": text_stays_data,
    "approvals": exact_approvals,
    "determinism": plan_bytes,
}
