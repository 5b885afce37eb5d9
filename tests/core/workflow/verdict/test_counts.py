"""Test counts in output and reports."""

from __future__ import annotations

import pytest

from upbeat.core.workflow.verdict.counts import ResultCount, find_result_counts

COUNTS = [
    ("12 passed", [(True, False)]),
    ("12 passed, 1 failed", [(True, False), (False, False)]),
    ("0 failed", [(None, True)]),
    ("0 passed", [(None, False)]),
    ("11/12 tests passed", [(None, False)]),
    ("12/12 tests passed", [(True, True)]),
    ("tests run: 12, failures: 0, errors: 0", [(True, True)]),
    ("tests run: 12, failures: 1, errors: 0", [(False, True)]),
    ("build success", [(True, True)]),
    ("not ok 3 - adds", [(False, True)]),
    ("12 个测试通过", [(True, False)]),
    ("2 个测试失败", [(False, False)]),
    ("the total is 12", []),
    ("", []),
]


@pytest.mark.parametrize(("text", "expected"), COUNTS)
def test_counts(text: str, expected: list[tuple[bool | None, bool]]) -> None:
    """Each count is positive, negative or neither, and says whether it covers failures."""
    assert expected == [(count.is_positive, count.covers_all) for count in find_result_counts(text)]


def test_spans() -> None:
    """A count has the span of its text, and counts are in order."""
    text = "so 2 failed and 12 passed."
    first, second = find_result_counts(text)

    assert ResultCount(False, 3, 11) == first
    assert "12 passed" == text[second.start : second.end]
