"""Explain the preparation of a turn as lines for the user, from its report alone."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from upbeat.adapters.codex_auto.texts import Texts
from upbeat.core.contract.report import Item, TurnReport
from upbeat.core.settings import KEYS_BY_NAME, Settings
from upbeat.core.turn.plan import TOOLS

_MAX_ARGUMENTS_CHARS = 120


def explain_context(report: TurnReport, texts: Texts) -> Iterator[str]:
    """Yield each result that is added to the prompt, with its location, score and reason."""
    items = report.fused_context.for_model.structured.items
    if not items:
        yield texts["context_nothing"]
    else:
        chars = f"{len(report.fused_context.for_model.additional_context):,}"
        yield texts["context_items"].format(count=len(items), chars=chars)
    for number, item in enumerate(items, start=1):
        yield f"{number:>3}. {_item_location(item)}  {item.score:.2f}"
        about = " ".join(part for part in (item.kind, item.symbol) if part)
        yield f"     {about}: {item.why} ({item.tool})"
    yield from _describe_limits(report)


def explain_preparation(report: TurnReport, settings: Settings, texts: Texts) -> Iterator[str]:
    """Yield the intent of the prompt, its signals, the lookups with their results, and the settings that matter."""
    inputs, plan = report.inputs, report.tool_plan
    yield texts["why_intent"].format(intent=inputs.intent)
    yield texts["why_signals"] + ("" if inputs.signals else " —")
    for signal in inputs.signals:
        yield f"  {signal.type} {signal.weight:g}  {signal.match}"
    yield texts["why_plan"] + ("" if plan.tools else " —")
    results = {result.tool: result for result in report.tool_results}
    for tool in plan.tools:
        yield f"  {tool.tool}  tier {tool.tier} · {tool.timeout_ms} ms · {tool.reason}"
        yield f"    {_shorten_arguments(tool.args)}"
        if result := results.get(tool.tool):
            text = result.error.message if result.error else result.summary
            yield f"    → {result.status}, {result.duration_ms} ms{': ' if text else ''}{text}"
    yield from _describe_limits(report)
    yield from describe_changed_settings(settings, texts)


def describe_changed_settings(settings: Settings, texts: Texts) -> Iterator[str]:
    """Yield each setting that differs from its default, and where its value comes from."""
    changed = [
        (key.name, getattr(settings, key.attribute), settings.origins.get(key.name, "?"))
        for key in KEYS_BY_NAME.values()
        if getattr(settings, key.attribute) != key.default
    ]
    yield texts["why_settings"] if changed else texts["why_defaults"]
    for name, value, origin in changed:
        yield f"  {name} = {_display_value(value)}  ({origin})"


def describe_tools(settings: Settings, available: Mapping[str, str], texts: Texts) -> Iterator[str]:
    """Yield every ``ci_*`` tool with its tier, its timeout, and whether a turn may use it."""
    width = max(len(tool.name) for tool in TOOLS)
    for tool in TOOLS:
        if tool.name not in available:
            state = texts["tool_missing"]
        elif tool.name in settings.tools_disabled:
            state = texts["tool_disabled"].format(origin=settings.origins.get("tools.disabled", "?"))
        elif tool.tier > settings.tier_max:
            state = texts["tool_tier"].format(tier=tool.tier)
        else:
            state = texts["tool_ready"]
        yield f"{tool.name:<{width}}  tier {tool.tier} {tool.timeout_ms:>5} ms  {state}"
        if tool.name in available:
            yield f"{'':<{width}}  {available[tool.name]}"


def _item_location(item: Item) -> str:
    if not item.start_line:
        return item.path
    lines = f"{item.start_line}-{item.end_line}" if item.end_line > item.start_line else f"{item.start_line}"
    return f"{item.path}:{lines}"


def _describe_limits(report: TurnReport) -> Iterator[str]:
    for limit in report.limits:
        yield f"[Limits] {limit.text}"


def _shorten_arguments(arguments: Mapping[str, object]) -> str:
    text = json.dumps(arguments, ensure_ascii=False)
    return text if len(text) <= _MAX_ARGUMENTS_CHARS else text[: _MAX_ARGUMENTS_CHARS - 1] + "…"


def _display_value(value: object) -> str:
    return ", ".join(map(str, value)) or "—" if isinstance(value, tuple) else str(value)
