"""Findings split into their locations."""

from __future__ import annotations

from upbeat.core.contract.finding import Excerpt, Finding


def test_split_excerpts() -> None:
    """The row comes first, then its further locations by score, without its title."""
    finding = Finding(
        "a.py",
        "t",
        "f",
        start_line=1,
        end_line=2,
        text="x",
        more_excerpts=(Excerpt("low", 3, 4, "y", 0.1), Excerpt("high", 5, 6, "z", 0.9)),
    )

    assert [("f", "t", 1, "x"), ("high", "", 5, "z"), ("low", "", 3, "y")] == [
        (row.symbol, row.title, row.start_line, row.text) for row in finding.split_excerpts()
    ]
    assert all(not row.more_excerpts for row in finding.split_excerpts())
