"""``ci_graph_rag``: what is connected to the places that answer a question.

Law: the places themselves are ``ci_search``'s answer; the rows here are what calls them and what they call, each
with the edge that leads to it, the best that fit into the budget of tokens.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import repeat
from typing import Any

from ...core.contract.finding import LEAST_WORTH, Finding, ToolOutput
from .codebase import CodeBase
from .excerpt import shown
from .graph import Edge, Place, callees, callers, importers, place_at, row

MAX_DEPTH, MAX_BUDGET, MAX_TOP_K = 2, 8000, 10
SCHEMA_VERSION = "1.0"
EXPANDED = (5, 3)
"""Seeds, and neighbours of them, whose own neighbours are looked for; the others are nodes only."""

SEEDS_OF_FILE = (3, 2)
"""Places of the first, second, … file that the search found; one of each further file."""

LEAST_SEED = 0.3
"""Of the worth of a file's best place, for a further place to be a seed."""

NEIGHBOURS = (6, 3)
"""Callers, and callees, of one place that are followed, by distance."""

DECAY = 0.45
"""A neighbour's score by that of the place that it belongs to."""

LEAST = 0.3
ROWS = 8
SHOWN_WITH_TEXT = 4
CHARS_PER_TOKEN = 4
CALLEE_NAMES = 12


@dataclass(frozen=True, slots=True)
class Node:
    """A place in the sub-graph; ``edge`` and ``near`` say how it was reached, and are None for a seed."""

    place: Place
    score: float
    depth: int
    edge: Edge | None = None
    near: Place | None = None
    relation: str = ""


def graph_rag(code: CodeBase, found: ToolOutput, depth: int, budget: int, top_k: int) -> ToolOutput:
    """The sub-graph within ``depth`` steps around the first ``top_k`` rows that a search ``found``."""
    seeds = list(_seeds(code, found, top_k))
    nodes = {node.place.id: node for node in seeds}
    edges: dict[tuple[str, str, str], dict[str, Any]] = {}
    level = seeds[: EXPANDED[0]]
    for distance in range(1, depth + 1):
        following: list[Node] = []
        for node in level:
            if code.is_late():
                break
            for other in _neighbours(code, node, NEIGHBOURS[distance - 1], distance):
                _add_edge(edges, other)
                if other.place.id not in nodes:
                    nodes[other.place.id] = other
                    following.append(other)
        level = sorted(following, key=_order)[: EXPANDED[-1]]
    kept, tokens = _within(nodes.values(), budget)
    least = min((one.score for one in found.findings), default=1.0)
    rows = _rows(code, kept, least)
    ids = {node.place.id for node in kept}
    data: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "source": code.source,
        "token_count": tokens,
        "subgraph": {
            "nodes": [_node(node) for node in kept],
            "edges": [edge for edge in edges.values() if edge["source"] in ids and edge["target"] in ids],
        },
        "candidates": [{"file": node.place.id.partition("::")[0], "score": node.score} for node in seeds],
        "metadata": {
            "graph_available": bool(edges),
            "fusion_depth": depth,
            "budget": budget,
            "fallback_reason": "" if edges else "no calls or imports were found around the answer",
        },
    }
    return ToolOutput(_summary(seeds, kept), rows, data, truncated=found.truncated or code.is_late())


def _seeds(code: CodeBase, found: ToolOutput, top_k: int) -> Iterable[Node]:
    """The places of the search's rows, each once."""
    seen: set[str] = set()
    most = (*SEEDS_OF_FILE, *repeat(1, len(found.findings)))
    for one in (place for file, number in zip(found.findings, most, strict=False) for place in _best(file, number)):
        if len(seen) >= top_k:
            return
        parsed = code.parsed(one.path)
        if parsed is None:
            continue
        place = place_at(one.path, parsed, one.start_line) if one.start_line else Place(one.path, -1, None)
        if place.id not in seen:
            seen.add(place.id)
            yield Node(place, one.score, 0)


def _best(file: Finding, most: int) -> tuple[Finding, ...]:
    """The row of a file, and those further places of it that are worth nearly as much."""
    own, *further = file.places()
    return own, *(place for place in further[: most - 1] if place.worth >= LEAST_SEED * own.worth and place.worth)


def _neighbours(code: CodeBase, node: Node, most: int, distance: int) -> list[Node]:
    """What calls or imports the node's place, and what it calls; the surest of each."""
    if node.place.definition is None:
        ways = [("imports", importers(code, node.place.path))]
    else:
        ways = [("calls", callers(code, node.place)), ("called by", callees(code, node.place, CALLEE_NAMES))]
    found = []
    for relation, edges in ways:
        sure = [edge for edge in edges if edge.confidence >= LEAST][:most]
        for edge in sure:
            score = round(node.score * DECAY * edge.confidence, 4)
            found.append(Node(edge.other, score, distance, edge, node.place, relation))
    return found


def _add_edge(edges: dict[tuple[str, str, str], dict[str, Any]], node: Node) -> None:
    assert node.edge
    assert node.near
    ends = (node.near.id, node.place.id) if node.relation == "called by" else (node.place.id, node.near.id)
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


def _within(nodes: Iterable[Node], budget: int) -> tuple[list[Node], int]:
    """The best nodes whose texts fit into ``budget`` tokens, and how many tokens they take."""
    kept: list[Node] = []
    tokens = 0
    for node in sorted(nodes, key=_order):
        cost = _tokens(node)
        if tokens + cost <= budget:
            kept.append(node)
            tokens += cost
    return kept, tokens


def _tokens(node: Node) -> int:
    """About what the node costs as a row: where it is, its first line, why, and a few lines of it."""
    head = len(node.place.id) + (len(node.place.definition.signature) if node.place.definition else 0)
    return 20 + head * (2 if node.depth else 1) // CHARS_PER_TOKEN + (60 if node.depth else 0)


def _order(node: Node) -> tuple[object, ...]:
    return (node.depth, -node.score, node.place.path, node.place.line)


def _rows(code: CodeBase, kept: list[Node], least: float) -> tuple[Finding, ...]:
    """What was reached, with scores below ``least``: beside a search they come after all of its rows."""
    rows: list[Finding] = []
    reached = sorted(
        (node for node in kept if node.depth), key=lambda node: (-node.score, node.place.path, node.place.line)
    )
    for node in reached[:ROWS]:
        assert node.edge
        assert node.near
        near = f"{node.near.symbol or shown(node.near.path)} ({shown(node.near.path)}:{node.near.line})"
        is_use = node.relation != "called by"
        why = f"{node.relation} {near}" + (f" on line {node.edge.line}" if is_use else "")
        with_text = len(rows) < SHOWN_WITH_TEXT
        found = row(code, node.edge, node.score * least, why, with_text=with_text, at_call=is_use)
        rows.append(replace(found, worth=max(found.score, LEAST_WORTH)))
    return tuple(rows)


def _node(node: Node) -> dict[str, Any]:
    place = node.place
    return {
        "id": place.id,
        "file_path": shown(place.path),
        "symbol": place.symbol,
        "line": place.line,
        "line_range": [place.line, place.definition.end_line] if place.definition else [0, 0],
        "score": node.score,
        "depth": node.depth,
    }


def _summary(seeds: list[Node], kept: list[Node]) -> str:
    if not seeds:
        return "nothing in the repository fits the query"
    around = ", ".join(node.place.id for node in seeds[:3])
    return f"{sum(node.depth > 0 for node in kept)} places connected to {around}"
