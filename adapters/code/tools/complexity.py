"""``ci_complexity``: the complexity of files and their functions.

Invariant: every number is counted in a syntax tree; a file without a grammar is reported as not measured.
"""

from __future__ import annotations

from typing import Any

from upbeat.adapters.code.graph.codebase import CodeBase
from upbeat.adapters.code.query.excerpt import printable_path
from upbeat.adapters.code.syntax.complexity import FileMetrics, FunctionMetrics, measure_complexity
from upbeat.core.contract.finding import Finding, ToolOutput

MIN_NOTABLE_COMPLEXITY = 10
"""Complexity from which on a function gets a finding; without any, the most complex one of the file gets it."""

COMPLEXITY_CEILING = 30
"""Complexity at which the score of a function is highest."""

SUPPLEMENT_FACTOR = 0.5
"""Score of a finding compared with a search result: it describes the code and does not answer the question."""

MAX_ROWS_PER_FILE = 5
MAX_LISTED_FUNCTIONS = 20


def report_complexity(code: CodeBase, files: tuple[str, ...], symbols: tuple[str, ...] = ()) -> ToolOutput:
    """Report the complexity of ``files`` and of their functions; with ``symbols``, only of those functions."""
    rows: list[Finding] = []
    results: list[dict[str, Any]] = []
    unknown: list[str] = []
    names = {symbol.replace("::", ".").rpartition(".")[2] for symbol in symbols}
    for path in files:
        parsed = code.parsed_file(path)
        if parsed is None or not parsed.is_exact:
            unknown.append(printable_path(path))
            continue
        metrics = measure_complexity(parsed, code.read_lines(path))
        results.append(_file_data(path, metrics))
        rows += _function_findings(path, metrics, names)
    data: dict[str, Any] = {"files": results, "not_measured": unknown}
    if len(results) == 1:
        data = results[0] | data
    parts = [
        f"{result['file']}: complexity {result['metrics']['cyclomatic_complexity']},"
        f" {result['metrics']['lines_of_code']} lines of code"
        for result in results[:3]
    ]
    if unknown:
        parts.append(f"not measured: {', '.join(unknown[:3])}")
    return ToolOutput("; ".join(parts), tuple(rows), data, truncated=code.is_past_deadline())


def _file_data(path: str, metrics: FileMetrics) -> dict[str, Any]:
    functions = sorted(metrics.functions, key=_descending_complexity)[:MAX_LISTED_FUNCTIONS]
    return {
        "file": printable_path(path),
        "metrics": {"cyclomatic_complexity": metrics.complexity, "lines_of_code": metrics.code_lines},
        "functions": [
            {
                "symbol": item.definition.symbol,
                "line": item.definition.start_line,
                "line_range": [item.definition.start_line, item.definition.end_line],
                "cyclomatic_complexity": item.complexity,
                "lines_of_code": item.code_lines,
            }
            for item in functions
        ],
    }


def _descending_complexity(function: FunctionMetrics) -> tuple[int, int]:
    return -function.complexity, function.definition.start_line


def _function_findings(path: str, metrics: FileMetrics, names: set[str]) -> list[Finding]:
    functions = [item for item in metrics.functions if not names or item.definition.name in names]
    ranked = sorted(functions, key=_descending_complexity)
    notable = [item for item in ranked if item.complexity >= MIN_NOTABLE_COMPLEXITY or names]
    return [
        Finding(
            path=printable_path(path),
            title=item.definition.signature,
            symbol=item.definition.symbol,
            kind="metric",
            start_line=item.definition.start_line,
            end_line=item.definition.end_line,
            score=round(SUPPLEMENT_FACTOR * min(1.0, item.complexity / COMPLEXITY_CEILING), 4),
            why=f"cyclomatic complexity {item.complexity}, {item.code_lines} lines of code",
        )
        for item in (notable or ranked[:1])[:MAX_ROWS_PER_FILE]
    ]
