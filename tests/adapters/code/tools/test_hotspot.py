"""Hotspots are complex files that change often."""

from __future__ import annotations

from pathlib import Path

import pytest
from fakes.polyglot import call
from repositories import git, make_repository, write

from upbeat.core.contract.codes import ErrorCode
from upbeat.core.errors import ToolFailure


def test_hotspot_ranks_churn_times_complexity(tmp_path: Path) -> None:
    """The file that changes often and is complex comes first, whatever the day is."""
    root = make_repository(tmp_path, {"a.py": "def f(a):\n    return 1 if a else 2\n", "b.py": "def g(): pass\n"})
    for number in range(3):
        write(root, {"a.py": f"def f(a):\n    return {number} if a else 2\n"})
        git(root, "commit", "-qam", f"change {number}")
    output = call(root, "ci_hotspot")

    assert {
        "schema_version": "1.3",
        "days": 30,
        "hotspots": [
            {"rank": 1, "file": "a.py", "score": 1.0, "frequency": 4, "complexity": 2},
            {"rank": 2, "file": "b.py", "score": 0.125, "frequency": 1, "complexity": 1},
        ],
    } == output.data
    assert "4 commits, complexity 2; most complex f (2)" == output.findings[0].why


def test_hotspot_without_git_is_unavailable(root: Path) -> None:
    """Without history there is nothing to count."""
    with pytest.raises(ToolFailure) as failure:
        call(root, "ci_hotspot")

    assert ErrorCode.TOOL_UNAVAILABLE == failure.value.code
