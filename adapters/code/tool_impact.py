"""``ci_impact``: what may break when a symbol or a file changes.

Law: impact is the product of the edges' confidence and of a decay for each step; below the threshold nothing is
listed. Tests are listed after the sources that they test.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ...core.contract.finding import Finding, ToolOutput
from .codebase import CodeBase
from .excerpt import shown
from .graph import Edge, Place, callers, find_definitions, importers, row
from .kinds import Role
from .scan import kind_of_cached

MAX_DEPTH = 3
DECAY = 0.7
THRESHOLD = 0.1
MAX_TARGETS = 3
MAX_NODES = 60
ROWS = 12
SHOWN_WITH_TEXT = 6
ASIDE = 0.6
"""What a row is worth beside the answer of a search, which names the place itself."""


@dataclass(frozen=True, slots=True)
class Affected:
    """One place that depends on the change, ``depth`` steps away by way of ``via``."""

    edge: Edge
    via: Place
    depth: int
    impact: float


def impact(code: CodeBase, files: tuple[str, ...], symbols: tuple[str, ...], depth: int) -> ToolOutput:
    """What depends on ``symbols`` and ``files`` within ``depth`` steps."""
    roots = [place for symbol in symbols for place in find_definitions(code, symbol, files)[:MAX_TARGETS]]
    roots += [Place(path, -1, None) for path in files if code.parsed(path)]
    affected = _spread(code, roots, depth)
    ranked = sorted(affected, key=lambda one: (-one.impact, one.depth, one.edge.other.path, one.edge.other.line))
    data: dict[str, Any] = {
        "root": [place.id for place in roots],
        "depth": depth,
        "decay_factor": DECAY,
        "threshold": THRESHOLD,
        "affected_nodes": [_node(one) for one in ranked],
        "total_affected": len(ranked),
    }
    if len(files) == 1 and not symbols:
        data["file"] = shown(files[0])
    rows = tuple(_rows(code, ranked[:ROWS]))
    return ToolOutput(_summary(roots, ranked), rows, data, truncated=code.is_late())


def _spread(code: CodeBase, roots: list[Place], depth: int) -> list[Affected]:
    """Everything that is reached from ``roots`` against the direction of use."""
    seen = {(place.path, place.position) for place in roots}
    files = {place.path for place in roots if place.position < 0}
    found: list[Affected] = []
    level = [(place, 1.0) for place in roots]
    for distance in range(1, depth + 1):
        following: list[tuple[Place, float]] = []
        for place, weight in level:
            if code.is_late():
                return found
            for edge in _dependents(code, place):
                value = weight * edge.confidence * DECAY
                key = (edge.other.path, edge.other.position)
                if key in seen or edge.other.path in files or value < THRESHOLD or len(found) >= MAX_NODES:
                    continue
                seen.add(key)
                found.append(Affected(edge, place, distance, value))
                if kind_of_cached(edge.other.path).role is not Role.TEST:  # nothing depends on a test
                    following.append((edge.other, value))
        level = following
    return found


def _dependents(code: CodeBase, place: Place) -> list[Edge]:
    return callers(code, place, calls_only=False) if place.definition else importers(code, place.path)


def _node(one: Affected) -> dict[str, Any]:
    place = one.edge.other
    return {
        "symbol_id": place.id,
        "file_path": shown(place.path),
        "line": one.edge.line,
        "depth": one.depth,
        "impact": round(one.impact, 4),
        "confidence": round(one.edge.confidence, 3),
        "via": one.via.id,
        "is_test": kind_of_cached(place.path).role is Role.TEST,
    }


def _rows(code: CodeBase, ranked: list[Affected]) -> Iterator[Finding]:
    for number, one in enumerate(ranked):
        place = one.via
        goal = f"{place.symbol} ({shown(place.path)}:{place.line})" if place.definition else shown(place.path)
        verb = "calls" if one.edge.is_call else "uses" if place.definition else "imports"
        why = f"{verb} {goal} on line {one.edge.line}"
        yield row(code, one.edge, ASIDE * one.impact, why, with_text=number < SHOWN_WITH_TEXT)


def _summary(roots: list[Place], ranked: list[Affected]) -> str:
    if not roots:
        return "nothing of what is named was found in the repository"
    places = {shown(one.edge.other.path) for one in ranked}
    return f"{len(ranked)} places in {len(places)} files depend on {', '.join(place.id for place in roots[:3])}"
