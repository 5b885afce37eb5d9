"""The parts of ``docs/promises.md``, in its order, by the names that the command takes."""

from __future__ import annotations

from collections.abc import Mapping

from . import misbehaving_servers, never_in_the_way, package, plan_bytes, text_stays_data, tools_that_hang
from .promise import Part

PARTS: Mapping[str, Part] = {
    "package": package,
    "never-in-the-way": never_in_the_way,
    "tools-that-hang": tools_that_hang,
    "misbehaving-servers": misbehaving_servers,
    "text-stays-data": text_stays_data,
    "determinism": plan_bytes,
}
