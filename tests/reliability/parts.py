"""The parts of ``docs/promises.md``, in its order, by the names that the command takes."""

from __future__ import annotations

from collections.abc import Mapping

from . import misbehaving_servers, never_in_the_way, package, plan_bytes, secrets, text_stays_data
from .promise import Part

PARTS: Mapping[str, Part] = {
    "package": package,
    "never-in-the-way": never_in_the_way,
    "misbehaving-servers": misbehaving_servers,
    "text-stays-data": text_stays_data,
    "secrets": secrets,
    "determinism": plan_bytes,
}
