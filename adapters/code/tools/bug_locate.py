"""``ci_bug_locate``: from an error to the code that it may come from.

Invariant: a stack trace outranks a message, a message outranks words; each candidate states its evidence.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import takewhile

from upbeat.adapters.code.graph.codebase import CodeBase
from upbeat.adapters.code.graph.graph import SymbolLocation, enclosing_symbol, find_definitions
from upbeat.adapters.code.query.excerpt import printable_path, source_lines
from upbeat.core.contract.finding import Finding, ToolOutput
from upbeat.core.prompt.entities import StackFrame, parse_stack_frames

SearchFunction = Callable[[str, int], ToolOutput]
"""Searches for a text; the number is the limit of files."""

MAX_LIMIT = 10
TRACE_CONFIDENCE = 0.95
FRAME_DECAY = 0.85
"""Confidence of each further frame in the repository, compared with the one before."""

PATH_SUFFIX_FACTOR = 0.6
"""For a frame whose path only has a common suffix with a file."""

MOVED_FUNCTION_FACTOR = 0.8
"""For a function that is no longer on the line of the trace."""

MESSAGE_CONFIDENCE = 0.75
ERROR_NAME_CONFIDENCE = 0.5
WORD_SCORE_FACTOR = 0.5
MIN_MESSAGE_CHARS = 10
MAX_MESSAGE_FILES = 4
LINES_BEFORE, LINES_AFTER = 4, 4

_ERROR_NAME = re.compile(r"([A-Za-z_]\w*(?:Error|Exception|Warning|Panic))\b")
_VARIABLE = re.compile(r"""'[^'\n]*'|"[^"\n]*"|`[^`\n]*`|\b0x[0-9a-f]+\b|\d+|<[^<>\n]*>|[:(){}\[\]]""")


@dataclass(frozen=True, slots=True)
class FaultCandidate:
    """A symbol that may have the fault, with line, confidence and reason."""

    symbol: SymbolLocation
    line: int
    confidence: float
    reason: str


def locate_bug(
    code: CodeBase, query: str, traces: tuple[str, ...], errors: tuple[str, ...], limit: int, search: SearchFunction
) -> ToolOutput:
    """Return the ``limit`` most likely symbols for ``query``, ``traces`` (complete or single frames) and messages."""
    frames = parse_stack_frames("\n".join((*traces, query)))
    best: dict[tuple[str, int], FaultCandidate] = {}
    for candidate in (*_candidates_from_frames(code, frames), *_candidates_from_messages(code, errors)):
        key = (candidate.symbol.path, candidate.symbol.position)
        known = best.get(key)
        if known is None or candidate.confidence > known.confidence:
            best[key] = candidate
    ranked = sorted(best.values(), key=lambda item: (-item.confidence, item.symbol.path, item.line))[:limit]
    rows = [_candidate_finding(code, candidate) for candidate in ranked]
    words = " ".join(filter(None, (query, *errors)))
    is_truncated = code.is_past_deadline()
    if len(rows) < limit and words.strip():
        output = search(words, limit)
        is_truncated |= output.truncated
        rows += _findings_from_search(output, {(row.path, row.symbol) for row in rows})[: limit - len(rows)]
    candidates = [
        {
            "file_path": row.path,
            "symbol": row.symbol,
            "line": row.start_line,
            "line_range": [row.start_line, row.end_line],
            "confidence": row.score,
            "why": row.why,
        }
        for row in rows
    ]
    data = {"candidates": candidates, "frames": len(frames)}
    origin = f" from {len(frames)} frames" if frames else ""
    names = ", ".join(f"{row.path}:{row.start_line}" for row in rows[:3])
    summary = f"{len(rows)} candidates{origin}, first {names}" if rows else "nothing in the repository fits the error"
    return ToolOutput(summary, tuple(rows), data, truncated=is_truncated)


def _candidates_from_frames(code: CodeBase, frames: tuple[StackFrame, ...]) -> Iterator[FaultCandidate]:
    """Yield the symbols of the frames that are in the repository."""
    weight = TRACE_CONFIDENCE
    for number, frame in enumerate(frames, 1):
        path, share = _resolve_printed_path(code, frame.path)
        parsed = code.parsed_file(path) if path else None
        if parsed is None:
            continue
        symbol, line, confidence = enclosing_symbol(path, parsed, frame.line), frame.line, weight * share
        name = frame.symbol.rpartition(".")[2]
        if name and symbol.definition.name != name:
            same_name = [(index, item) for index, item in enumerate(parsed.definitions) if item.name == name]
            if same_name and not any(item.start_line <= line <= item.end_line for _, item in same_name):
                symbol = SymbolLocation(path, *same_name[0])
                line, confidence = symbol.definition.start_line, confidence * MOVED_FUNCTION_FACTOR
        if line <= len(code.read_lines(path)):
            yield FaultCandidate(symbol, line, confidence, f"frame {number} of the stack trace")
            weight *= FRAME_DECAY


def _resolve_printed_path(code: CodeBase, printed: str) -> tuple[str, float]:
    """Return the file that a printed path means, with a confidence: 1 if one path contains the other completely."""
    parts = [part for part in re.split(r"[\\/]+", printed.partition("://")[2] or printed) if part not in ("", ".", "~")]
    if not parts:
        return "", 0.0
    stem = parts[-1].partition(".")[0]
    matches: list[tuple[int, str]] = []
    for path in code.files_by_name.get(stem, ()):
        pairs = zip(reversed(path.split("/")), reversed(parts), strict=False)
        common = len(list(takewhile(lambda pair: pair[0] == pair[1], pairs)))
        if common:
            matches.append((-common, path))
    if not matches:
        return "", 0.0
    common, path = min(matches)
    ties = sum(other == common for other, _ in matches)
    is_complete = -common in (len(parts), len(path.split("/")))
    return path, (1.0 if is_complete else PATH_SUFFIX_FACTOR) / ties


def _candidates_from_messages(code: CodeBase, errors: tuple[str, ...]) -> Iterator[FaultCandidate]:
    """Yield the symbols that contain the constant part of a message, or define the error that it names."""
    for error in errors:
        constant = max((part.strip() for part in _VARIABLE.split(error)), key=len, default="")
        if len(constant) >= MIN_MESSAGE_CHARS and " " in constant:
            holders = code.files_containing(constant)
            for path in holders[:MAX_MESSAGE_FILES]:
                parsed = code.parsed_file(path)
                lines = code.read_lines(path)
                line = next((number for number, text in enumerate(lines, 1) if constant.lower() in text.lower()), 0)
                if parsed and line:
                    confidence = MESSAGE_CONFIDENCE / min(len(holders), 3) ** 0.5
                    symbol = enclosing_symbol(path, parsed, line)
                    yield FaultCandidate(symbol, line, confidence, "has the error message")
        name = _ERROR_NAME.search(error)
        if name and not code.is_past_deadline():
            for symbol in find_definitions(code, name[1])[:1]:
                yield FaultCandidate(symbol, symbol.definition.start_line, ERROR_NAME_CONFIDENCE, f"defines {name[1]}")


def _findings_from_search(output: ToolOutput, known: set[tuple[str, str]]) -> list[Finding]:
    """Return the findings of a search that are not in ``known``, with a lower score and without text."""
    return [
        replace(
            finding, score=round(finding.score * WORD_SCORE_FACTOR, 4), text="", optional_score=0.0, more_excerpts=()
        )
        for file in output.findings
        for finding in file.split_excerpts()
        if (finding.path, finding.symbol) not in known
    ]


def _candidate_finding(code: CodeBase, candidate: FaultCandidate) -> Finding:
    lines, definition = code.read_lines(candidate.symbol.path), candidate.symbol.definition
    first = max(definition.start_line, candidate.line - LINES_BEFORE)
    last = min(definition.end_line or len(lines), candidate.line + LINES_AFTER)
    return Finding(
        path=printable_path(candidate.symbol.path),
        title=definition.signature,
        symbol=definition.symbol,
        kind="reference",
        start_line=first,
        end_line=max(last, first),
        score=round(candidate.confidence, 4),
        why=f"{candidate.reason}, line {candidate.line}",
        text=source_lines(lines, first, last),
    )
