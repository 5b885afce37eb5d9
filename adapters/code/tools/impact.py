"""``ci_impact``: what can break when a symbol or a file changes.

Invariant: impact is the product of the confidence of the edges and of a decay for each step; code below the threshold
is not listed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any

from upbeat.adapters.code.files.file_types import FileRole, classify_file
from upbeat.adapters.code.graph import graph
from upbeat.adapters.code.graph.codebase import CodeBase
from upbeat.adapters.code.query.excerpt import printable_path
from upbeat.core.contract.finding import Finding, ToolOutput

MAX_DEPTH = 3
DECAY = 0.7
MIN_IMPACT = 0.1
MAX_TARGETS = 3
MAX_NODES = 60
MAX_ROWS = 12
MAX_ROWS_WITH_TEXT = 6


def analyze_impact(code: CodeBase, files: tuple[str, ...], symbols: tuple[str, ...], depth: int) -> ToolOutput:
    """Return what depends on ``symbols`` and ``files`` within ``depth`` steps."""
    roots = [root for symbol in symbols for root in graph.find_definitions(code, symbol, files)[:MAX_TARGETS]]
    roots += [graph.SymbolLocation(path) for path in files if code.parsed_file(path)]
    affected = _propagate(code, roots, depth)
    ranked = sorted(
        affected,
        key=lambda item: (
            -item.confidence,
            item.depth,
            item.edge.endpoint.path,
            item.edge.endpoint.definition.start_line,
        ),
    )
    data: dict[str, Any] = {
        "root": [root.id for root in roots],
        "depth": depth,
        "decay_factor": DECAY,
        "threshold": MIN_IMPACT,
        "affected_nodes": [_node_data(item) for item in ranked],
        "total_affected": len(ranked),
    }
    if len(files) == 1 and not symbols:
        data["file"] = printable_path(files[0])
    rows = tuple(_affected_findings(code, ranked[:MAX_ROWS]))
    paths = {item.edge.endpoint.path for item in ranked}
    summary = f"{len(ranked)} places in {len(paths)} files depend on {', '.join(root.id for root in roots[:3])}"
    if not roots:
        summary = "none of the given symbols and files was found in the repository"
    return ToolOutput(summary, rows, data, truncated=code.is_past_deadline())


def _propagate(code: CodeBase, roots: list[graph.SymbolLocation], depth: int) -> list[graph.Step]:
    """Return everything that uses ``roots`` directly or indirectly."""
    seen = {(root.path, root.position) for root in roots}
    files = {root.path for root in roots if root.position < 0}
    affected: list[graph.Step] = []
    waiting = deque((root, 1.0, 1) for root in roots)
    while waiting and not code.is_past_deadline():
        symbol, weight, distance = waiting.popleft()
        is_file = symbol.position < 0
        edges = (
            graph.find_importers(code, symbol.path) if is_file else graph.find_callers(code, symbol, calls_only=False)
        )
        for edge in edges:
            value = weight * edge.confidence * DECAY
            key = (edge.endpoint.path, edge.endpoint.position)
            if key in seen or edge.endpoint.path in files or value < MIN_IMPACT or len(affected) >= MAX_NODES:
                continue
            seen.add(key)
            affected.append(graph.Step(edge, symbol, distance, value))
            is_test = classify_file(edge.endpoint.path).role is FileRole.TEST  # nothing depends on a test
            if distance < depth and not is_test:
                waiting.append((edge.endpoint, value, distance + 1))
    return affected


def _node_data(affected: graph.Step) -> dict[str, Any]:
    symbol = affected.edge.endpoint
    return {
        "symbol_id": symbol.id,
        "file_path": printable_path(symbol.path),
        "line": affected.edge.line,
        "depth": affected.depth,
        "impact": round(affected.confidence, 4),
        "confidence": round(affected.edge.confidence, 3),
        "via": affected.origin.id,
        "is_test": classify_file(symbol.path).role is FileRole.TEST,
    }


def _affected_findings(code: CodeBase, ranked: list[graph.Step]) -> Iterator[Finding]:
    for number, item in enumerate(ranked):
        path, definition = printable_path(item.origin.path), item.origin.definition
        target = f"{definition.symbol} ({path}:{definition.start_line})" if item.origin.position >= 0 else path
        verb = "calls" if item.edge.is_call else "uses" if item.origin.position >= 0 else "imports"
        why = f"{verb} {target} on line {item.edge.line}"
        yield graph.edge_finding(
            code, item.edge, graph.SUPPLEMENT_FACTOR * item.confidence, why, has_text=number < MAX_ROWS_WITH_TEXT
        )
