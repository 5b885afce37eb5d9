"""Which tools run for a turn, with which arguments, for how long.

Law: every argument is built here from the reading and clamped; nothing of the prompt is passed through
raw. The tables say which tool belongs to which tier, what it may take and how long it may last.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..contract.codes import LimitCode
from ..contract.report import BudgetReport, Limit, PlannedTool, ToolPlan
from ..servers import tool_name
from ..settings import Settings, Switch
from .reading import Intent, Reading, Targets

TIER2_EXTRA_MS = 5000
"""Milliseconds that planned tier-2 tools add to the wall clock."""

MAX_TARGETS = 5
"""Files or symbols that one tool is asked about."""


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool that may run by itself. ``arguments`` gives None when the prompt has nothing to ask it."""

    name: str
    tier: int
    timeout_ms: int
    reason: str
    arguments: Callable[[Reading], dict[str, Any] | None]


def _search(reading: Reading) -> dict[str, Any] | None:
    if not reading.query:
        return None
    arguments: dict[str, Any] = {"query": reading.query, "limit": 10}
    return arguments | _named(reading.targets)


def _graph(reading: Reading) -> dict[str, Any] | None:
    if not reading.query:
        return None
    return {"query": reading.query, "depth": 2, "budget": 8000, "top_k": 10} | _named(reading.targets)


def _call_chain(reading: Reading) -> dict[str, Any] | None:
    symbols = reading.targets.symbols
    return {"symbol": symbols[0], "direction": "both", "depth": 3} if symbols else None


def _bug_locate(reading: Reading) -> dict[str, Any] | None:
    if reading.intent is not Intent.DEBUG:
        return None
    arguments = {"query": reading.query, "errors": list(reading.targets.errors[:MAX_TARGETS]), "limit": 10}
    return arguments | ({"traces": list(reading.targets.frames)} if reading.targets.frames else {})


def _impact(reading: Reading) -> dict[str, Any] | None:
    named = _named(reading.targets)
    return named | {"depth": 3} if named else None


def _complexity(reading: Reading) -> dict[str, Any] | None:
    return {"files": list(reading.targets.files[:MAX_TARGETS])} if reading.targets.files else None


def _hotspot(_reading: Reading) -> dict[str, Any] | None:
    return {"days": 30, "top": 20}


def _named(targets: Targets) -> dict[str, Any]:
    named = {"files": list(targets.files[:MAX_TARGETS]), "symbols": list(targets.symbols[:MAX_TARGETS])}
    return {name: values for name, values in named.items() if values}


TOOLS: tuple[Tool, ...] = (
    Tool("ci_index_status", 0, 500, "what there is to search", lambda _reading: {}),
    Tool("ci_search", 1, 2000, "files, symbols and lines for the prompt's words", _search),
    Tool("ci_graph_rag", 1, 3500, "what is connected to them", _graph),
    Tool("ci_call_chain", 2, 2000, "callers and callees of a named symbol", _call_chain),
    Tool("ci_bug_locate", 2, 3500, "where an error may come from", _bug_locate),
    Tool("ci_impact", 2, 2000, "what depends on what is named", _impact),
    Tool("ci_complexity", 2, 1000, "how complex the named files are", _complexity),
    Tool("ci_hotspot", 2, 2000, "what changes often and is complex", _hotspot),
)
TIMEOUT_MS: Mapping[str, int] = {tool.name: tool.timeout_ms for tool in TOOLS}

CLAMPS: Mapping[str, Mapping[str, int]] = {
    "ci_search": {"limit": 10},
    "ci_graph_rag": {"depth": 2, "budget": 8000, "top_k": 10},
    "ci_call_chain": {"depth": 3},
    "ci_bug_locate": {"limit": 10},
    "ci_impact": {"depth": 3},
    "ci_hotspot": {"days": 30, "top": 20},
}
"""The most that a tool may be asked for, whoever asks."""

EMPTY_PLAN = ToolPlan(tier_max=0, budget=BudgetReport(wall_ms=0, max_concurrency=0, max_injected_chars=0))


@dataclass(frozen=True, slots=True)
class Planned:
    """A plan and what it leaves out."""

    plan: ToolPlan
    limits: tuple[Limit, ...] = ()


def plan(reading: Reading, settings: Settings, root: str, codex_command: str | None = None) -> Planned:
    """The tools for ``reading`` under ``settings``; empty when the prompt gives no reason to look."""
    if reading.intent is Intent.NONE and settings.enabled is not Switch.ON:
        empty = EMPTY_PLAN.model_copy(update={"planned_codex_command": codex_command})
        return Planned(empty, (Limit.of(LimitCode.NOT_ABOUT_CODE),))
    targets, outside = keep_inside(reading.targets, root)
    reading = replace(reading, targets=targets)
    limits = [Limit.of(LimitCode.PATH_OUTSIDE, path) for path in outside]
    deep = wants_depth(reading)
    if deep and settings.tier_max < 2:
        limits.append(Limit.of(LimitCode.TIER2_DISABLED))
    tier_max = 2 if deep and settings.tier_max == 2 else min(settings.tier_max, 1)
    planned = [
        PlannedTool(tool=tool.name, tier=tool.tier, reason=tool.reason, args=args, timeout_ms=tool.timeout_ms)
        for tool in TOOLS
        if tool.tier <= tier_max
        and tool.name not in settings.tools_disabled
        and (args := tool.arguments(reading)) is not None
    ]
    planned += _asked_of_servers(reading, settings)
    extra = TIER2_EXTRA_MS if any(tool.tier == 2 for tool in planned) else 0
    budget = BudgetReport(
        wall_ms=settings.budget_wall_ms + extra,
        max_concurrency=settings.budget_max_concurrency,
        max_injected_chars=settings.budget_max_injected_chars,
    )
    result = ToolPlan(tier_max=settings.tier_max, planned_codex_command=codex_command, budget=budget, tools=planned)
    return Planned(result, tuple(limits))


def _asked_of_servers(reading: Reading, settings: Settings) -> list[PlannedTool]:
    """The tools of the user's own servers; each gets the query, on one line, and what its user wrote down."""
    query = " ".join(reading.query.split())
    if not query:
        return []
    return [
        PlannedTool(
            tool=tool_name(server.name, tool.name),
            tier=1,
            reason=f"what your server {server.name} knows about it",
            args={**tool.args, tool.query: query},
            timeout_ms=server.timeout_ms,
        )
        for server in settings.servers
        for tool in server.tools
        if not {server.name, tool_name(server.name, tool.name)} & set(settings.tools_disabled)
    ]


def wants_depth(reading: Reading) -> bool:
    """Whether tier 2 is worth its cost: asked for, or a change or a bug with something named."""
    changes = reading.intent in (Intent.DEBUG, Intent.REFACTOR, Intent.FEATURE)
    return reading.allows_depth or (changes and bool(reading.targets))


def clamp(tool: str, args: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[Limit, ...]]:
    """``args`` with every number brought under the tool's most, and a limit for each that was over."""
    clamped = dict(args)
    limits = []
    for name, most in CLAMPS.get(tool, {}).items():
        value = args.get(name)
        if isinstance(value, int) and value > most:
            clamped[name] = most
            limits.append(Limit.of(LimitCode.CLAMPED, name=name, value=most))
    return clamped, tuple(limits)


def keep_inside(targets: Targets, root: str) -> tuple[Targets, tuple[str, ...]]:
    """The targets with paths relative to ``root``, and the paths that lead out of it."""
    inside: list[str] = []
    outside: list[str] = []
    for path in targets.files:
        relative = relative_to(path, root)
        (inside if relative else outside).append(relative or path)
    return replace(targets, files=tuple(inside)), tuple(outside)


def relative_to(path: str, root: str) -> str:
    """``path`` relative to ``root`` with ``/`` between its parts; empty when it leads out. Looks at no file."""
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
    return "" if relative.startswith("~") or relative[1:3] == ":/" else relative  # somebody's home, a drive
