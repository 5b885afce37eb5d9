"""Which lines are parsed at all."""

from __future__ import annotations

import pytest

from upbeat.core.destructive.triggers import has_trigger


@pytest.mark.parametrize(
    "line", ["ls -la", "cat a.txt | wc -l", "grep -n foo src/a.ts", "git status -sb", "git log -3"]
)
def test_harmless_lines(line: str) -> None:
    """Lines without any required word are not parsed."""
    assert not has_trigger(line)


@pytest.mark.parametrize(
    "line", ["r''m -rf ~", "r\\m -rf ~", '"r"m -rf ~', "$'\\x72m' -rf ~", "RM -RF x", "{rm,-rf,/}"]
)
def test_quoting_hides_nothing(line: str) -> None:
    """Quotes inside of a word do not hide it."""
    assert has_trigger(line)
