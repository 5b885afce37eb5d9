"""Read fields of JSON objects from Codex: a field of another type counts as missing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

JsonObject = Mapping[str, Any]


def string_field(fields: JsonObject, name: str) -> str:
    """Return the string ``name``, or an empty one."""
    value = fields.get(name)
    return value if isinstance(value, str) else ""


def object_field(fields: JsonObject, name: str) -> JsonObject:
    """Return the object ``name``, or an empty one."""
    value = fields.get(name)
    return value if isinstance(value, dict) else {}


def int_field(fields: JsonObject, name: str) -> int:
    """Return the non-negative number ``name``, or 0."""
    value = fields.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else 0
