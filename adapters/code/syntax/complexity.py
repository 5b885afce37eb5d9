"""Measures cyclomatic complexity and lines of code.

Invariant: pure functions of a parsed file and its lines. Cyclomatic complexity is one more than the number of
decisions, including ``and`` and ``or``; the decisions of an inner function do not count for the outer one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from upbeat.adapters.code.syntax.parsed_file import Definition, ParsedFile

FUNCTION_KINDS = frozenset({"function", "method", "definition"})


@dataclass(frozen=True, slots=True)
class FunctionMetrics:
    """One function: its complexity (at least 1) and its lines without blank lines and comments."""

    definition: Definition
    complexity: int
    code_lines: int


@dataclass(frozen=True, slots=True)
class FileMetrics:
    """One file: its total complexity, its lines of code, and its functions in order."""

    complexity: int
    code_lines: int
    functions: tuple[FunctionMetrics, ...]


def measure_complexity(parsed: ParsedFile, lines: Sequence[str]) -> FileMetrics:
    """Measure the file ``parsed`` with the given ``lines``.

    Without a grammar the decisions are unknown and every complexity is 1.
    """
    is_code = [bool(line.strip()) for line in lines]
    for first, last in parsed.comment_ranges:
        for number in range(first, min(last, len(is_code)) + 1):
            is_code[number - 1] = False
    before = list(accumulate(is_code, initial=0))
    functions = tuple(
        FunctionMetrics(item, item.branches + 1, before[min(item.end_line, len(lines))] - before[item.start_line - 1])
        for item in parsed.definitions
        if item.kind in FUNCTION_KINDS
    )
    decisions = parsed.branches + sum(definition.branches for definition in parsed.definitions)
    return FileMetrics(decisions + 1, before[-1], functions)
