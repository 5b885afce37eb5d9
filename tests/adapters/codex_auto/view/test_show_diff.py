"""A change as colored lines: what was added, what was removed, and how much was omitted."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from upbeat.adapters.codex.transport.base import FileDiff
from upbeat.adapters.codex_auto.view.show import RenderedDiff, Style, render_diff

UPDATE = "@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n"
HEAD = "diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n"
UPDATED = (
    (Style.CYAN, "@@ -1,3 +1,3 @@"),
    (Style.DIM, " one"),
    (Style.RED, "-two"),
    (Style.GREEN, "+2"),
    (Style.DIM, " three"),
)


@pytest.mark.parametrize("kind", ["add", "update", "delete", "later"])
def test_nothing_is_shown_without_a_diff(kind: str) -> None:
    """The exec transport only names the files."""
    assert RenderedDiff((), 0, 0, 0) == render_diff(FileDiff(kind, "x"))


@pytest.mark.parametrize(
    ("change", "diff"),
    [
        (FileDiff("update", "x", UPDATE), RenderedDiff(UPDATED, 0, 1, 1)),
        (FileDiff("update", "x", HEAD + UPDATE), RenderedDiff(UPDATED, 0, 1, 1)),
        (
            FileDiff("update", "x", "@@ @@\n--- a\n"),
            RenderedDiff(((Style.CYAN, "@@ @@"), (Style.RED, "--- a")), 0, 0, 1),
        ),
        (
            FileDiff("add", "x", "a\n\nb\n"),
            RenderedDiff(((Style.GREEN, "+a"), (Style.GREEN, "+"), (Style.GREEN, "+b")), 0, 3, 0),
        ),
        (FileDiff("delete", "x", "a"), RenderedDiff(((Style.RED, "-a"),), 0, 0, 1)),
        (
            FileDiff("add", "x", "@@ -0,0 +1 @@\n+a"),
            RenderedDiff(((Style.CYAN, "@@ -0,0 +1 @@"), (Style.GREEN, "+a")), 0, 1, 0),
        ),
        (
            FileDiff("update", "x", "@@ @@\n+\x1b[2Ja\u202eb"),
            RenderedDiff(((Style.CYAN, "@@ @@"), (Style.GREEN, "+\x1b[2Ja\u202eb")), 0, 1, 0),
        ),
    ],
    ids=["update", "with a head", "dashes inside", "new file", "deleted file", "new file as a diff", "controls"],
)
def test_each_line_has_its_kind(change: FileDiff, diff: RenderedDiff) -> None:
    """The lines before the first hunk are omitted; nothing else is, also no control character."""
    assert diff == render_diff(change)


def test_omitted_lines_are_counted() -> None:
    """The counts are those of the whole change."""
    diff = render_diff(FileDiff("add", "x", "a\n" * 100), max_lines=3)

    assert (((Style.GREEN, "+a"),) * 3, 97, 100, 0) == (diff.lines, diff.omitted, diff.added, diff.removed)


@given(st.sampled_from(["add", "update", "delete"]), st.text(st.sampled_from("@-+ a\n\x1b[\u202e")), st.integers(0, 5))
def test_render_diff_is_total(kind: str, diff: str, most: int) -> None:
    """Any diff gives lines within the limit."""
    rendered = render_diff(FileDiff(kind, "x", diff), most)

    assert len(rendered.lines) <= most
    assert not any("\n" in text for _, text in rendered.lines)
