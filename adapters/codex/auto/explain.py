"""What was prepared for a turn, and why, as lines for a person. Law: pure; it tells what the report says, no more."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from ....core.contract.report import Item, TurnReport
from ....core.settings import BY_NAME, Settings
from ....core.turn.plan import TOOLS
from .texts import Texts

_LONGEST_ARGUMENTS = 120


def context(report: TurnReport, texts: Texts) -> Iterator[str]:
    """Each thing that goes to the model, with its place, its score and the reason."""
    items = report.fused_context.for_model.structured.items
    if not items:
        yield texts.context_nothing
    else:
        chars = f"{len(report.fused_context.for_model.additional_context):,}"
        yield texts.context_items.format(count=len(items), chars=chars)
    for number, item in enumerate(items, start=1):
        yield f"{number:>3}. {_place(item)}  {item.score:.2f}"
        about = " ".join(part for part in (item.kind, item.symbol) if part)
        yield f"     {about}: {item.why} ({item.tool})"
    yield from _limits(report)


def why(report: TurnReport, settings: Settings, texts: Texts) -> Iterator[str]:
    """How the prompt was read, what was planned for it, what came of that, and which settings had a say."""
    inputs, plan = report.inputs, report.tool_plan
    yield texts.why_intent.format(intent=inputs.intent)
    yield texts.why_signals + ("" if inputs.signals else " —")
    for signal in inputs.signals:
        yield f"  {signal.type} {signal.weight:g}  {signal.match}"
    yield texts.why_plan + ("" if plan.tools else " —")
    results = {result.tool: result for result in report.tool_results}
    for tool in plan.tools:
        yield f"  {tool.tool}  tier {tool.tier} · {tool.timeout_ms} ms · {tool.reason}"
        yield f"    {_short(tool.args)}"
        if result := results.get(tool.tool):
            said = result.error.message if result.error else result.summary
            yield f"    → {result.status}, {result.duration_ms} ms{': ' if said else ''}{said}"
    yield from _limits(report)
    yield from changed_settings(settings, texts)


def changed_settings(settings: Settings, texts: Texts) -> Iterator[str]:
    """Each setting that is not at its default, and where its value comes from."""
    changed = [
        (key.name, getattr(settings, key.attribute), settings.origins.get(key.name, "?"))
        for key in BY_NAME.values()
        if getattr(settings, key.attribute) != key.default
    ]
    yield texts.why_settings if changed else texts.why_defaults
    for name, value, origin in changed:
        yield f"  {name} = {_value(value)}  ({origin})"


def tools(settings: Settings, offered: Mapping[str, str], texts: Texts) -> Iterator[str]:
    """Every ``ci_*`` tool: its tier, its limit, and whether a turn may use it."""
    width = max(len(tool.name) for tool in TOOLS)
    for tool in TOOLS:
        if tool.name not in offered:
            state = texts.tool_missing
        elif tool.name in settings.tools_disabled:
            state = texts.tool_disabled.format(origin=settings.origins.get("tools.disabled", "?"))
        elif tool.tier > settings.tier_max:
            state = texts.tool_tier.format(tier=tool.tier)
        else:
            state = texts.tool_ready
        yield f"{tool.name:<{width}}  tier {tool.tier} {tool.timeout_ms:>5} ms  {state}"
        if tool.name in offered:
            yield f"{'':<{width}}  {offered[tool.name]}"


def _place(item: Item) -> str:
    if not item.start_line:
        return item.path
    lines = f"{item.start_line}-{item.end_line}" if item.end_line > item.start_line else f"{item.start_line}"
    return f"{item.path}:{lines}"


def _limits(report: TurnReport) -> Iterator[str]:
    for limit in report.limits:
        yield f"[Limits] {limit.text}"


def _short(arguments: Mapping[str, object]) -> str:
    text = json.dumps(arguments, ensure_ascii=False)
    return text if len(text) <= _LONGEST_ARGUMENTS else text[: _LONGEST_ARGUMENTS - 1] + "…"


def _value(value: object) -> str:
    return ", ".join(map(str, value)) or "—" if isinstance(value, tuple) else str(value)
