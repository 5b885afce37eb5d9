"""The turn report out of its parts: texts for the person, text and data for the model, limits, degradation.

Law: equal parts give equal bytes. Time and nonce come in as arguments; in plan mode they are constants.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from ..contract.codes import ErrorCode, LimitCode
from ..contract.report import (
    Client,
    Degraded,
    Enforcement,
    ForModel,
    ForUser,
    FusedContext,
    Inputs,
    Item,
    ItemExcerpt,
    Limit,
    RootSource,
    Structured,
    ToolPlan,
    ToolResult,
    TurnReport,
)
from ..servers import split_name
from .fuse import Fused
from .omit import excerpt_id
from .plan import EMPTY_PLAN
from .reading import SIGNAL_WEIGHTS, Reading
from .render import Rendered

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
NOTHING = Rendered("")
MAX_SAID = 300
"""Characters that a limit says about one tool of a user's server."""

_LIMIT_OF = {
    ErrorCode.TIMEOUT: LimitCode.TOOL_TIMEOUT,
    ErrorCode.BUDGET_EXCEEDED: LimitCode.BUDGET_EXCEEDED,
    ErrorCode.TOOL_UNAVAILABLE: LimitCode.TOOL_UNAVAILABLE,
    ErrorCode.NOT_APPROVED: LimitCode.TOOL_NOT_APPROVED,
    ErrorCode.PARSE: LimitCode.OUTPUT_INVALID,
    ErrorCode.REPO_ROOT: LimitCode.REPO_UNREADABLE,
    ErrorCode.SESSION: LimitCode.SESSION_UNAVAILABLE,
}
"""The limit that tells of a tool's error; of all others ``TOOL_FAILED`` does."""

_DEGRADING: dict[str, ErrorCode | None] = {
    LimitCode.TOOL_TIMEOUT: ErrorCode.TIMEOUT,
    LimitCode.TOOL_FAILED: None,
    LimitCode.BUDGET_EXCEEDED: ErrorCode.BUDGET_EXCEEDED,
    LimitCode.OUTPUT_INVALID: ErrorCode.PARSE,
    LimitCode.REPO_UNREADABLE: ErrorCode.REPO_ROOT,
    LimitCode.SESSION_UNAVAILABLE: ErrorCode.SESSION,
}
"""Limits that leave less than was asked for, and the error that each stands for."""

_EMPTYING: dict[str, ErrorCode | None] = {
    LimitCode.CORE_UNAVAILABLE: ErrorCode.UNKNOWN,
    LimitCode.CONFIG_INVALID: None,
    LimitCode.INPUT_UNREADABLE: ErrorCode.PARSE,
    LimitCode.SWITCHED_OFF: None,
}
"""Limits that leave nothing, and the error that each stands for."""


@dataclass(frozen=True, slots=True)
class Moment:
    """When, and in which mode, a report is made. ``nonce`` is twelve hexadecimal digits."""

    now: datetime
    nonce: str
    is_plan: bool


PLANNED = Moment(EPOCH, "0" * 12, is_plan=True)
"""The moment of every plan: no time, and no chance."""


def timestamp(moment: datetime) -> str:
    """UTC with milliseconds, ISO 8601; the epoch without them."""
    if moment == EPOCH:
        return "1970-01-01T00:00:00Z"
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"


def hash_of(*parts: str, length: int) -> str:
    """The first hexadecimal digits of the SHA-256 over ``parts``, each with its length before it."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "big") + data)
    return digest.hexdigest()[:length]


def run_id(moment: Moment, prompt: str, identity: str, plan: ToolPlan) -> str:
    """``plan-…``, ``empty-…`` or the time with a hash, as systems.md A2.2 has it."""
    if not plan.tools and not moment.is_plan:
        return "empty-" + hash_of(prompt, identity, length=12)
    if moment.is_plan:
        return "plan-" + hash_of(prompt, identity, plan.model_dump_json(), length=12)
    return moment.now.astimezone(UTC).strftime("%Y%m%d-%H%M%S-") + hash_of(prompt, identity, length=6)


def inputs(reading: Reading, prompt: str, shown_root: str, source: RootSource) -> Inputs:
    """What the plan was made from; ``prompt`` is redacted already."""
    signals = [
        {"type": signal.type.value, "match": signal.match, "weight": SIGNAL_WEIGHTS[signal.type]}
        for signal in reading.signals
    ]
    return Inputs.model_validate(
        {
            "prompt": prompt,
            "intent": reading.intent.value,
            "signals": signals,
            "repo_root": shown_root,
            "repo_root_source": source,
        }
    )


def build(
    *,
    run_id: str,
    moment: Moment,
    client: Client,
    inputs: Inputs,
    plan: ToolPlan,
    results: Sequence[ToolResult],
    rendered: Rendered,
    limits: Sequence[Limit],
    legacy: bool,
) -> TurnReport:
    """The report of one turn."""
    limits = _once(limits)
    context = FusedContext(
        for_model=ForModel(
            additional_context=rendered.text,
            structured=Structured(items=[_item(item) for item in rendered.items]),
        ),
        for_user=ForUser(
            tool_plan_text=_plan_text(plan),
            results_text=_results_text(results),
            limits_text=_prefixed("[Limits]", [limit.text for limit in limits]),
        ),
    )
    return TurnReport(
        run_id=run_id,
        created_at=timestamp(EPOCH if moment.is_plan else moment.now),
        client=client,
        inputs=inputs,
        tool_plan=plan,
        tool_results=list(results),
        fused_context=context,
        limits=limits,
        degraded=_degraded(limits, results),
        enforcement=Enforcement(source="legacy" if legacy else "orchestrator"),
        **_legacy_layers(inputs, plan, moment) if legacy else {},
    )


def empty(run_id: str, client: Client, inputs: Inputs, limits: Sequence[Limit], moment: Moment) -> TurnReport:
    """A report that injects nothing, with the reason in its limits."""
    return build(
        run_id=run_id,
        moment=moment,
        client=client,
        inputs=inputs,
        plan=EMPTY_PLAN,
        results=(),
        rendered=NOTHING,
        limits=limits,
        legacy=False,
    )


def limits_of(results: Sequence[ToolResult]) -> list[Limit]:
    """What the results say about themselves. Of a user's own tool it is said why: only its user can mend it."""
    found: dict[LimitCode, list[str]] = {}
    for result in results:
        if not result.error:
            continue
        code, said = _LIMIT_OF.get(ErrorCode(result.error.code), LimitCode.TOOL_FAILED), result.tool
        if split_name(result.tool)[0]:
            said = f"{result.tool} ({result.error.message[:MAX_SAID]})"
            code = LimitCode.TOOL_FAILED if code is LimitCode.OUTPUT_INVALID else code
        found.setdefault(code, []).append(said)
    return [Limit.of(code, ", ".join(tools)) for code, tools in found.items()]


def _item(item: Fused) -> Item:
    finding = item.finding
    return Item(
        kind=finding.kind,
        path=finding.path,
        symbol=finding.symbol,
        start_line=finding.start_line,
        end_line=finding.end_line,
        score=round(finding.score, 4),
        why=finding.why,
        tool=item.tool,
        summary=item.summary,
        truncated=item.truncated,
        conflict=item.conflict,
        evidence_refs=list(item.evidence),
        excerpt=excerpt_id(finding.path, finding.text),
        more=[
            ItemExcerpt(
                symbol=one.symbol,
                start_line=one.start_line,
                end_line=one.end_line,
                excerpt=excerpt_id(finding.path, one.text),
            )
            for one in finding.more
            if one.text
        ],
    )


def _plan_text(plan: ToolPlan) -> str:
    if not plan.tools:
        return "[Auto Tools] nothing to look up"
    tools = ", ".join(f"{tool.tool} (tier {tool.tier})" for tool in plan.tools)
    budget = plan.budget
    bounds = f"{budget.wall_ms} ms, {budget.max_concurrency} at once, {budget.max_injected_chars} characters"
    return f"[Auto Tools] {tools}; budget {bounds}"


def _results_text(results: Sequence[ToolResult]) -> str:
    said = [
        f"{result.tool}: {result.summary if result.status == 'ok' else result.status} ({result.duration_ms} ms)"
        for result in results
    ]
    return _prefixed("[Results]", said)


def _prefixed(prefix: str, sentences: Sequence[str]) -> str:
    return f"{prefix} " + "; ".join(sentences) if sentences else ""


def _once(limits: Sequence[Limit]) -> list[Limit]:
    return list({(limit.code, limit.text): limit for limit in limits}.values())


def _degraded(limits: Sequence[Limit], results: Sequence[ToolResult]) -> Degraded:
    emptying = [limit for limit in limits if limit.code in _EMPTYING]
    degrading = [limit for limit in limits if limit.code in _DEGRADING]
    if emptying:
        first = emptying[0]
        return Degraded(is_degraded=True, reason=first.text, degraded_to="empty", error=_EMPTYING[first.code])
    if not degrading:
        return Degraded()
    left: Literal["partial", "plan-only"] = "partial" if any(r.status == "ok" for r in results) else "plan-only"
    first = degrading[0]
    return Degraded(is_degraded=True, reason=first.text, degraded_to=left, error=_DEGRADING[first.code])


def _legacy_layers(inputs: Inputs, plan: ToolPlan, moment: Moment) -> dict[str, Any]:
    """The five layers that consumers of the first orchestrator read."""
    return {
        "project_profile": {"repo_root": inputs.repo_root, "repo_root_source": inputs.repo_root_source},
        "current_state": {"mode": "plan" if moment.is_plan else "run"},
        "task_context": {"intent": inputs.intent, "signals": [signal.match for signal in inputs.signals]},
        "recommended_tools": [tool.tool for tool in plan.tools],
        "constraints": plan.budget.model_dump(),
    }
