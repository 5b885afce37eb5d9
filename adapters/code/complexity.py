"""How many ways lead through a piece of code, and how many lines of it say something.

Law: pure functions of a parsed file and its lines. Cyclomatic complexity is one more than the decisions, each
condition joined by ``and`` or ``or`` counted; an inner function's decisions are its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .parse import Definition, Parsed

FUNCTIONS = frozenset({"function", "method", "definition"})


@dataclass(frozen=True, slots=True)
class Measured:
    """One function: its complexity (1 and more) and its lines without blank ones and comments."""

    definition: Definition
    complexity: int
    code_lines: int


@dataclass(frozen=True, slots=True)
class FileMeasure:
    """One file: the complexity of all of it, its lines of code, and its functions in order."""

    complexity: int
    code_lines: int
    functions: tuple[Measured, ...]


def measure(parsed: Parsed, lines: Sequence[str]) -> FileMeasure:
    """The complexity of the file whose ``lines`` gave ``parsed``.

    Without a grammar decisions are not known and every complexity is 1.
    """
    is_code = [bool(line.strip()) for line in lines]
    for first, last in parsed.comments:
        for number in range(first, min(last, len(is_code)) + 1):
            is_code[number - 1] = False
    before = [0]
    for one in is_code:
        before.append(before[-1] + one)
    functions = tuple(
        Measured(one, one.branches + 1, before[min(one.end_line, len(lines))] - before[one.start_line - 1])
        for one in parsed.definitions
        if one.kind in FUNCTIONS
    )
    decisions = parsed.branches + sum(one.branches for one in parsed.definitions)
    return FileMeasure(decisions + 1, before[-1], functions)
