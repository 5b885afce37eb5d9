"""The prepared context as entries that Codex accepts whole."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from upbeat.adapters.codex.transport.app_server.context import (
    MAX_CONTEXT_CHARS,
    MAX_ENTRIES,
    MAX_ENTRY_BYTES,
    context_entries,
)
from upbeat.core.sanitize.frame import contains_frame, frame_untrusted

LABEL = re.compile(r"\[prepared for turn \d+, part \d+ of \d+\]")
ITEM = "{number}. shop/cart.py:{number} — total_price (search 0.90)\n   {number}| def total_price(cart):\n"


def values(context: str, turn: int = 1) -> list[str]:
    """The values of the entries, in the order of their keys."""
    made = context_entries(context, turn)
    return [made[key]["value"] for key in sorted(made)]


def framed(body: str) -> str:
    return frame_untrusted(body, "ab12", source="search of this repository")


@pytest.mark.parametrize("context", ["", " ", "\n\n"])
def test_no_context_is_no_entry(context: str) -> None:
    """A turn without context sends no entry."""
    assert {} == context_entries(context, 1)


def test_a_short_context_is_one_entry() -> None:
    """A short context is one untrusted entry with a name and the number of its turn."""
    context = framed("1. a.py\n2. b.py")
    value = f"[prepared for turn 3, part 1 of 1]\n{context}"
    assert {"upbeat-001": {"kind": "untrusted", "name": "upbeat_context", "value": value}} == context_entries(
        context, 3
    )


def test_two_turns_never_send_the_same_entry() -> None:
    """Codex does not send an unchanged entry again, so no entry is the same."""
    assert values("same", 1) != values("same", 2)


def test_a_long_context_is_split_between_items() -> None:
    """Each entry has whole items inside the frame."""
    context = framed("".join(ITEM.format(number=number) for number in range(1, 201)).rstrip("\n"))
    parts = values(context)
    assert 1 < len(parts)
    for part in parts:
        label, opening, first, *_, closing = part.split("\n")
        assert LABEL.fullmatch(label)
        assert (context.split("\n")[0], context.split("\n")[-1]) == (opening, closing)
        assert re.match(r"\d+\. ", first)
    numbers = [int(found) for part in parts for found in re.findall(r"^(\d+)\. ", part, re.MULTILINE)]
    assert list(range(1, 201)) == numbers


def test_a_long_item_repeats_its_heading() -> None:
    """Each part of a long item repeats the heading of the item."""
    lines = "\n".join(f"   {number}| {'x' * 60}" for number in range(200))
    parts = values(framed(f"1. a.py — here\n{lines}"))
    assert ["1. a.py — here", *["1. a.py — here (continued)"] * (len(parts) - 1)] == [
        part.split("\n")[2] for part in parts
    ]


def test_chinese_is_counted_in_bytes() -> None:
    """Codex truncates at 4,000 bytes, which is a third as many Chinese characters."""
    assert max(len(part.encode()) for part in values(framed("店" * 5000))) <= MAX_ENTRY_BYTES


def test_guidance_is_an_entry_of_its_own() -> None:
    """Guidance has the authority of the application and names its turn, so that Codex sends it again."""
    first, again = (context_entries("", turn, "upbeat · workflow single: DEV") for turn in (1, 2))

    assert {"upbeat-workflow-1": {"kind": "application", "value": "[turn 1]\nupbeat · workflow single: DEV"}} == first
    assert first != again
    assert all(
        len(entry["value"].encode()) <= MAX_ENTRY_BYTES for entry in context_entries("", 1, "停\n" * 4000).values()
    )
    assert ["upbeat-workflow-1", "upbeat-001"] == list(context_entries("found", 1, "do DEV"))


LINES = st.lists(st.text(st.characters(exclude_characters="\n")), min_size=1)


@given(LINES, st.integers(1, 10**6), st.booleans())
def test_every_entry_is_short_and_self_describing(lines: list[str], turn: int, is_in_frame: bool) -> None:
    """No entry exceeds the limit, each has its label, and each is framed where the context was."""
    context = framed("\n".join(lines * 40)) if is_in_frame else "\n".join(lines * 40)
    for part in values(context, turn):
        assert len(part.encode("utf-8", "replace")) <= MAX_ENTRY_BYTES
        assert LABEL.match(part)
        assert not is_in_frame or contains_frame(part)


@given(
    st.sampled_from(["x", "店", "𝕏", "1. a\n", "1. " + "h" * 900 + "\nline\n", "ab " * 700 + "\n", "𝕏" * 500 + "\n"])
)
def test_nothing_is_lost_within_the_limit(piece: str) -> None:
    """A context within the limit arrives whole."""
    body = (piece * (MAX_CONTEXT_CHARS // len(piece) + 1))[: MAX_CONTEXT_CHARS - 300]
    parts = values(framed(body))
    assert len(parts) < MAX_ENTRIES
    seen = "".join(part.split("\n", 2)[2].rsplit("\n", 1)[0] for part in parts)
    for char in "x店𝕏":
        assert body.count(char) == seen.count(char)
