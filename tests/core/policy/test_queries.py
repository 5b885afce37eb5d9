"""Queries and their results."""

from __future__ import annotations

import pytest

from upbeat.core.policy.queries import ContextUsage, ExistingPathsQuery, FilesAboveQuery


@pytest.mark.parametrize(
    ("usage", "fraction", "percent"),
    [
        (ContextUsage(50_000, 200_000), 0.25, 25),
        (ContextUsage(1_999, 2_000), 0.9995, 99),
        (ContextUsage(2_100, 2_000), 1.05, 105),
        (ContextUsage(50_000), 0.0, 0),
    ],
)
def test_usage(usage: ContextUsage, fraction: float, percent: int) -> None:
    """The share is rounded down, may exceed the window, and is 0 if the window is unknown."""
    assert (fraction, percent) == (usage.fraction, usage.percent)


def test_usage_as_text() -> None:
    """Numbers have thousands separators."""
    assert {"percent": 61, "tokens": "122,880", "window": "200,000"} == ContextUsage(122_880, 200_000).fields


def test_equal_queries_have_one_result() -> None:
    """Queries are compared by value, so that the result of one answers the other."""
    results = {FilesAboveQuery("/a", ("b",)): "nearest", ExistingPathsQuery(("/a",)): "exists"}

    assert "nearest" == results[FilesAboveQuery("/a", ("b",))]
    assert None is results.get(FilesAboveQuery("/a", ("b",), includes_root=False))
