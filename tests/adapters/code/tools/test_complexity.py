"""Complexity is measured for files and functions."""

from __future__ import annotations

from pathlib import Path

from fakes.polyglot import call, places


def test_complexity_of_a_file(root: Path) -> None:
    """One file gives its metrics, and its most complex function a row."""
    output = call(root, "ci_complexity", files=["shop/store.py"])

    assert {"cyclomatic_complexity": 3, "lines_of_code": 9} == output.data["metrics"]
    assert [("shop/store.py", "Store.put")] == places(output)
    assert "cyclomatic complexity 3, 4 lines of code" == output.findings[0].why


def test_complexity_names_what_it_cannot_measure(root: Path) -> None:
    """A file that is missing, secret or without a grammar is named."""
    output = call(root, "ci_complexity", files=["shop/gone.py", ".env", "shop/app.py"])

    assert (["shop/gone.py", ".env"], "shop/app.py") == (output.data["not_measured"], output.data["file"])
