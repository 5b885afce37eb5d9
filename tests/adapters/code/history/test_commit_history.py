"""A history says which files the commits most similar to a query touched."""

from __future__ import annotations

import math

import pytest

from upbeat.adapters.code.history.commit_history import CommitHistory
from upbeat.adapters.code.history.git_log import MAX_COMMITS, Commit
from upbeat.adapters.code.query.parse_query import parse_search_query


def commit(number: int, terms: str, *files: str, fix: bool = False, renamed: tuple[str, str] | None = None) -> Commit:
    """The ``number``th commit; higher ones are later."""
    return Commit(f"{number:040x}", number, fix, tuple(terms.split()), files, (renamed,) if renamed else ())


PAST = CommitHistory(
    [
        commit(1, "add cart total", "cart.py", "money.py"),
        commit(2, "fix upload permiss", "storage.py", "test_storage.py", fix=True),
        commit(3, "fix cart currency", "cart.py", "money.py", fix=True),
        commit(4, "tidy"),
        commit(5, "retry backoff", "http/retry.py", "http/client.py", "http/pool.py", "http/wait.py"),
    ]
)


def test_the_latest_commit_comes_first() -> None:
    """Commits are in descending order of time, whatever order they came in; equal times by their ids."""
    same = [Commit(letter * 40, 7, False, (), ()) for letter in "ba"]

    assert ["a" * 40, "b" * 40] == [commit.id for commit in CommitHistory(same).commits]
    assert [5, 4, 3, 2, 1] == [commit.time for commit in PAST.commits]


def test_only_the_last_commits_are_kept() -> None:
    """Of more commits than the limit, the oldest are left out."""
    history = CommitHistory(commit(number, "") for number in range(MAX_COMMITS + 5))

    assert MAX_COMMITS == len(history.commits)
    assert 5 == history.commits[-1].time


def test_the_most_similar_commit_is_found() -> None:
    """The commit that shares the rarest words with the query is first."""
    position, similarity = PAST.similar_commits({"upload": 1.0, "permiss": 1.0, "fix": 0.3})[0]

    assert 2 == PAST.commits[position].time
    assert similarity > 0.5


@pytest.mark.parametrize("history", [CommitHistory([]), CommitHistory([commit(1, "")])], ids=["no commits", "no terms"])
def test_a_history_without_terms_has_no_similar_commit(history: CommitHistory) -> None:
    """An empty history is no failure."""
    assert [] == history.similar_commits({"upload": 1.0})


def test_files_of_similar_commits_have_the_highest_signals() -> None:
    """The signals of a file come from the commits that are similar to the query."""
    signals = PAST.compute_signals(parse_search_query("uploads have wrong permissions"))

    assert "storage.py" == max(signals, key=lambda path: signals[path].get("history_similar", 0.0))
    assert 1.0 == signals["storage.py"]["history_first"]
    assert "history_similar" not in signals["http/retry.py"]


def test_the_sources_of_one_commit_share_its_similarity() -> None:
    """A commit of four sources gives each half of what a commit of one source gives it."""
    alone = CommitHistory([commit(1, "retry backoff", "http/retry.py")]).compute_signals(
        parse_search_query("retry backoff")
    )
    among = CommitHistory([commit(1, "retry backoff", "http/retry.py", "a.py", "b.py", "c.py")])

    shared = among.compute_signals(parse_search_query("retry backoff"))

    assert shared["http/retry.py"]["history_similar"] == pytest.approx(alone["http/retry.py"]["history_similar"] / 2)


def test_activity_has_age_changes_and_fixes() -> None:
    """The latest change has recency 1; the share of fixes is over a few more changes than there were."""
    signals = PAST.compute_signals(parse_search_query("nothing of this"))

    often = {path: math.log1p(len(PAST.commits_by_file[path])) for path in ("http/retry.py", "cart.py")}

    assert {"history_recency": 1.0, "history_changes": often["http/retry.py"], "history_fixes": 0.0} == signals[
        "http/retry.py"
    ]
    assert {
        "history_recency": 1 / (1 + 2 / 50),
        "history_changes": often["cart.py"],
        "history_fixes": 1 / 5,
    } == signals["cart.py"]


def test_paths_are_relative_to_a_folder_inside() -> None:
    """With a prefix only its files are returned, without the prefix."""
    assert {"retry.py", "client.py", "pool.py", "wait.py"} == set(
        PAST.compute_signals(parse_search_query("retry"), "http/")
    )


def test_a_moved_file_keeps_its_history() -> None:
    """Commits before a move count for the name that the file has now, over several moves."""
    history = CommitHistory(
        [
            commit(1, "retry", "old.py"),
            commit(2, "move", "mid.py", renamed=("old.py", "mid.py")),
            commit(3, "move", "new.py", renamed=("mid.py", "new.py")),
        ]
    )

    assert {"new.py": [0, 1, 2]} == dict(history.commits_by_file)


def test_all_messages_about_a_file_count_as_one_text() -> None:
    """Words of the query in several messages about a file add up."""
    history = CommitHistory(
        [
            commit(1, "upload", "both.py"),
            commit(2, "backoff", "both.py"),
            commit(3, "upload", "one.py"),
            commit(4, "cart", "cart.py"),
        ]
    )
    signals = history.compute_signals(parse_search_query("upload backoff"))

    assert signals["both.py"]["history_messages"] > signals["one.py"]["history_messages"] > 0
    assert "history_messages" not in signals["cart.py"]
