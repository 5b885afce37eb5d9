"""Numbers become an order by scaling and one sum."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from upbeat.adapters.code.files.file_types import classify_file
from upbeat.adapters.code.query import rank


def test_scale_divides_by_the_largest() -> None:
    """Every number is a share of the largest of its name; what nobody has stays nothing."""
    rows = [{"body": 2.0, "title": 0.0}, {"body": 8.0, "title": 0.0}]
    rank.scale_columns(rows)

    assert [{"body": 0.25, "title": 0.0}, {"body": 1.0, "title": 0.0}] == rows


def test_siblings_are_the_others_of_the_folder() -> None:
    """A file's siblings are the best three others in its folder, on average."""
    paths = ["a/1", "a/2", "b/3"]
    rows = [{"body": 0.9}, {"body": 0.6}, {"body": 0.3}]
    rank.add_sibling_signal(paths, rows)

    assert [0.6 / 3, 0.9 / 3, 0.0] == [row["siblings"] for row in rows]


def test_flags_follow_the_path() -> None:
    """Configuration, other languages and declarations are distinguished from the main sources."""
    rows = [dict[str, float](), {}, {}]
    for row, path in zip(rows, ("a.c", "a.h", "web/a.js"), strict=True):
        rank.add_path_signals(path, classify_file(path), "c", 0.0, row)

    assert [(0.0, 0.0), (0.0, 1.0), (1.0, 0.0)] == [(row["is_other_language"], row["is_declaration"]) for row in rows]


def test_the_past_counts_for_less_in_long_queries() -> None:
    """Beyond the usual length of a message its weight falls, most for what all messages say together."""
    short = [{"history_similar": 1.0, "history_messages": 1.0, "body": 1.0}]
    long = [dict(short[0])]
    rank.damp_history(short, rank.HISTORY_DAMPING_CHARS)
    rank.damp_history(long, 4 * rank.HISTORY_DAMPING_CHARS)

    assert (1.0, 1.0) == (short[0]["history_similar"], short[0]["history_messages"])
    assert (0.5, 0.25, 1.0) == (long[0]["history_similar"], long[0]["history_messages"], long[0]["body"])


@given(st.lists(st.floats(-20, 20), max_size=20))
def test_shares_keep_the_order(totals: list[float]) -> None:
    """Scores lie in 0..1, the best is 1, and more is never less."""
    shares = rank.to_scores(totals)

    assert all(0 <= share <= 1 for share in shares)
    assert max(shares, default=1.0) == 1.0
    assert all(
        a >= b for (x, a) in zip(totals, shares, strict=True) for (y, b) in zip(totals, shares, strict=True) if x > y
    )
