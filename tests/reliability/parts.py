"""The parts of ``docs/promises.md``, in its order, by the names that the command takes."""

from __future__ import annotations

from collections.abc import Mapping

from . import package, plan_bytes
from .promise import Part

PARTS: Mapping[str, Part] = {
    "determinism": plan_bytes,
    "package": package,
}
