"""Assemble the turn report: texts for the user, text and data for the model, limits, degradation.

Invariant: equal inputs give equal bytes. Time and nonce are arguments; in plan mode they are constants.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from upbeat.core.contract import report as contract
from upbeat.core.contract.codes import QUIET_LIMITS, ErrorCode, LimitCode
from upbeat.core.contract.timestamp import EPOCH, format_timestamp
from upbeat.core.prompt.analysis import SIGNAL_WEIGHTS, PromptAnalysis
from upbeat.core.tool_servers import TOOL_SEPARATOR
from upbeat.core.turn.fuse import FusedItem, excerpt_id
from upbeat.core.turn.plan import EMPTY_PLAN
from upbeat.core.turn.render import RenderedContext

EMPTY_CONTEXT = RenderedContext("")
MAX_TOOL_ERROR_LENGTH = 300
"""Characters of a user tool's error in a limit."""

_LIMIT_BY_ERROR = {
    ErrorCode.TIMEOUT: LimitCode.TOOL_TIMEOUT,
    ErrorCode.BUDGET_EXCEEDED: LimitCode.BUDGET_EXCEEDED,
    ErrorCode.TOOL_UNAVAILABLE: LimitCode.TOOL_UNAVAILABLE,
    ErrorCode.NOT_APPROVED: LimitCode.TOOL_NOT_APPROVED,
    ErrorCode.PARSE: LimitCode.OUTPUT_INVALID,
    ErrorCode.REPO_ROOT: LimitCode.REPO_UNREADABLE,
    ErrorCode.SESSION: LimitCode.SESSION_UNAVAILABLE,
}
"""The limit that reports a tool's error; ``TOOL_FAILED`` reports all others."""

_HARMLESS_LIMITS = {LimitCode.TOOL_UNAVAILABLE, LimitCode.TOOL_NOT_APPROVED}
"""Limits by errors that do not make the report partial."""

_DEGRADING_LIMITS: dict[str, ErrorCode | None] = {LimitCode.TOOL_FAILED: None} | {
    limit: error for error, limit in _LIMIT_BY_ERROR.items() if limit not in _HARMLESS_LIMITS
}
"""Limits that make the report partial, and their errors."""

_EMPTYING_LIMITS: dict[str, ErrorCode | None] = {
    LimitCode.CORE_UNAVAILABLE: ErrorCode.UNKNOWN,
    LimitCode.CONFIG_INVALID: None,
    LimitCode.INPUT_UNREADABLE: ErrorCode.PARSE,
    LimitCode.SWITCHED_OFF: None,
}
"""Limits that make the report empty, and their errors."""


@dataclass(frozen=True, slots=True)
class ReportStamp:
    """Time and mode of a report. ``nonce`` is twelve hexadecimal digits."""

    now: datetime
    nonce: str
    is_plan_mode: bool


PLAN_MODE_STAMP = ReportStamp(EPOCH, "0" * 12, is_plan_mode=True)
"""The constant stamp of every plan."""


def short_hash(*parts: str, length: int) -> str:
    """Return the first ``length`` hexadecimal digits of the SHA-256 over ``parts``, each prefixed with its length."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "big") + data)
    return digest.hexdigest()[:length]


def make_run_id(stamp: ReportStamp, prompt: str, identity: str, plan: contract.ToolPlan) -> str:
    """Return ``plan-HASH``, ``empty-HASH`` or ``YYYYMMDD-HHMMSS-HASH``."""
    if not plan.tools and not stamp.is_plan_mode:
        return "empty-" + short_hash(prompt, identity, length=12)
    if stamp.is_plan_mode:
        return "plan-" + short_hash(prompt, identity, plan.model_dump_json(), length=12)
    return stamp.now.astimezone(UTC).strftime("%Y%m%d-%H%M%S-") + short_hash(prompt, identity, length=6)


def build_inputs(
    analysis: PromptAnalysis, prompt: str, displayed_root: str, source: contract.RootSource
) -> contract.Inputs:
    """Return the inputs of the plan; ``prompt`` is already redacted."""
    signals = [
        contract.Signal(type=signal.type.value, match=signal.match, weight=SIGNAL_WEIGHTS[signal.type])
        for signal in analysis.signals
    ]
    intent = analysis.intent.value
    return contract.Inputs(
        prompt=prompt, intent=intent, signals=signals, repo_root=displayed_root, repo_root_source=source
    )


def assemble_report(
    *,
    run_id: str,
    stamp: ReportStamp,
    client: contract.Client,
    inputs: contract.Inputs,
    plan: contract.ToolPlan,
    results: Sequence[contract.ToolResult],
    rendered: RenderedContext,
    limits: Sequence[contract.Limit],
    is_legacy: bool,
) -> contract.TurnReport:
    """Return the report of a turn."""
    limits = list({(limit.code, limit.text): limit for limit in limits}.values())
    summaries = "; ".join(
        f"{result.tool}: {result.summary if result.status == 'ok' else result.status} ({result.duration_ms} ms)"
        for result in results
    )
    shown_limits = [limit.text for limit in limits if limit.code not in QUIET_LIMITS]
    is_quiet = any(limit.code in QUIET_LIMITS for limit in limits)
    context = contract.FusedContext(
        for_model=contract.ForModel(
            additional_context=rendered.text,
            structured=contract.Structured(items=[_report_item(item) for item in rendered.items]),
        ),
        for_user=contract.ForUser(
            tool_plan_text=_plan_text(plan),
            results_text=f"[Results] {summaries}" if results and not is_quiet else "",
            limits_text="[Limits] " + "; ".join(shown_limits) if shown_limits else "",
        ),
    )
    return contract.TurnReport(
        run_id=run_id,
        created_at=format_timestamp(EPOCH if stamp.is_plan_mode else stamp.now),
        client=client,
        inputs=inputs,
        tool_plan=plan,
        tool_results=list(results),
        fused_context=context,
        limits=limits,
        degraded=_degradation(limits, results),
        enforcement=contract.Enforcement(source="legacy" if is_legacy else "orchestrator"),
        **_legacy_layers(inputs, plan, stamp) if is_legacy else {},
    )


def assemble_empty_report(
    run_id: str, client: contract.Client, inputs: contract.Inputs, limits: Sequence[contract.Limit], stamp: ReportStamp
) -> contract.TurnReport:
    """Return a report that injects nothing, with the reason in its limits."""
    return assemble_report(
        run_id=run_id,
        stamp=stamp,
        client=client,
        inputs=inputs,
        plan=EMPTY_PLAN,
        results=(),
        rendered=EMPTY_CONTEXT,
        limits=limits,
        is_legacy=False,
    )


def limits_from_results(results: Sequence[contract.ToolResult]) -> list[contract.Limit]:
    """Return the limits of failed tools, with the error message for a user's own tool: only the user can fix it."""
    tools_by_code: dict[LimitCode, list[str]] = {}
    for result in results:
        if not result.error:
            continue
        code, detail = _LIMIT_BY_ERROR.get(ErrorCode(result.error.code), LimitCode.TOOL_FAILED), result.tool
        if TOOL_SEPARATOR in result.tool:
            detail = f"{result.tool} ({result.error.message[:MAX_TOOL_ERROR_LENGTH]})"
            code = LimitCode.TOOL_FAILED if code is LimitCode.OUTPUT_INVALID else code
        tools_by_code.setdefault(code, []).append(detail)
    return [contract.Limit.of(code, ", ".join(tools)) for code, tools in tools_by_code.items()]


def _report_item(item: FusedItem) -> contract.Item:
    finding = item.finding
    return contract.Item(
        kind=finding.kind,
        path=finding.path,
        symbol=finding.symbol,
        start_line=finding.start_line,
        end_line=finding.end_line,
        score=round(finding.score, 4),
        why=finding.why,
        tool=item.tool,
        summary=item.summary,
        truncated=item.is_truncated,
        conflict=item.has_conflict,
        evidence_refs=list(item.evidence_refs),
        excerpt=excerpt_id(finding.path, finding.text),
        more=[
            contract.ItemExcerpt(
                symbol=excerpt.symbol,
                start_line=excerpt.start_line,
                end_line=excerpt.end_line,
                excerpt=excerpt_id(finding.path, excerpt.text),
            )
            for excerpt in finding.more_excerpts
            if excerpt.text
        ],
    )


def _plan_text(plan: contract.ToolPlan) -> str:
    if not plan.tools:
        return "[Auto Tools] nothing to look up"
    tools = ", ".join(f"{tool.tool} (tier {tool.tier})" for tool in plan.tools)
    budget = plan.budget
    limits = f"{budget.wall_ms} ms, {budget.max_concurrency} at once, {budget.max_injected_chars} characters"
    return f"[Auto Tools] {tools}; budget {limits}"


def _degradation(limits: Sequence[contract.Limit], results: Sequence[contract.ToolResult]) -> contract.Degraded:
    for limit in limits:
        if limit.code in _EMPTYING_LIMITS:
            error = _EMPTYING_LIMITS[limit.code]
            return contract.Degraded(is_degraded=True, reason=limit.text, degraded_to="empty", error=error)
    has_results = any(result.status == "ok" for result in results)
    for limit in limits:
        if limit.code in _DEGRADING_LIMITS:
            error = _DEGRADING_LIMITS[limit.code]
            degraded_to: Literal["partial", "plan-only"] = "partial" if has_results else "plan-only"
            return contract.Degraded(is_degraded=True, reason=limit.text, degraded_to=degraded_to, error=error)
    return contract.Degraded()


def _legacy_layers(inputs: contract.Inputs, plan: contract.ToolPlan, stamp: ReportStamp) -> dict[str, Any]:
    """Return the five layers that consumers of the first orchestrator read."""
    return {
        "project_profile": {"repo_root": inputs.repo_root, "repo_root_source": inputs.repo_root_source},
        "current_state": {"mode": "plan" if stamp.is_plan_mode else "run"},
        "task_context": {"intent": inputs.intent, "signals": [signal.match for signal in inputs.signals]},
        "recommended_tools": [tool.tool for tool in plan.tools],
        "constraints": plan.budget.model_dump(),
    }
