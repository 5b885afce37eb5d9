"""Branches and loops, each with all of its outcomes."""

from __future__ import annotations

import pytest

from upbeat.core.shell.execute import execute


@pytest.mark.parametrize(
    ("line", "is_proven"),
    [
        ("if t; then echo ok; else exit 1; fi", True),
        ("if ! t; then exit 1; fi; echo ok", True),
        ("if t; then echo ok; fi", False),
        ("if a; then t; elif b; then t; else t; fi", True),
        ("if a; then t; elif b; then t; fi", False),
        ("for i in 1 2; do t || exit 1; done", True),
        ("for i in 1 2; do t; done", False),
        ("for f in tests/*.py; do t || exit 1; done", True),
        ("for f in $FILES; do t || exit 1; done", False),
        ("while ! t; do break; done", False),
        ("until t; do sleep 1; done", False),
        ("while read x; do t; done < list", False),
        ("case a in a) t;; *) true;; esac", True),
        ("case $X in a) t;; *) t;; esac", False),
        ("case $X in a) t;; esac", False),
        ("for ((i=0;i<3;i++)); do t; done", False),
    ],
)
def test_a_branch(line: str, is_proven: bool) -> None:
    """What every way through a branch or loop runs is proven."""
    execution = execute(line)
    is_masked = any(one.words[0] == "t" for one in execution.masked)

    assert is_proven == (not is_masked and any(one.words[0] == "t" for one in execution.proven))
