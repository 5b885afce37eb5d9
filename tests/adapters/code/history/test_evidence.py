"""The past says which files the changes most like a question touched."""

from __future__ import annotations

import math

import pytest

from upbeat.adapters.code.history.evidence import MAX_COMMITS, Commit, CommitHistory
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
    """Commits stand in the order of time, whatever order they came in; equal times by their ids."""
    same = [Commit(letter * 40, 7, False, (), ()) for letter in "ba"]

    assert ["a" * 40, "b" * 40] == [one.id for one in CommitHistory(same).commits]
    assert [5, 4, 3, 2, 1] == [one.time for one in PAST.commits]


def test_only_the_last_commits_are_kept() -> None:
    """Of more commits than are looked at, the oldest are left out."""
    history = CommitHistory(commit(number, "") for number in range(MAX_COMMITS + 5))

    assert MAX_COMMITS == len(history.commits)
    assert 5 == history.commits[-1].time


def test_the_most_similar_commit_is_found() -> None:
    """The commit that shares the rarest words with the question is first."""
    at, share = PAST.similar_commits({"upload": 1.0, "permiss": 1.0, "fix": 0.3})[0]

    assert 2 == PAST.commits[at].time
    assert share > 0.5


@pytest.mark.parametrize(
    "history", [CommitHistory([]), CommitHistory([commit(1, "")])], ids=["no commits", "nothing said"]
)
def test_a_past_without_words_likes_nothing(history: CommitHistory) -> None:
    """An empty history is no failure."""
    assert [] == history.similar_commits({"upload": 1.0})


def test_files_of_similar_commits_are_worth_most() -> None:
    """A file's numbers come from the commits like the question; of commits with fewer sources they are higher."""
    numbers = PAST.compute_signals(parse_search_query("uploads have wrong permissions"))

    assert "storage.py" == max(numbers, key=lambda path: numbers[path].get("history_similar", 0.0))
    assert 1.0 == numbers["storage.py"]["history_first"]
    assert "history_similar" not in numbers["http/retry.py"]


def test_files_of_many_sources_share_what_a_commit_says() -> None:
    """A commit of four sources says half as much of each as one of a single source would."""
    alone = CommitHistory([commit(1, "retry backoff", "http/retry.py")]).compute_signals(
        parse_search_query("retry backoff")
    )
    among = CommitHistory([commit(1, "retry backoff", "http/retry.py", "a.py", "b.py", "c.py")])

    shared = among.compute_signals(parse_search_query("retry backoff"))

    assert shared["http/retry.py"]["history_similar"] == pytest.approx(alone["http/retry.py"]["history_similar"] / 2)


def test_age_and_fixes_are_told() -> None:
    """What changed last is most alive; the share of fixes is over a few more changes than there were."""
    numbers = PAST.compute_signals(parse_search_query("nothing of this"))

    often = {path: math.log1p(len(PAST.commits_by_file[path])) for path in ("http/retry.py", "cart.py")}

    assert {"history_recency": 1.0, "history_changes": often["http/retry.py"], "history_fixes": 0.0} == numbers[
        "http/retry.py"
    ]
    assert {
        "history_recency": 1 / (1 + 2 / 50),
        "history_changes": often["cart.py"],
        "history_fixes": 1 / 5,
    } == numbers["cart.py"]


def test_paths_are_relative_to_a_folder_inside() -> None:
    """With a prefix only its files are returned, without the prefix."""
    assert {"retry.py", "client.py", "pool.py", "wait.py"} == set(
        PAST.compute_signals(parse_search_query("retry"), "http/")
    )


def test_a_moved_file_keeps_its_past() -> None:
    """Commits before a move count for the name that the file has now, over several moves."""
    history = CommitHistory(
        [
            commit(1, "retry", "old.py"),
            commit(2, "move", "mid.py", renamed=("old.py", "mid.py")),
            commit(3, "move", "new.py", renamed=("mid.py", "new.py")),
        ]
    )

    assert {"new.py": [0, 1, 2]} == dict(history.commits_by_file)


def test_all_messages_about_a_file_are_one_text() -> None:
    """Words of the question that several messages about a file hold meet in it."""
    history = CommitHistory(
        [
            commit(1, "upload", "both.py"),
            commit(2, "backoff", "both.py"),
            commit(3, "upload", "one.py"),
            commit(4, "cart", "cart.py"),
        ]
    )
    numbers = history.compute_signals(parse_search_query("upload backoff"))

    assert numbers["both.py"]["history_messages"] > numbers["one.py"]["history_messages"] > 0
    assert "history_messages" not in numbers["cart.py"]
