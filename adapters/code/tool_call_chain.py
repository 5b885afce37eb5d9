"""``ci_call_chain``: who calls a symbol, and whom it calls, up to three steps away.

Law: breadth first, each place once, the surest edges first. An edge that is only a guess by name is not followed
any further.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ...core.contract.finding import Finding, ToolOutput
from .codebase import CodeBase
from .excerpt import shown
from .graph import Edge, Place, callees, callers, find_definitions, row
from .kinds import Role
from .scan import kind_of_cached

DIRECTIONS = ("callers", "callees", "both")
MAX_DEPTH = 3
DECAY = 0.7
MAX_TARGETS = 3
"""Definitions of one name that are followed, when the name does not say which one is meant."""

MAX_PLACES = 40
FOLLOWED = 0.5
"""The least confidence of an edge that is followed."""

LEAST = 0.1
SHOWN_WITH_TEXT = 8
ASIDE = 0.6
"""What a row is worth beside the answer of a search, which names the place itself."""


@dataclass(frozen=True, slots=True)
class Step:
    """One edge on the way from the target: ``source`` is the place that it starts from."""

    edge: Edge
    source: Place
    depth: int
    direction: str
    confidence: float


def call_chain(code: CodeBase, symbol: str, direction: str, depth: int) -> ToolOutput:
    """The callers and callees of ``symbol`` within ``depth`` steps."""
    targets = find_definitions(code, symbol)
    chosen = targets[:MAX_TARGETS]
    ways = ("callers", "callees") if direction == "both" else (direction,)
    steps: list[Step] = []
    has_cycle = False
    for way in ways:
        found, cycle = _follow(code, chosen, way, depth)
        steps += found
        has_cycle |= cycle
    data = {
        "target_symbol": symbol,
        "direction": direction,
        "cycle_detected": has_cycle,
        "call_chain": _chain(chosen, steps),
        "metadata": {
            "depth": depth,
            "definitions": [target.id for target in targets],
            "is_ambiguous": len(targets) > 1,
            "truncated": code.is_late(),
        },
    }
    return ToolOutput(_summary(symbol, targets, steps, has_cycle), _rows(code, steps), data, truncated=code.is_late())


def _follow(code: CodeBase, targets: list[Place], way: str, depth: int) -> tuple[list[Step], bool]:
    """The steps in one direction, and whether one of them leads back to a target."""
    look: Callable[[CodeBase, Place], list[Edge]] = callers if way == "callers" else callees
    starts = {(target.path, target.position) for target in targets}
    seen = set(starts)
    steps: list[Step] = []
    has_cycle = False
    level = [(target, 1.0) for target in targets]
    for distance in range(1, depth + 1):
        following: list[tuple[Place, float]] = []
        for place, sure in level:
            if code.is_late() or len(steps) >= MAX_PLACES:
                return steps, has_cycle
            for edge in look(code, place):
                key = (edge.other.path, edge.other.position)
                confidence = sure * edge.confidence
                has_cycle |= key in starts and edge.confidence >= FOLLOWED
                if key in seen or confidence < LEAST or len(steps) >= MAX_PLACES:
                    continue
                seen.add(key)
                steps.append(Step(edge, place, distance, way, confidence))
                is_test = kind_of_cached(edge.other.path).role is Role.TEST  # nobody calls a test
                if edge.confidence >= FOLLOWED and edge.other.definition and not (is_test and way == "callers"):
                    following.append((edge.other, confidence))
        level = following
    return steps, has_cycle


def _chain(targets: list[Place], steps: list[Step]) -> list[dict[str, Any]]:
    """The places in the contract's shape: each with those that it was reached for."""
    places: dict[str, dict[str, Any]] = {}
    for target in targets:
        places[target.id] = _entry(target, 0)
    for step in steps:
        entry = {
            "symbol_id": step.edge.other.id,
            "file_path": shown(step.edge.other.path),
            "line": step.edge.line,
            "confidence": round(step.confidence, 3),
        }
        places.setdefault(step.source.id, _entry(step.source, step.depth - 1)).setdefault(step.direction, []).append(
            entry
        )
        places.setdefault(step.edge.other.id, _entry(step.edge.other, step.depth))
    return list(places.values())


def _entry(place: Place, depth: int) -> dict[str, Any]:
    return {"symbol_id": place.id, "file_path": shown(place.path), "line": place.line, "depth": depth}


def _rows(code: CodeBase, steps: list[Step]) -> tuple[Finding, ...]:
    ranked = sorted(steps, key=lambda step: (step.depth, -step.confidence, step.edge.other.path, step.edge.line))
    rows = []
    for number, step in enumerate(ranked):
        goal = f"{step.source.symbol} ({shown(step.source.path)}:{step.source.line})"
        calls = step.direction == "callers"
        why = f"calls {goal} on line {step.edge.line}" if calls else f"called by {goal} on line {step.edge.line}"
        score = ASIDE * step.confidence * DECAY ** (step.depth - 1)
        rows.append(row(code, step.edge, score, why, with_text=number < SHOWN_WITH_TEXT, at_call=calls))
    return tuple(rows)


def _summary(symbol: str, targets: list[Place], steps: list[Step], has_cycle: bool) -> str:
    if not targets:
        return f"no definition of {symbol} was found"
    up = sum(step.direction == "callers" for step in steps)
    text = f"{targets[0].symbol} in {shown(targets[0].path)}: {up} callers, {len(steps) - up} callees"
    if len(targets) > 1:
        text += f"; {len(targets)} definitions have the name"
    return text + ("; calls itself on some way" if has_cycle else "")
