"""``ci_complexity``: how complex files and their functions are.

Law: every figure is counted in a syntax tree; a file without a grammar is named as not measured.
"""

from __future__ import annotations

from typing import Any

from ...core.contract.finding import Finding, ToolOutput
from .codebase import CodeBase
from .complexity import FileMeasure, measure
from .excerpt import shown

NOTEWORTHY = 10
"""From this complexity on a function is worth a row; where none is, the most complex one of the file has it."""

MOST = 30
"""The complexity beyond which a function counts as no worse."""

ASIDE = 0.5
"""What a row is worth beside the answer of a search: it says how the place is, not that it is meant."""

ROWS_OF_FILE = 5
LISTED = 20


def complexity(code: CodeBase, files: tuple[str, ...], symbols: tuple[str, ...] = ()) -> ToolOutput:
    """The complexity of ``files`` and of their functions; with ``symbols``, only of those functions."""
    rows: list[Finding] = []
    results: list[dict[str, Any]] = []
    unknown: list[str] = []
    names = {symbol.replace("::", ".").rpartition(".")[2] for symbol in symbols}
    for path in files:
        parsed = code.parsed(path)
        if parsed is None or not parsed.is_exact:
            unknown.append(shown(path))
            continue
        found = measure(parsed, code.lines(path))
        results.append(_data(path, found))
        rows += _rows(path, found, names)
    data: dict[str, Any] = {"files": results, "not_measured": unknown}
    if len(results) == 1:
        data = results[0] | data
    return ToolOutput(_summary(results, unknown), tuple(rows), data, truncated=code.is_late())


def _data(path: str, found: FileMeasure) -> dict[str, Any]:
    functions = sorted(found.functions, key=lambda one: (-one.complexity, one.definition.start_line))[:LISTED]
    return {
        "file": shown(path),
        "metrics": {"cyclomatic_complexity": found.complexity, "lines_of_code": found.code_lines},
        "functions": [
            {
                "symbol": one.definition.symbol,
                "line": one.definition.start_line,
                "line_range": [one.definition.start_line, one.definition.end_line],
                "cyclomatic_complexity": one.complexity,
                "lines_of_code": one.code_lines,
            }
            for one in functions
        ],
    }


def _rows(path: str, found: FileMeasure, names: set[str]) -> list[Finding]:
    wanted = [one for one in found.functions if not names or one.definition.name in names]
    ranked = sorted(wanted, key=lambda one: (-one.complexity, one.definition.start_line))
    worth = [one for one in ranked if one.complexity >= NOTEWORTHY or names]
    return [
        Finding(
            path=shown(path),
            title=one.definition.signature,
            symbol=one.definition.symbol,
            kind="metric",
            start_line=one.definition.start_line,
            end_line=one.definition.end_line,
            score=round(ASIDE * min(1.0, one.complexity / MOST), 4),
            why=f"cyclomatic complexity {one.complexity}, {one.code_lines} lines of code",
        )
        for one in (worth or ranked[:1])[:ROWS_OF_FILE]
    ]


def _summary(results: list[dict[str, Any]], unknown: list[str]) -> str:
    parts = [
        f"{one['file']}: complexity {one['metrics']['cyclomatic_complexity']},"
        f" {one['metrics']['lines_of_code']} lines of code"
        for one in results[:3]
    ]
    if unknown:
        parts.append(f"not measured: {', '.join(unknown[:3])}")
    return "; ".join(parts) or "no file was named"
