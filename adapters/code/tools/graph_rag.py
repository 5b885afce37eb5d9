"""``ci_graph_rag``: the code that is connected to the answer of a search.

Invariant: the seeds are the answer of ``ci_search``; the findings here are what calls them and what they call, the
best that fit into the token budget.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import repeat
from typing import Any

from upbeat.adapters.code.graph import graph
from upbeat.adapters.code.graph.codebase import CodeBase
from upbeat.adapters.code.query.excerpt import printable_path
from upbeat.core.contract.finding import MIN_OPTIONAL_SCORE, Finding, ToolOutput

MAX_DEPTH, MAX_BUDGET, MAX_TOP_K = 2, 8000, 10
SCHEMA_VERSION = "1.0"
MAX_EXPANDED_NODES = (5, 3)
"""Seeds, and neighbors of seeds, whose own neighbors are searched."""

MAX_SEEDS_PER_FILE = (3, 2)
"""Symbols of the first, second, … file of the search; one of each further file."""

MIN_SEED_SHARE = 0.3
"""Share of the value of a file's best passage from which on a further one is a seed."""

MAX_EDGES_PER_NODE = (6, 3)
"""Callers, and callees, of one symbol that are followed, by distance."""

DECAY = 0.45
"""Score of a neighbor compared with that of its origin."""

MIN_CONFIDENCE = 0.3
MAX_ROWS = 8
MAX_ROWS_WITH_TEXT = 4
CHARS_PER_TOKEN = 4
SEED_TOKENS, NEIGHBOR_TOKENS = 20, 60
"""Tokens of a node besides its name and signature; a neighbor is shown with a few lines."""

MAX_CALLEE_NAMES = 12


@dataclass(frozen=True, slots=True)
class GraphNode:
    """A symbol in the subgraph; ``edge`` and ``origin`` say how it was reached, and are None for a seed."""

    symbol: graph.SymbolLocation
    score: float
    depth: int
    edge: graph.Edge | None = None
    origin: graph.SymbolLocation | None = None
    relation: str = ""


def build_subgraph(
    code: CodeBase, search_output: ToolOutput, depth: int, budget: int, top_k: int, rows: int | None = None
) -> ToolOutput:
    """Return the subgraph within ``depth`` steps around the first ``top_k`` symbols of ``search_output``.

    ``rows`` is how many rows the caller shows, those of the search included: the subgraph ends when no other symbol
    can be in one of them. By default it is complete.
    """
    wanted = None if rows is None else max(rows - len(search_output.findings), 0)
    seeds = _select_seeds(code, search_output, top_k)
    nodes = {node.symbol.id: node for node in seeds}
    edges: dict[tuple[str, str, str], dict[str, Any]] = {}
    level = seeds[: MAX_EXPANDED_NODES[0]]
    for distance in range(1, depth + 1):
        following: list[GraphNode] = []
        for index, node in enumerate(level):
            if code.is_past_deadline() or _is_complete(nodes.values(), level[index:], wanted):
                break
            for other in _adjacent_nodes(code, node, MAX_EDGES_PER_NODE[distance - 1], distance):
                _add_edge(edges, other)
                if other.symbol.id not in nodes:
                    nodes[other.symbol.id] = other
                    following.append(other)
        level = sorted(following, key=_sort_key)[: MAX_EXPANDED_NODES[-1]]
    kept, tokens = _fit_budget(nodes.values(), budget)
    min_score = min((finding.score for finding in search_output.findings), default=1.0)
    findings = _node_findings(code, kept, min_score)
    ids = {node.symbol.id for node in kept}
    data: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "source": code.backend,
        "token_count": tokens,
        "subgraph": {
            "nodes": [_node_data(node) for node in kept],
            "edges": [edge for edge in edges.values() if edge["source"] in ids and edge["target"] in ids],
        },
        "candidates": [{"file": node.symbol.id.partition("::")[0], "score": node.score} for node in seeds],
        "metadata": {
            "graph_available": bool(edges),
            "fusion_depth": depth,
            "budget": budget,
            "fallback_reason": "" if edges else "no calls or imports were found around the answer",
        },
    }
    around = ", ".join(node.symbol.id for node in seeds[:3])
    summary = f"{sum(node.depth > 0 for node in kept)} places connected to {around}"
    if not seeds:
        summary = "nothing in the repository fits the query"
    return ToolOutput(summary, findings, data, truncated=search_output.truncated or code.is_past_deadline())


def _select_seeds(code: CodeBase, search_output: ToolOutput, top_k: int) -> list[GraphNode]:
    """Return the symbols of the search findings, each once: of the first files also those that are nearly the best."""
    passages: list[Finding] = []
    limits = (*MAX_SEEDS_PER_FILE, *repeat(1, len(search_output.findings)))
    for file, limit in zip(search_output.findings, limits, strict=False):
        best, *others = file.split_excerpts()
        min_score = max(MIN_SEED_SHARE * best.optional_score, MIN_OPTIONAL_SCORE)
        passages += [best, *(item for item in others[: limit - 1] if item.optional_score >= min_score)]
    seeds: dict[str, GraphNode] = {}
    for passage in passages:
        parsed = code.parsed_file(passage.path) if len(seeds) < top_k else None
        if parsed is None:
            continue
        symbol = graph.SymbolLocation(passage.path)
        if passage.start_line > 0:
            symbol = graph.enclosing_symbol(passage.path, parsed, passage.start_line)
        seeds.setdefault(symbol.id, GraphNode(symbol, passage.score, 0))
    return list(seeds.values())


def _is_complete(nodes: Iterable[GraphNode], pending: Sequence[GraphNode], wanted: int | None) -> bool:
    """Return whether no neighbor of ``pending``, and of what was reached, can be among the best ``wanted``."""
    if wanted is None:
        return False
    scores = sorted((node.score for node in nodes if node.depth), reverse=True)
    bound = max([node.score for node in pending] + scores[:1]) * DECAY * graph.SAME_FILE_CONFIDENCE
    return len(scores) >= wanted and (wanted == 0 or scores[wanted - 1] > round(bound, 4))


def _adjacent_nodes(code: CodeBase, node: GraphNode, limit: int, distance: int) -> list[GraphNode]:
    """Return what calls or imports the node's symbol, and what it calls; the most certain of each."""
    if node.symbol.position < 0:
        relations = [("imports", graph.find_importers(code, node.symbol.path))]
    else:
        relations = [
            ("calls", graph.find_callers(code, node.symbol)),
            ("called by", graph.find_callees(code, node.symbol, MAX_CALLEE_NAMES)),
        ]
    nodes = []
    for relation, edges in relations:
        for edge in [edge for edge in edges if edge.confidence >= MIN_CONFIDENCE][:limit]:
            score = round(node.score * DECAY * edge.confidence, 4)
            nodes.append(GraphNode(edge.endpoint, score, distance, edge, node.symbol, relation))
    return nodes


def _add_edge(edges: dict[tuple[str, str, str], dict[str, Any]], node: GraphNode) -> None:
    assert node.edge
    assert node.origin
    ends = (node.origin.id, node.symbol.id) if node.relation == "called by" else (node.symbol.id, node.origin.id)
    kind = "imports" if node.relation == "imports" else "calls"
    edges.setdefault(
        (*ends, kind),
        {
            "source": ends[0],
            "target": ends[1],
            "type": kind,
            "line": node.edge.line,
            "confidence": round(node.edge.confidence, 3),
        },
    )


def _fit_budget(nodes: Iterable[GraphNode], budget: int) -> tuple[list[GraphNode], int]:
    """Return the best nodes that fit into ``budget`` tokens, and how many tokens they take."""
    kept: list[GraphNode] = []
    tokens = 0
    for node in sorted(nodes, key=_sort_key):
        chars = len(node.symbol.id) + len(node.symbol.definition.signature)
        cost = SEED_TOKENS + (
            2 * chars // CHARS_PER_TOKEN + NEIGHBOR_TOKENS if node.depth else chars // CHARS_PER_TOKEN
        )
        if tokens + cost <= budget:
            kept.append(node)
            tokens += cost
    return kept, tokens


def _sort_key(node: GraphNode) -> tuple[object, ...]:
    return (node.depth, -node.score, node.symbol.path, node.symbol.definition.start_line)


def _node_findings(code: CodeBase, nodes: list[GraphNode], max_score: float) -> tuple[Finding, ...]:
    """Return the reached nodes, with scores below ``max_score``, so that they follow the search findings."""
    rows: list[Finding] = []
    neighbors = [node for node in nodes if node.depth]
    neighbors.sort(key=lambda node: (-node.score, node.symbol.path, node.symbol.definition.start_line))
    for node in neighbors[:MAX_ROWS]:
        assert node.edge
        assert node.origin
        path = printable_path(node.origin.path)
        near = f"{node.origin.definition.symbol or path} ({path}:{node.origin.definition.start_line})"
        is_use = node.relation != "called by"
        why = f"{node.relation} {near}" + (f" on line {node.edge.line}" if is_use else "")
        has_text = len(rows) < MAX_ROWS_WITH_TEXT
        finding = graph.edge_finding(
            code, node.edge, node.score * max_score, why, has_text=has_text, is_call_site=is_use
        )
        rows.append(replace(finding, optional_score=max(finding.score, MIN_OPTIONAL_SCORE)))
    return tuple(rows)


def _node_data(node: GraphNode) -> dict[str, Any]:
    symbol, definition = node.symbol, node.symbol.definition
    return {
        "id": symbol.id,
        "file_path": printable_path(symbol.path),
        "symbol": definition.symbol,
        "line": definition.start_line,
        "line_range": [definition.start_line, definition.end_line] if symbol.position >= 0 else [0, 0],
        "score": node.score,
        "depth": node.depth,
    }
