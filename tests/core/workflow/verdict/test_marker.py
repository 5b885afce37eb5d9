"""Explicit markers of agents."""

from __future__ import annotations

import pytest

from upbeat.core.workflow.verdict.marker import VerdictMarker, blank_out, find_goal_markers, find_verdict_markers

FULL = '<!-- VERDICT: {"result": "pass", "stage": "test:2", "call": "k7f2"} -->'


@pytest.mark.parametrize(
    ("marker", "fields"),
    [
        (FULL, ("PASS", "TEST:2", "k7f2")),
        ('&lt;!-- VERDICT: {"verdict": "maybe"} --&gt;', ("MAYBE", "", "")),
        ("<!-- VERDICT: [1] -->", ("", "", "")),
    ],
)
def test_fields(marker: str, fields: tuple[str, str, str]) -> None:
    """A marker has its fields and its span; an unknown result is kept. Other forms are in marker_cases.tsv."""
    assert (VerdictMarker(*fields, 6, 6 + len(marker)),) == find_verdict_markers(f"Done.\n{marker}")


@pytest.mark.parametrize("text", [f"```\n{FULL}\n```", f"> {FULL}", f'"{FULL}"'])
def test_shown_markers(text: str) -> None:
    """A marker in code, on a quoted line or between quotation marks does not count."""
    assert () == find_verdict_markers(text)


def test_goal_markers() -> None:
    """The text fields of each goal are returned in order."""
    text = '<!-- GOAL: {"status": "done", "n": 2, "list": []} -->\n<!-- GOAL: {"status": "open"} -->'

    assert ({"status": "done", "n": "2"}, {"status": "open"}) == find_goal_markers(text)


def test_blank_out() -> None:
    """The spans are overwritten, and the line ends in them are kept."""
    assert "a..\n.e" == blank_out("abc\nde", [(1, 5)], ".")
    assert "abc" == blank_out("abc", [])
