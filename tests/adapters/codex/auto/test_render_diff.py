"""A change as coloured lines: what was added, what was removed, and how much was left out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from upbeat.adapters.codex.auto.render_diff import Diff, Side, diff_of
from upbeat.adapters.codex.auto.transport import Change

UPDATE = "@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n"
HEAD = "diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n"
UPDATED = (
    (Side.PLACE, "@@ -1,3 +1,3 @@"),
    (Side.SAME, " one"),
    (Side.REMOVED, "-two"),
    (Side.ADDED, "+2"),
    (Side.SAME, " three"),
)


@pytest.mark.parametrize("kind", ["add", "update", "delete", "later"])
def test_nothing_is_shown_without_a_diff(kind: str) -> None:
    """The exec transport only names the files."""
    assert Diff((), 0, 0, 0) == diff_of(Change(kind, "x"))


@pytest.mark.parametrize(
    ("change", "diff"),
    [
        (Change("update", "x", UPDATE), Diff(UPDATED, 0, 1, 1)),
        (Change("update", "x", HEAD + UPDATE), Diff(UPDATED, 0, 1, 1)),
        (Change("update", "x", "@@ @@\n--- a\n"), Diff(((Side.PLACE, "@@ @@"), (Side.REMOVED, "--- a")), 0, 0, 1)),
        (Change("add", "x", "a\n\nb\n"), Diff(((Side.ADDED, "+a"), (Side.ADDED, "+"), (Side.ADDED, "+b")), 0, 3, 0)),
        (Change("delete", "x", "a"), Diff(((Side.REMOVED, "-a"),), 0, 0, 1)),
        (Change("add", "x", "@@ -0,0 +1 @@\n+a"), Diff(((Side.PLACE, "@@ -0,0 +1 @@"), (Side.ADDED, "+a")), 0, 1, 0)),
        (Change("update", "x", "@@ @@\n+\x1b[2Ja\u202eb"), Diff(((Side.PLACE, "@@ @@"), (Side.ADDED, "+ab")), 0, 1, 0)),
    ],
    ids=["update", "with a head", "dashes inside", "new file", "deleted file", "new file as a diff", "controls"],
)  # fmt: skip
def test_a_change_has_sides(change: Change, diff: Diff) -> None:
    """Each line says what it is; what stands before the first place is left out."""
    assert diff == diff_of(change)


def test_what_is_cut_is_counted() -> None:
    """The counts are those of the whole change."""
    diff = diff_of(Change("add", "x", "a\n" * 100), most=3)

    assert (((Side.ADDED, "+a"),) * 3, 97, 100, 0) == (diff.lines, diff.left_out, diff.added, diff.removed)


@given(st.sampled_from(["add", "update", "delete"]), st.text(st.sampled_from("@-+ a\n\x1b[\u202e")), st.integers(0, 5))
def test_diff_of_is_total(kind: str, diff: str, most: int) -> None:
    """Nothing unseen is left, and the lines add up."""
    found = diff_of(Change(kind, "x", diff), most)

    assert len(found.lines) <= most
    assert not any(char in text for _, text in found.lines for char in "\n\x1b\u202e")
