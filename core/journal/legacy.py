"""Read records and session states of journals that schema version 2 wrote, under the names of this version.

Invariant: pure, and nothing is rewritten in a record, because the hash chain covers its stored bytes. What this
version writes passes through unchanged.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import Any

from upbeat.core.package_data import load_toml

LEGACY_STATE_MARK = '"notebook":'
"""A key that every state of version 2 has and that no later one has; a text cannot contain it unescaped."""

_CONTINUATION_NOTE = "drive "


def upgrade_record(body: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a stored record under the present names; ``body`` itself if it has them."""
    if "said" not in body and "about" not in body:
        return body
    upgraded = _rename(body, _names("record"))
    upgraded["event"] = upgrade_event_name(str(body.get("event", "")))
    for name in ("event_fields", "turn"):
        if isinstance(upgraded.get(name), Mapping):
            upgraded[name] = _rename(upgraded[name], _names(name))
    for name, upgrade in (
        ("explanations", _upgrade_explanation),
        ("effects", _upgrade_effect),
        ("facts", _upgrade_fact),
    ):
        if isinstance(upgraded.get(name), list):
            upgraded[name] = [upgrade(entry) if isinstance(entry, dict) else entry for entry in upgraded[name]]
    return upgraded


def upgrade_event_name(name: str) -> str:
    """Return the present name of an event."""
    return _names("events").get(name, name)


def upgrade_state(state: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON of a state of schema version 2 under the present names."""
    return _upgrade_part("state", state)


def _upgrade_explanation(explanation: Mapping[str, Any]) -> dict[str, Any]:
    upgraded = _rename(explanation, _names("explanation"))
    component, decision = str(upgraded.get("component", "")), str(upgraded.get("decision", ""))
    upgraded["component"] = _names("components").get(component) or _component(component)
    upgraded["decision"] = _names("decisions").get(decision, decision)
    if upgraded["decision"] == "dropped":
        reason = str(upgraded.get("reason", ""))
        for old, new in _names("drop_reasons").items():
            reason = reason.replace(old, new)
        upgraded["reason"] = reason
    return upgraded


def _upgrade_effect(effect: Mapping[str, Any]) -> dict[str, Any]:
    kind = str(effect.get("kind", ""))
    part = {"part": _component(str(effect["part"]))} if "part" in effect else {}
    return {**effect, "kind": _names("effects").get(kind, kind), **part}


def _component(name: str) -> str:
    kind, space, policy = name.partition(" ")
    return f"{kind}{space}{_names('policies').get(policy, policy)}" if kind == "policy" else name


def _upgrade_fact(fact: Mapping[str, Any]) -> dict[str, Any]:
    kind = _names("facts").get(str(fact.get("kind")), str(fact.get("kind")))
    upgraded = _upgrade_part(kind, fact) | {"kind": kind}
    if kind == "loop_ended":
        upgraded["reason"] = _names("loop_end_reasons").get(str(fact.get("reason")), fact.get("reason"))
    return upgraded


def _upgrade_part(name: str, part: Mapping[str, Any]) -> dict[str, Any]:
    """Rename the fields of a fact or of a part of a state, and of the parts inside it."""
    upgraded = _rename(part, load_toml(__package__, "legacy_names.toml")["fields"].get(name, {}))
    for field, value in upgraded.items():
        inner = "steps" if field == "repair_steps" else field
        if isinstance(value, dict):
            upgraded[field] = _upgrade_part(inner, value)
        elif isinstance(value, list):
            upgraded[field] = [_upgrade_part(inner, entry) if isinstance(entry, dict) else entry for entry in value]
    if "policy" in upgraded:
        upgraded["policy"] = _names("policies").get(str(upgraded["policy"]), upgraded["policy"])
        upgraded["notes"] = [_upgrade_note(str(note)) for note in upgraded.get("notes") or ()]
    if name == "loop":
        reason = upgraded.get("end_reason", "")
        upgraded["end_reason"] = _names("loop_end_reasons").get(str(reason), reason)
    return upgraded


def _upgrade_note(note: str) -> str:
    """Rename the fields of a policy's continuation state (``upbeat.core.policy.continuation``)."""
    if not note.startswith(_CONTINUATION_NOTE):
        return note
    try:
        values = json.loads(note[len(_CONTINUATION_NOTE) :])
    except ValueError:
        return note
    renamed = _rename(values, _names("continuation")) if isinstance(values, dict) else values
    return "continuation " + json.dumps(renamed, separators=(",", ":"))


def _rename(values: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    return {names.get(name, name): value for name, value in values.items()}


@cache
def _names(table: str) -> dict[str, str]:
    names: dict[str, str] = load_toml(__package__, "legacy_names.toml")[table]
    return names
