"""What was shown is not shown again, what has changed is, and the place is named either way."""

from __future__ import annotations

from dataclasses import replace

from upbeat.core.contract.finding import Finding
from upbeat.core.turn.fuse import Fused
from upbeat.core.turn.omit import SHOWN_BEFORE, excerpt_id, omit_shown

FINDING = Finding("src/store.py", symbol="Store.save", start_line=3, end_line=4, why="words save", text="a = 1\nb = 2")
ITEM = Fused("ci_search", FINDING, "words save")


def test_lines_that_were_shown_are_left_out() -> None:
    """The heading stays and says so; its lines are gone."""
    [item] = omit_shown([ITEM], {excerpt_id(FINDING)})

    assert ("", "src/store.py", 3) == (item.finding.text, item.finding.path, item.finding.start_line)
    assert SHOWN_BEFORE == item.summary
    assert f"{SHOWN_BEFORE}; words save" == item.finding.why


def test_what_was_not_shown_stays() -> None:
    """Nothing shown, other lines, other files, other contents: all stay as they are."""
    others = [
        replace(ITEM, finding=replace(FINDING, text="a = 1")),
        replace(ITEM, finding=replace(FINDING, path="src/other.py")),
        replace(ITEM, finding=replace(FINDING, text="a = 1\nb = 3")),
        replace(ITEM, finding=replace(FINDING, text="")),
    ]

    assert (ITEM,) == omit_shown([ITEM], frozenset())
    assert tuple(others) == omit_shown(others, {excerpt_id(FINDING)})


def test_moved_lines_are_the_same() -> None:
    """An edit above moves the lines and makes nothing new of them."""
    moved = replace(FINDING, start_line=30, end_line=31, score=0.2, why="else")

    assert excerpt_id(FINDING) == excerpt_id(moved)


def test_an_id_needs_lines() -> None:
    """A row without source lines has no id."""
    assert "" == excerpt_id(replace(FINDING, text=""))
    assert 12 == len(excerpt_id(replace(FINDING, text="\ud800")))
