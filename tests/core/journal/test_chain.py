"""A chain of records shows what was changed, taken out or put in between, and where first."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from journal_values import JSON

from upbeat.core.journal.chain import GENESIS, ChainBreak, Link, canonical_json, compute_digest, find_first_break

TAKEN = "does not follow the record before it: one was taken out, put in or changed"
CHANGED = "was changed after it was written"


def chain(*texts: str, previous: str = GENESIS) -> list[Link]:
    links = []
    for seq, text in enumerate(texts, start=1):
        links.append(Link(seq, text, previous, compute_digest(previous, text)))
        previous = links[-1].digest
    return links


@given(st.dictionaries(st.text(max_size=5), JSON, max_size=4))
def test_canonical_text_is_one_text(body: dict[str, object]) -> None:
    """However a body's keys are ordered, its text is the same."""
    assert canonical_json(body) == canonical_json(dict(reversed(body.items())))


def test_canonical_text() -> None:
    """Keys are sorted, nothing stands between, letters stand for themselves."""
    assert '{"a":[1,null],"b":"仓"}' == canonical_json({"b": "仓", "a": [1, None]})


def test_a_digest_is_sha256() -> None:
    """Anybody can compute the hash of a record with sha256sum."""
    assert hashlib.sha256(b"0" * 64 + b"\n{}").hexdigest() == compute_digest(GENESIS, "{}")


@given(st.lists(st.text(max_size=20), max_size=8))
def test_a_whole_chain_holds(texts: list[str]) -> None:
    """What was written one after the other is whole, however it begins."""
    assert find_first_break(chain(*texts)) is None
    assert find_first_break(chain(*texts, previous="f" * 64), "f" * 64) is None


@pytest.mark.parametrize(
    ("links", "expected"),
    [
        ([chain("a", "b")[0], replace(chain("a", "b")[1], text="c")], ChainBreak(2, CHANGED)),
        ([chain("a", "b", "c")[0], chain("a", "b", "c")[2]], ChainBreak(3, TAKEN)),
        (chain("a", "b")[1:], ChainBreak(2, TAKEN)),
        ([*chain("a"), *chain("b")], ChainBreak(1, TAKEN)),
        ([replace(chain("a")[0], digest="0" * 64)], ChainBreak(1, CHANGED)),
    ],
    ids=["changed", "taken out", "first gone", "put in", "other hash"],
)
def test_a_broken_chain_is_told(links: list[Link], expected: ChainBreak) -> None:
    """The first link that does not hold is named, with what happened to it."""
    assert expected == find_first_break(links)


@given(st.lists(st.text(max_size=5), min_size=1, max_size=6), st.data())
def test_any_change_of_a_text_breaks_the_chain(texts: list[str], data: st.DataObject) -> None:
    """Whichever text is changed, that record is the broken one."""
    links = chain(*texts)
    index = data.draw(st.integers(0, len(links) - 1))
    links[index] = replace(links[index], text=links[index].text + "x")

    assert ChainBreak(index + 1, CHANGED) == find_first_break(links)
