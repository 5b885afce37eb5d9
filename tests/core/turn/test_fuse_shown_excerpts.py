"""Shown lines are not shown again, changed lines are, and the location is always named."""

from __future__ import annotations

from dataclasses import replace

from upbeat.core.contract.finding import Excerpt, Finding
from upbeat.core.contract.report import Item, ItemExcerpt
from upbeat.core.turn.fuse import ALREADY_SHOWN, FusedItem, collect_excerpt_ids, excerpt_id, omit_shown_excerpts

MORE = Excerpt("Store.load", 20, 21, "c = 3", 0.5)
FINDING = Finding(
    "src/store.py",
    symbol="Store.save",
    start_line=3,
    end_line=4,
    why="words save",
    text="a = 1\nb = 2",
    more_excerpts=(MORE,),
)
ITEM = FusedItem("ci_search", FINDING, "words save")


def test_shown_lines_are_omitted() -> None:
    """The heading stays and says so; lines of other locations stay, too."""
    [item] = omit_shown_excerpts([ITEM], {excerpt_id("src/store.py", "a = 1\nb = 2")})

    assert ("", "src/store.py", 3) == (item.finding.text, item.finding.path, item.finding.start_line)
    assert ALREADY_SHOWN == item.summary
    assert f"{ALREADY_SHOWN}; words save" == item.finding.why
    assert (MORE,) == item.finding.more_excerpts


def test_further_locations_stay_named() -> None:
    """A further location without its lines is still named."""
    [item] = omit_shown_excerpts([ITEM], {excerpt_id("src/store.py", "c = 3")})

    assert replace(FINDING, more_excerpts=(replace(MORE, text=""),)) == item.finding


def test_other_lines_stay() -> None:
    """Other lines, other files and changed lines stay unchanged."""
    others = [
        replace(ITEM, finding=replace(FINDING, text="a = 1")),
        replace(ITEM, finding=replace(FINDING, path="src/other.py")),
        replace(ITEM, finding=replace(FINDING, text="a = 1\nb = 3")),
        replace(ITEM, finding=replace(FINDING, text="")),
    ]

    assert (ITEM,) == omit_shown_excerpts([ITEM], frozenset())
    assert tuple(others) == omit_shown_excerpts(others, {excerpt_id("src/store.py", "a = 1\nb = 2")})


def test_an_id_needs_lines() -> None:
    """Without source lines there is no id; any text has one."""
    assert "" == excerpt_id("a.py", "")
    assert 12 == len(excerpt_id("a.py", "\ud800"))


def test_the_excerpts_of_a_report() -> None:
    """A report's excerpts are those of its items and of their further locations."""
    more = [ItemExcerpt(symbol="a", start_line=1, end_line=2, excerpt="2")]
    items = [Item(kind="f", path="a", score=1, why="", tool="t", excerpt=excerpt, more=more) for excerpt in ("1", "")]

    assert ("1", "2", "2") == collect_excerpt_ids(items)
