"""One record explained: who said what to it, on what grounds, from which file, and what came of it.

Law: pure; nothing is left out that the record has. The document and the text tell the same.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from .entry import Entry
from .texts import Texts

SCHEMA_VERSION = "1.0"
HEAD = ("at", "event", "client", "session_id", "agent_id", "root", "milliseconds", "injected_chars", "about", "turn")


def document(entry: Entry) -> dict[str, Any]:
    """``upbeat why --json``: the record's head, what each part said, the effects with their lengths, the facts."""
    body = entry.body
    effects = [dict(effect) for effect in _mappings(body, "effects")]
    return {
        "schema_version": SCHEMA_VERSION,
        "record": {"seq": entry.seq, **{name: body.get(name) for name in HEAD if name in body}},
        "said": [dict(said) for said in _mappings(body, "said")],
        "effects": [effect | {"characters": len(str(effect.get("text", "")))} for effect in effects],
        "facts": [str(fact.get("kind", "")) for fact in _mappings(body, "facts")],
    }


def explain(entry: Entry, texts: Texts) -> str:
    """``upbeat why``: the same for people, one line a thing, texts of effects indented."""
    return "\n".join(_lines(document(entry), texts))


def _lines(told: Mapping[str, Any], texts: Texts) -> Iterator[str]:
    record = told["record"]
    yield texts.record.format(
        seq=record["seq"], event=record.get("event", ""), at=record.get("at", ""), client=record.get("client") or "-"
    )
    for text, name in ((texts.session, "session_id"), (texts.agent, "agent_id"), (texts.repository, "root")):
        if record.get(name):
            yield "  " + text.format(**{name: record[name]})
    for text, name in ((texts.about, "about"), (texts.turn, "turn")):
        if record.get(name):
            yield f"{text}: {inputs(record[name])}"
    if told["facts"]:
        yield f"{texts.facts}: {', '.join(told['facts'])}"
    yield ""
    for said in told["said"]:
        yield from _said(said, texts)
    if not told["said"]:
        yield texts.nobody
    yield ""
    yield from _effects(told["effects"], texts)
    yield texts.total.format(
        milliseconds=_short(record.get("milliseconds", 0)), characters=record.get("injected_chars", 0)
    )


def _said(said: Mapping[str, Any], texts: Texts) -> Iterator[str]:
    yield texts.decided.format(part=said.get("part", ""), decided=said.get("decided", ""))
    if said.get("because"):
        yield "  " + texts.because.format(because=one_line(said["because"]))
    if said.get("looked_at"):
        yield "  " + texts.looked_at.format(inputs=inputs(said["looked_at"]))
    where = said.get("configured_at")
    yield "  " + (texts.configured_at.format(configured_at=where) if where else texts.by_default)
    if said.get("milliseconds"):
        yield "  " + texts.took.format(milliseconds=_short(said["milliseconds"]))


def _effects(effects: list[dict[str, Any]], texts: Texts) -> Iterator[str]:
    yield f"{texts.effects}:" if effects else texts.no_effect
    for effect in effects:
        yield "  " + texts.effect.format(kind=effect.get("kind", ""), characters=effect["characters"])
        yield from (f"  | {line}" for line in str(effect.get("text", "")).split("\n"))


def inputs(values: object) -> str:
    """A mapping on one line: ``step=PLAN, n=3``; anything else as JSON."""
    if not isinstance(values, Mapping):
        return json.dumps(values, ensure_ascii=False)
    return ", ".join(f"{name}={_value(value)}" for name, value in values.items())


def one_line(text: object) -> str:
    """``text`` without line ends."""
    return " ".join(str(text).split())


def _value(value: object) -> str:
    return one_line(value) if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _short(milliseconds: object) -> str:
    return f"{milliseconds:.1f}".removesuffix(".0") if isinstance(milliseconds, int | float) else str(milliseconds)


def _mappings(body: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    found = body.get(name)
    return [one for one in found if isinstance(one, Mapping)] if isinstance(found, list) else []
