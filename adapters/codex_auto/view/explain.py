"""Explain the preparation of a turn, from its report alone, and the workflow of a session as lines for the user."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from upbeat.adapters.codex_auto.texts import Texts
from upbeat.core.contract.report import TurnReport
from upbeat.core.settings import KEYS_BY_NAME, Settings
from upbeat.core.turn.plan import TOOLS
from upbeat.core.workflow.prompts import describe_end_reason, format_progress, format_step_keys
from upbeat.core.workflow.registry import Registry, localized_text
from upbeat.core.workflow.state import RunStatus, SessionState, StepStatus, current_steps, pending_steps
from upbeat.core.workflow.tasks import TasksFile

WORKFLOW_VERBS = ("start", "stop", "continue", "list")
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
        first, last = item.start_line, item.end_line
        lines = f":{first}-{last}" if last > first > 0 else f":{first}" if first else ""
        yield f"{number:>3}. {item.path}{lines}  {item.score:.2f}"
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
        arguments = json.dumps(tool.args, ensure_ascii=False)
        is_long = len(arguments) > _MAX_ARGUMENTS_CHARS
        yield f"    {arguments[: _MAX_ARGUMENTS_CHARS - 1] + '…' if is_long else arguments}"
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
        shown = ", ".join(map(str, value)) or "—" if isinstance(value, tuple) else value
        yield f"  {name} = {shown}  ({origin})"


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


def _describe_limits(report: TurnReport) -> Iterator[str]:
    for limit in report.limits:
        yield f"[Limits] {limit.text}"


def stage_label(state: SessionState, texts: Texts) -> str:
    """Return the steps that are running or come next, or wait for the user; empty without an open workflow."""
    if state.run is None or not state.run.is_open:
        return ""
    steps = format_step_keys(current_steps(state.run)) if state.run.is_running else state.run.reason
    return texts["stage_needs_user"].format(steps=steps) if state.needs_user else steps


def describe_workflow(state: SessionState, tasks: TasksFile | None, texts: Texts, language: str) -> Iterator[str]:
    """Yield the progress of the workflow, its next steps, and why it is paused or over."""
    run = state.run
    if run is None:
        yield texts["workflow_none"]
        return
    yield f"{run.workflow}: {format_progress(run)}"
    if run.goal:
        yield texts["workflow_goal"].format(goal=" ".join(run.goal.split()))
    if run.is_running:
        if busy := [step for step in current_steps(run) if step.status is StepStatus.ACTIVE]:
            yield texts["workflow_active"].format(steps=format_step_keys(busy))
        if steps := pending_steps(run):
            yield texts["workflow_next"].format(steps=format_step_keys(steps))
    if tasks is not None:
        yield texts["workflow_tasks"].format(
            done=len(tasks.done_checkboxes), all=len(tasks.done_checkboxes) + len(tasks.open_checkboxes)
        )
    loop = state.loop
    reason = run.reason
    if loop.end_reason and run.status is not RunStatus.NEEDS_HUMAN:
        reason = describe_end_reason(loop.end_reason, loop.turns_without_progress, language)
    over = "ended" if run.is_running and state.loop.end_reason else "" if run.is_running else run.status.value
    if over:
        yield texts["workflow_ended"].format(state=texts.group("workflow_states")[over].format(reason=reason))
    yield texts["workflow_usage"]


def workflow_descriptions(registry: Registry, language: str) -> list[tuple[str, str]]:
    """Return the name and the description of each workflow."""
    return [(name, localized_text(workflow.text, language)) for name, workflow in registry.workflows.items()]
