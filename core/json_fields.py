"""Read fields of JSON that another program wrote. Invariant: a field of another type counts as missing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def text_of(values: Mapping[str, Any], name: str) -> str:
    """Return the text ``name`` of a JSON object, empty if it is missing or no text."""
    value = values.get(name)
    return value if isinstance(value, str) else ""


def mapping_of(values: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return the object ``name`` of a JSON object, empty if it is missing or no object."""
    value = values.get(name)
    return value if isinstance(value, Mapping) else {}


def texts_of(values: Mapping[str, Any], name: str) -> list[str]:
    """Return the texts in the list ``name`` of a JSON object; nothing if there is no list."""
    value = values.get(name)
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def mappings_of(values: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    """Return the objects in the list ``name`` of a JSON object; nothing if there is no list."""
    value = values.get(name)
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []
