"""``ci_call_chain``: the callers and callees of a symbol, up to three steps away.

Invariant: breadth first, each symbol once, the most certain edges first. An edge that is only a guess by name is not
followed further.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

from upbeat.adapters.code.files.file_types import FileRole, classify_file
from upbeat.adapters.code.graph import graph
from upbeat.adapters.code.graph.codebase import CodeBase
from upbeat.adapters.code.query.excerpt import printable_path
from upbeat.core.contract.finding import Finding, ToolOutput

DIRECTIONS = ("callers", "callees", "both")
MAX_DEPTH = 3
DECAY = 0.7
MAX_TARGETS = 3
"""Definitions that are followed when the name is ambiguous."""

MAX_PLACES = 40
MIN_FOLLOWED_CONFIDENCE = 0.5
MIN_CONFIDENCE = 0.1
MAX_ROWS_WITH_TEXT = 8


def trace_calls(code: CodeBase, symbol: str, direction: str, depth: int) -> ToolOutput:
    """Return the callers and callees of ``symbol`` within ``depth`` steps."""
    targets = graph.find_definitions(code, symbol)
    chosen = targets[:MAX_TARGETS]
    steps: list[graph.Step] = []
    has_cycle = False
    for way in ("callers", "callees") if direction == "both" else (direction,):
        new_steps, is_cyclic = _follow(code, chosen, way, depth)
        steps += new_steps
        has_cycle |= is_cyclic
    data = {
        "target_symbol": symbol,
        "direction": direction,
        "cycle_detected": has_cycle,
        "call_chain": _chain_data(chosen, steps),
        "metadata": {
            "depth": depth,
            "definitions": [target.id for target in targets],
            "is_ambiguous": len(targets) > 1,
            "truncated": code.is_past_deadline(),
        },
    }
    return ToolOutput(
        _summary(symbol, targets, steps, has_cycle),
        _step_findings(code, steps),
        data,
        truncated=code.is_past_deadline(),
    )


def _follow(
    code: CodeBase, targets: list[graph.SymbolLocation], direction: str, depth: int
) -> tuple[list[graph.Step], bool]:
    """Return the steps in one direction, and whether one of them leads back to a target."""
    find_edges: Callable[[CodeBase, graph.SymbolLocation], list[graph.Edge]]
    find_edges = graph.find_callers if direction == "callers" else graph.find_callees
    starts = {(target.path, target.position) for target in targets}
    seen = set(starts)
    steps: list[graph.Step] = []
    has_cycle = False
    waiting = deque((target, 1.0, 1) for target in targets)
    while waiting and not code.is_past_deadline() and len(steps) < MAX_PLACES:
        symbol, certainty, distance = waiting.popleft()
        for edge in find_edges(code, symbol):
            key = (edge.endpoint.path, edge.endpoint.position)
            confidence = certainty * edge.confidence
            is_certain = edge.confidence >= MIN_FOLLOWED_CONFIDENCE
            has_cycle |= key in starts and is_certain
            if key in seen or confidence < MIN_CONFIDENCE or len(steps) >= MAX_PLACES:
                continue
            seen.add(key)
            steps.append(graph.Step(edge, symbol, distance, confidence, direction))
            is_test = classify_file(edge.endpoint.path).role is FileRole.TEST
            is_end = distance == depth or (is_test and direction == "callers")  # nothing calls a test
            if is_certain and edge.endpoint.position >= 0 and not is_end:
                waiting.append((edge.endpoint, confidence, distance + 1))
    return steps, has_cycle


def _chain_data(targets: list[graph.SymbolLocation], steps: list[graph.Step]) -> list[dict[str, Any]]:
    """Return the symbols in the shape of the contract, each with its callers and callees."""
    nodes: dict[str, dict[str, Any]] = {target.id: _node_data(target, 0) for target in targets}
    for step in steps:
        entry = {
            "symbol_id": step.edge.endpoint.id,
            "file_path": printable_path(step.edge.endpoint.path),
            "line": step.edge.line,
            "confidence": round(step.confidence, 3),
        }
        origin = nodes.setdefault(step.origin.id, _node_data(step.origin, step.depth - 1))
        origin.setdefault(step.direction, []).append(entry)
        nodes.setdefault(step.edge.endpoint.id, _node_data(step.edge.endpoint, step.depth))
    return list(nodes.values())


def _node_data(symbol: graph.SymbolLocation, depth: int) -> dict[str, Any]:
    return {
        "symbol_id": symbol.id,
        "file_path": printable_path(symbol.path),
        "line": symbol.definition.start_line,
        "depth": depth,
    }


def _step_findings(code: CodeBase, steps: list[graph.Step]) -> tuple[Finding, ...]:
    ranked = sorted(steps, key=lambda step: (step.depth, -step.confidence, step.edge.endpoint.path, step.edge.line))
    rows = []
    for number, step in enumerate(ranked):
        goal = (
            f"{step.origin.definition.symbol} ({printable_path(step.origin.path)}:{step.origin.definition.start_line})"
        )
        calls = step.direction == "callers"
        why = f"calls {goal} on line {step.edge.line}" if calls else f"called by {goal} on line {step.edge.line}"
        score = graph.SUPPLEMENT_FACTOR * step.confidence * DECAY ** (step.depth - 1)
        rows.append(
            graph.edge_finding(code, step.edge, score, why, has_text=number < MAX_ROWS_WITH_TEXT, is_call_site=calls)
        )
    return tuple(rows)


def _summary(symbol: str, targets: list[graph.SymbolLocation], steps: list[graph.Step], has_cycle: bool) -> str:
    if not targets:
        return f"no definition of {symbol} was found"
    up = sum(step.direction == "callers" for step in steps)
    text = (
        f"{targets[0].definition.symbol} in {printable_path(targets[0].path)}: {up} callers, {len(steps) - up} callees"
    )
    if len(targets) > 1:
        text += f"; {len(targets)} definitions have the name"
    return text + ("; calls itself indirectly" if has_cycle else "")
