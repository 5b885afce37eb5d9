"""One record explained: who said what to it, on what grounds, from which file, and what came of it.

Invariant: pure; the document and the text have everything that the record has.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from upbeat.core.journal.entry import JournalEntry
from upbeat.core.messages.catalogue import Messages

SCHEMA_VERSION = "1.0"
HEAD_FIELDS = (
    "at",
    "event",
    "client",
    "session_id",
    "agent_id",
    "root",
    "duration_ms",
    "injected_chars",
    "event_fields",
    "turn",
)


def explanation_document(entry: JournalEntry) -> dict[str, Any]:
    """``upbeat why --json``: the record's head, what each part said, the effects with their lengths, the facts."""
    body = entry.body
    effects = [dict(effect) for effect in _mappings(body, "effects")]
    return {
        "schema_version": SCHEMA_VERSION,
        "record": {"seq": entry.seq, **{name: body.get(name) for name in HEAD_FIELDS if name in body}},
        "explanations": [dict(said) for said in _mappings(body, "explanations")],
        "effects": [effect | {"characters": len(str(effect.get("text", "")))} for effect in effects],
        "facts": [str(fact.get("kind", "")) for fact in _mappings(body, "facts")],
    }


def format_explanation(entry: JournalEntry, texts: Messages) -> str:
    """``upbeat why``: the same for people, one line a thing, texts of effects indented."""
    return "\n".join(_explanation_lines(explanation_document(entry), texts))


def _explanation_lines(explanation: Mapping[str, Any], texts: Messages) -> Iterator[str]:
    record = explanation["record"]
    yield texts["record"].format(
        seq=record["seq"], event=record.get("event", ""), at=record.get("at", ""), client=record.get("client") or "-"
    )
    for text, name in ((texts["session"], "session_id"), (texts["agent"], "agent_id"), (texts["repository"], "root")):
        if record.get(name):
            yield "  " + text.format(**{name: record[name]})
    for text, name in ((texts["event_fields"], "event_fields"), (texts["turn"], "turn")):
        if record.get(name):
            yield f"{text}: {format_fields(record[name])}"
    if explanation["facts"]:
        yield f"{texts['facts']}: {', '.join(explanation['facts'])}"
    yield ""
    for said in explanation["explanations"]:
        yield from _part_lines(said, texts)
    if not explanation["explanations"]:
        yield texts["no_explanations"]
    yield ""
    yield from _effect_lines(explanation["effects"], texts)
    yield texts["total"].format(
        milliseconds=_format_milliseconds(record.get("duration_ms", 0)), characters=record.get("injected_chars", 0)
    )


def _part_lines(part: Mapping[str, Any], texts: Messages) -> Iterator[str]:
    yield texts["decided"].format(part=part.get("component", ""), decided=part.get("decision", ""))
    if part.get("reason"):
        yield "  " + texts["because"].format(because=to_single_line(part["reason"]))
    if part.get("inputs"):
        yield "  " + texts["looked_at"].format(inputs=format_fields(part["inputs"]))
    where = part.get("config_location")
    yield "  " + (texts["configured_at"].format(configured_at=where) if where else texts["by_default"])
    if part.get("duration_ms"):
        yield "  " + texts["took"].format(milliseconds=_format_milliseconds(part["duration_ms"]))


def _effect_lines(effects: list[dict[str, Any]], texts: Messages) -> Iterator[str]:
    yield f"{texts['effects']}:" if effects else texts["no_effect"]
    for effect in effects:
        yield "  " + texts["effect"].format(kind=effect.get("kind", ""), characters=effect["characters"])
        yield from (f"  | {line}" for line in str(effect.get("text", "")).split("\n"))


def format_fields(values: object) -> str:
    """A mapping on one line: ``step=PLAN, n=3``; anything else as JSON."""
    if not isinstance(values, Mapping):
        return json.dumps(values, ensure_ascii=False)
    return ", ".join(f"{name}={_format_value(value)}" for name, value in values.items())


def to_single_line(text: object) -> str:
    """``text`` without line ends."""
    return " ".join(str(text).split())


def _format_value(value: object) -> str:
    return to_single_line(value) if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _format_milliseconds(milliseconds: object) -> str:
    return f"{milliseconds:.1f}".removesuffix(".0") if isinstance(milliseconds, int | float) else str(milliseconds)


def _mappings(body: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    found = body.get(name)
    return [one for one in found if isinstance(one, Mapping)] if isinstance(found, list) else []
