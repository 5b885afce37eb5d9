"""Plan the tools of a turn: which run, with which arguments, and for how long.

Invariant: every argument is built here from the prompt's analysis and clamped; nothing of the prompt is passed on
unprocessed. The tables define each tool's tier, time limit and argument limits.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from upbeat.core.contract.codes import LimitCode
from upbeat.core.contract.report import BudgetReport, Limit, PlannedTool, ToolPlan
from upbeat.core.prompt.analysis import Intent, PromptAnalysis, Targets
from upbeat.core.settings import Activation, Settings
from upbeat.core.tool_servers import qualified_tool_name
from upbeat.core.turn.fuse import MAX_ITEMS

TIER2_EXTRA_MS = 5000
"""Milliseconds that planned tier-2 tools add to the wall-clock budget."""

MAX_TARGETS = 5
"""The most files or symbols in the arguments of one tool."""

MAX_GRAPH_TARGETS = 2
"""The most named files and symbols whose callers and callees are looked up; a search fills the block of other prompts.
"""


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A built-in tool and its limits. Tools of tier 0 run only on request."""

    name: str
    tier: int
    timeout_ms: int
    reason: str


TOOLS: tuple[ToolSpec, ...] = (
    ToolSpec("ci_index_status", 0, 500, "what there is to search"),
    ToolSpec("ci_search", 1, 2000, "files, symbols and lines for the prompt's words"),
    ToolSpec("ci_graph_rag", 1, 3500, "what is connected to them"),
    ToolSpec("ci_call_chain", 2, 2000, "callers and callees of a named symbol"),
    ToolSpec("ci_bug_locate", 2, 3500, "where an error may come from"),
    ToolSpec("ci_impact", 2, 2000, "what depends on what is named"),
    ToolSpec("ci_complexity", 2, 1000, "how complex the named files are"),
    ToolSpec("ci_hotspot", 2, 2000, "what changes often and is complex"),
)
TOOL_TIMEOUTS_MS: Mapping[str, int] = {tool.name: tool.timeout_ms for tool in TOOLS}

PRIOR = "prior"
"""The argument of a search that decides whether the turn has anything to say; missing if that is certain."""

ARGUMENT_LIMITS: Mapping[str, Mapping[str, int]] = {
    "ci_search": {"limit": 10},
    "ci_graph_rag": {"depth": 2, "budget": 8000, "top_k": 10},
    "ci_call_chain": {"depth": 3},
    "ci_bug_locate": {"limit": 10},
    "ci_impact": {"depth": 3},
    "ci_hotspot": {"days": 30, "top": 20},
}
"""Upper limits of numeric arguments, whoever sets them; a planned tool gets as much as it may."""

EMPTY_PLAN = ToolPlan(tier_max=0, budget=BudgetReport(wall_ms=0, max_concurrency=0, max_injected_chars=0))


@dataclass(frozen=True, slots=True)
class PlanResult:
    """A plan and the limits of what it covers."""

    plan: ToolPlan
    limits: tuple[Limit, ...] = ()


def plan_tools(
    analysis: PromptAnalysis,
    settings: Settings,
    root: str,
    codex_command: str | None = None,
    max_ms: int | None = None,
    *,
    is_repository: bool = True,
) -> PlanResult:
    """Return the tools for ``analysis`` under ``settings``; none if the prompt is not about code.

    Outside of a repository (``is_repository``) only a prompt that shows code is about it. ``max_ms`` is the most
    milliseconds that the client waits.
    """
    is_gated = settings.enabled is not Activation.ON
    if is_gated and (analysis.intent is Intent.NONE or (analysis.prior is not None and not is_repository)):
        empty = EMPTY_PLAN.model_copy(update={"planned_codex_command": codex_command})
        return PlanResult(empty, (Limit.of(LimitCode.NOT_ABOUT_CODE),))
    targets, outside = restrict_to_root(analysis.targets, root)
    analysis = replace(analysis, targets=targets, prior=analysis.prior if is_gated else None)
    limits = [Limit.of(LimitCode.PATH_OUTSIDE, path) for path in outside]
    is_change = analysis.intent in (Intent.DEBUG, Intent.REFACTOR, Intent.FEATURE)
    wants_tier2 = analysis.allows_tier2 or (is_change and bool(targets))  # worth its cost
    if wants_tier2 and settings.tier_max < 2:
        limits.append(Limit.of(LimitCode.TIER2_DISABLED))
    tier_max = 2 if wants_tier2 and settings.tier_max == 2 else min(settings.tier_max, 1)
    planned = [
        PlannedTool(tool=tool.name, tier=tool.tier, reason=tool.reason, args=args, timeout_ms=tool.timeout_ms)
        for tool in TOOLS
        if 0 < tool.tier <= tier_max
        and tool.name not in settings.tools_disabled
        and (args := _build_arguments(tool.name, analysis)) is not None
    ]
    if settings.servers:
        planned += _plan_server_tools(analysis, settings)
    wall_ms = settings.budget_wall_ms + (TIER2_EXTRA_MS if any(tool.tier == 2 for tool in planned) else 0)
    if max_ms is not None and wall_ms > max_ms:
        limits.append(Limit.of(LimitCode.CLAMPED, name="budget.wall_ms", value=max_ms))
        wall_ms = max_ms
    budget = BudgetReport(
        wall_ms=wall_ms,
        max_concurrency=settings.budget_max_concurrency,
        max_injected_chars=settings.budget_max_injected_chars,
    )
    result = ToolPlan(tier_max=settings.tier_max, planned_codex_command=codex_command, budget=budget, tools=planned)
    return PlanResult(result, tuple(limits))


def _build_arguments(tool: str, analysis: PromptAnalysis) -> dict[str, Any] | None:
    """Return the arguments of ``tool``, or None if the prompt gives it nothing to do."""
    targets, query = analysis.targets, analysis.query
    names = {"files": list(targets.files[:MAX_TARGETS]), "symbols": list(targets.symbols[:MAX_TARGETS])}
    named: dict[str, Any] = {key: values for key, values in names.items() if values}
    is_about_few = 0 < len(targets.files) + len(targets.symbols) <= MAX_GRAPH_TARGETS
    traces = {"traces": list(targets.stack_frames)} if targets.stack_frames else {}
    errors = list(targets.errors[:MAX_TARGETS])
    symbol = targets.symbols[0] if targets.symbols else ""
    limits = dict(ARGUMENT_LIMITS.get(tool, {}))
    rows = {"rows": MAX_ITEMS}
    prior = {} if analysis.prior is None else {PRIOR: round(analysis.prior, 2)}
    arguments: dict[str, dict[str, Any] | None] = {
        "ci_search": {"query": query} | limits | named | prior if query else None,
        "ci_graph_rag": {"query": query} | limits | rows | named | prior if query and is_about_few else None,
        "ci_call_chain": {"symbol": symbol, "direction": "both"} | limits if symbol else None,
        "ci_bug_locate": (
            {"query": query, "errors": errors} | limits | traces if analysis.intent is Intent.DEBUG else None
        ),
        "ci_impact": named | limits if named else None,
        "ci_complexity": {"files": names["files"]} if targets.files else None,
        "ci_hotspot": limits,
    }
    return arguments[tool]


def _plan_server_tools(analysis: PromptAnalysis, settings: Settings) -> list[PlannedTool]:
    """Return the tools of the user's own servers; each gets the query on one line, and its fixed arguments."""
    query = " ".join(analysis.query.split())
    if not query:
        return []
    return [
        PlannedTool(
            tool=qualified_tool_name(server.name, tool.name),
            tier=1,
            reason=f"what your server {server.name} knows about it",
            args={**tool.fixed_args, tool.query_argument: query},
            timeout_ms=server.timeout_ms,
        )
        for server in settings.servers
        for tool in server.tools
        if not {server.name, qualified_tool_name(server.name, tool.name)} & set(settings.tools_disabled)
    ]


def clamp_arguments(tool: str, args: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[Limit, ...]]:
    """Return ``args`` with numbers clamped to the tool's limits, and a limit for each clamped one."""
    clamped = dict(args)
    limits = []
    for name, maximum in ARGUMENT_LIMITS.get(tool, {}).items():
        value = args.get(name)
        if isinstance(value, int) and value > maximum:
            clamped[name] = maximum
            limits.append(Limit.of(LimitCode.CLAMPED, name=name, value=maximum))
    return clamped, tuple(limits)


def restrict_to_root(targets: Targets, root: str) -> tuple[Targets, tuple[str, ...]]:
    """Return the targets with paths relative to ``root``, and the paths that lead out of it.

    A path of a stack frame is not among these: it is that of another machine, and the search finds its file here.
    """
    inside: list[str] = []
    outside: list[str] = []
    for path in targets.files:
        relative = relative_to(path, root)
        if relative:
            inside.append(relative)
        elif not any(path in frame for frame in targets.stack_frames):
            outside.append(path)
    return replace(targets, files=tuple(inside)), tuple(outside)


def relative_to(path: str, root: str) -> str:
    """Return ``path`` relative to ``root`` with ``/`` between its parts, or "" if it leads out; reads no file."""
    path = path.replace("\\", "/")
    prefix = root.rstrip("/") + "/"
    if path.startswith(prefix):
        path = path[len(prefix) :]
    if path.startswith("/"):
        return ""
    parts: list[str] = []
    for part in path.split("/"):
        if part == ".." and not parts:
            return ""
        if part == "..":
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    relative = "/".join(parts)
    return "" if relative.startswith("~") or relative[1:3] == ":/" else relative  # a home directory, a drive
