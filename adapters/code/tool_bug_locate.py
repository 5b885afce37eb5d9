"""``ci_bug_locate``: from an error to the places that it may come from.

Law: a stack trace outranks a message, a message outranks words; each candidate says which of them it rests on.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from ...core.contract.finding import Finding, ToolOutput
from ...core.turn.traces import Frame, read_frames
from .codebase import CodeBase
from .excerpt import shown, source_lines
from .graph import Place, find_definitions, place_at

Search = Callable[[str, int], ToolOutput]
"""Searches for a text and a number of files."""

MAX_LIMIT = 10
BY_TRACE = 0.95
NEXT_FRAME = 0.85
"""What each further frame of the repository is worth, of the one before."""

BY_TAIL = 0.6
"""For a frame whose path only ends like a file's."""

MOVED = 0.8
"""For a function that no longer is on the line of the trace."""

BY_MESSAGE = 0.75
BY_NAME = 0.5
BY_WORDS = 0.5
SHORTEST_MESSAGE = 10
MAX_MESSAGE_FILES = 4
BEFORE, AFTER = 4, 4

_ERROR_NAME = re.compile(r"([A-Za-z_]\w*(?:Error|Exception|Warning|Panic))\b")
_VARIABLE = re.compile(r"""'[^'\n]*'|"[^"\n]*"|`[^`\n]*`|\b0x[0-9a-f]+\b|\d+|<[^<>\n]*>|[:(){}\[\]]""")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A place with the lines that matter, how sure it is, and why."""

    place: Place
    line: int
    confidence: float
    why: str


def bug_locate(
    code: CodeBase, query: str, traces: tuple[str, ...], errors: tuple[str, ...], limit: int, search: Search
) -> ToolOutput:
    """The ``limit`` likeliest places for ``query``, ``traces`` (whole or frame by frame) and error messages."""
    frames = read_frames("\n".join((*traces, query)))
    best: dict[tuple[str, int], Candidate] = {}
    for candidate in (*_by_frames(code, frames), *_by_messages(code, errors)):
        key = (candidate.place.path, candidate.place.position)
        known = best.get(key)
        if known is None or candidate.confidence > known.confidence:
            best[key] = candidate
    certain = sorted(best.values(), key=lambda one: (-one.confidence, one.place.path, one.line))[:limit]
    rows = [_row(code, one) for one in certain]
    words = " ".join(filter(None, (query, *errors)))
    is_truncated = code.is_late()
    if len(rows) < limit and words.strip():
        found = search(words, limit)
        is_truncated |= found.truncated
        rows += _by_words(found, {(one.path, one.symbol) for one in rows})[: limit - len(rows)]
    data = {"candidates": [_data(one) for one in rows], "frames": len(frames)}
    return ToolOutput(_summary(rows, frames), tuple(rows), data, truncated=is_truncated)


def _by_frames(code: CodeBase, frames: tuple[Frame, ...]) -> Iterator[Candidate]:
    """The places of the frames that lie in the repository."""
    weight = BY_TRACE
    for number, frame in enumerate(frames, 1):
        path, share = _file_of(code, frame.path)
        parsed = code.parsed(path) if path else None
        if parsed is None:
            continue
        place, line, confidence = place_at(path, parsed, frame.line), frame.line, weight * share
        name = frame.symbol.rpartition(".")[2]
        if name and place.name != name:
            moved = [at for at, one in enumerate(parsed.definitions) if one.name == name]
            if moved and not any(
                one.name == name and one.start_line <= line <= one.end_line for one in parsed.definitions
            ):
                place = Place(path, moved[0], parsed.definitions[moved[0]])
                line, confidence = place.line, confidence * MOVED
        if line <= len(code.lines(path)):
            yield Candidate(place, line, confidence, f"frame {number} of the stack trace")
            weight *= NEXT_FRAME


def _file_of(code: CodeBase, printed: str) -> tuple[str, float]:
    """The file that a printed path means, and how surely: 1 when all of the file's path is in it, or the reverse."""
    parts = [part for part in re.split(r"[\\/]+", printed.partition("://")[2] or printed) if part not in ("", ".", "~")]
    if not parts:
        return "", 0.0
    stem = parts[-1].partition(".")[0]
    best: list[tuple[int, str]] = []
    for path in code.named(stem):
        own = path.split("/")
        same = 0
        while same < min(len(own), len(parts)) and own[-1 - same] == parts[-1 - same]:
            same += 1
        if same:
            best.append((-same, path))
    if not best:
        return "", 0.0
    best.sort()
    ties = sum(same == best[0][0] for same, _ in best)
    is_whole = -best[0][0] in (len(parts), len(best[0][1].split("/")))
    return best[0][1], (1.0 if is_whole else BY_TAIL) / ties


def _by_messages(code: CodeBase, errors: tuple[str, ...]) -> Iterator[Candidate]:
    """Where the fixed part of a message is written, and the error that it names is defined."""
    for error in errors:
        fixed = max((part.strip() for part in _VARIABLE.split(error)), key=len, default="")
        if len(fixed) >= SHORTEST_MESSAGE and " " in fixed:
            holders = code.holding(fixed)
            for path in holders[:MAX_MESSAGE_FILES]:
                parsed = code.parsed(path)
                lines = code.lines(path)
                line = next((at for at, text in enumerate(lines, 1) if fixed.lower() in text.lower()), 0)
                if parsed and line:
                    sure = BY_MESSAGE / min(len(holders), 3) ** 0.5
                    yield Candidate(place_at(path, parsed, line), line, sure, "has the error message")
        name = _ERROR_NAME.search(error)
        if name and not code.is_late():
            for place in find_definitions(code, name[1])[:1]:
                yield Candidate(place, place.line, BY_NAME, f"defines {name[1]}")


def _by_words(found: ToolOutput, known: set[tuple[str, str]]) -> list[Finding]:
    """The search's rows, put behind what rests on a trace or a message, and without their text."""
    return [
        Finding(
            path=one.path,
            title=one.title,
            symbol=one.symbol,
            kind=one.kind,
            start_line=one.start_line,
            end_line=one.end_line,
            score=round(one.score * BY_WORDS, 4),
            why=one.why,
        )
        for file in found.findings
        for one in file.places()
        if (one.path, one.symbol) not in known
    ]


def _row(code: CodeBase, one: Candidate) -> Finding:
    lines = code.lines(one.place.path)
    definition = one.place.definition
    first = max(definition.start_line if definition else 1, one.line - BEFORE)
    last = min(definition.end_line if definition else len(lines), one.line + AFTER)
    return Finding(
        path=shown(one.place.path),
        title=definition.signature if definition else "",
        symbol=one.place.symbol,
        kind="reference",
        start_line=first,
        end_line=max(last, first),
        score=round(one.confidence, 4),
        why=f"{one.why}, line {one.line}",
        text=source_lines(lines, first, last),
    )


def _data(one: Finding) -> dict[str, Any]:
    return {
        "file_path": one.path,
        "symbol": one.symbol,
        "line": one.start_line,
        "line_range": [one.start_line, one.end_line],
        "confidence": one.score,
        "why": one.why,
    }


def _summary(rows: list[Finding], frames: tuple[Frame, ...]) -> str:
    if not rows:
        return "nothing in the repository fits the error"
    names = ", ".join(f"{one.path}:{one.start_line}" for one in rows[:3])
    return f"{len(rows)} candidates" + (f" from {len(frames)} frames" if frames else "") + f", first {names}"
