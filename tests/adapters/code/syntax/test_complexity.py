"""Complexity is counted in the syntax tree, lines of code without blank ones and comments."""

from __future__ import annotations

from pathlib import Path

import pytest
from case_files import read_groups

from upbeat.adapters.code.syntax.complexity import FileMetrics, measure_complexity
from upbeat.adapters.code.syntax.parse import parse_source

CASES = read_groups(Path(__file__).with_name("cases.tsv"))["complexity"]


def measure(path: str, text: str) -> FileMetrics:
    return measure_complexity(parse_source(path, text.encode()), text.split("\n"))


@pytest.mark.parametrize(("path", "text", "complexity"), CASES)
def test_every_decision_counts(path: str, text: str, complexity: str) -> None:
    """In each language, every decision adds one to the complexity of its function and file."""
    metrics = measure(path, text)

    assert [int(complexity)] == [function.complexity for function in metrics.functions]
    assert int(complexity) == metrics.complexity


def test_an_inner_function_has_its_own_decisions() -> None:
    """The outer function's complexity leaves out the inner one's; the file's has both."""
    metrics = measure("a.py", "def f(a):\n    def g(b):\n        if b: pass\n    if a: pass\nif c: pass\n")

    assert [("f", 2), ("g", 2)] == [(item.definition.name, item.complexity) for item in metrics.functions]
    assert 4 == metrics.complexity


def test_lines_of_code_leave_out_blank_ones_and_comments() -> None:
    """A line with code before a comment counts."""
    metrics = measure("a.py", "# one\n\ndef f():\n    # two\n    return 1  # three\n\n")

    assert (2, [2]) == (metrics.code_lines, [function.code_lines for function in metrics.functions])
