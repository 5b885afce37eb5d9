"""Explicit markers of agents."""

from __future__ import annotations

import pytest

from upbeat.core.workflow.verdict.marker import (
    VerdictMarker,
    blank_out,
    ends_in_promise,
    find_goal_markers,
    find_verdict_markers,
    strip_promise_tags,
)

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


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("12 passed.\n<promise>Done now</promise>.\n", True),
        ("**&lt;promise&gt;DONE  NOW&lt;/promise&gt;**", True),
        ("I would say <promise>done now</promise>", False),
        ("<promise>done now</promise>\nTwo are left.", False),
        ("<promise>done</promise>", False),
        ("", False),
    ],
)
def test_a_promise_ends_a_text(text: str, ends: bool) -> None:
    """A promise counts as the last line, with nothing else in it."""
    assert ends is ends_in_promise(text, "done now")


def test_promise_tags_are_stripped() -> None:
    """What remains of a promise is its words, escaped or not."""
    assert [" a ", " a "] == [
        strip_promise_tags(text) for text in ("<promise>a</promise>", "&lt;promise&gt;a&lt;/promise&gt;")
    ]
