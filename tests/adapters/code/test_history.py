"""The past says which files the changes most like a question touched."""

from __future__ import annotations

import math

import pytest

from upbeat.adapters.code.history import MAX_COMMITS, Commit, History
from upbeat.adapters.code.question import read_question


def commit(number: int, terms: str, *files: str, fix: bool = False, renamed: tuple[str, str] | None = None) -> Commit:
    """The ``number``th commit; higher ones are later."""
    return Commit(f"{number:040x}", number, fix, tuple(terms.split()), files, (renamed,) if renamed else ())


PAST = History(
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

    assert ["a" * 40, "b" * 40] == [one.id for one in History(same).commits]
    assert [5, 4, 3, 2, 1] == [one.time for one in PAST.commits]


def test_only_the_last_commits_are_kept() -> None:
    """Of more commits than are looked at, the oldest are left out."""
    history = History(commit(number, "") for number in range(MAX_COMMITS + 5))

    assert MAX_COMMITS == len(history.commits)
    assert 5 == history.commits[-1].time


def test_the_most_similar_commit_is_found() -> None:
    """The commit that shares the rarest words with the question is first."""
    at, share = PAST.like({"upload": 1.0, "permiss": 1.0, "fix": 0.3})[0]

    assert 2 == PAST.commits[at].time
    assert share > 0.5


@pytest.mark.parametrize("history", [History([]), History([commit(1, "")])], ids=["no commits", "nothing said"])
def test_a_past_without_words_likes_nothing(history: History) -> None:
    """An empty history is no failure."""
    assert [] == history.like({"upload": 1.0})


def test_files_of_similar_commits_are_worth_most() -> None:
    """A file's numbers come from the commits like the question; of commits with fewer sources they are higher."""
    numbers = PAST.signals(read_question("uploads have wrong permissions"))

    assert "storage.py" == max(numbers, key=lambda path: numbers[path].get("past_like", 0.0))
    assert 1.0 == numbers["storage.py"]["past_first"]
    assert "past_like" not in numbers["http/retry.py"]


def test_files_of_many_sources_share_what_a_commit_says() -> None:
    """A commit of four sources says half as much of each as one of a single source would."""
    alone = History([commit(1, "retry backoff", "http/retry.py")]).signals(read_question("retry backoff"))
    among = History([commit(1, "retry backoff", "http/retry.py", "a.py", "b.py", "c.py")])

    shared = among.signals(read_question("retry backoff"))

    assert shared["http/retry.py"]["past_like"] == pytest.approx(alone["http/retry.py"]["past_like"] / 2)


def test_age_and_fixes_are_told() -> None:
    """What changed last is most alive; the share of fixes is over a few more changes than there were."""
    numbers = PAST.signals(read_question("nothing of this"))

    often = {path: math.log1p(len(PAST.by_file[path])) for path in ("http/retry.py", "cart.py")}

    assert {"past_last": 1.0, "past_changes": often["http/retry.py"], "past_fixes": 0.0} == numbers["http/retry.py"]
    assert {"past_last": 1 / (1 + 2 / 50), "past_changes": often["cart.py"], "past_fixes": 1 / 5} == numbers["cart.py"]


def test_paths_are_relative_to_a_folder_inside() -> None:
    """Below a prefix only its files are told, without it."""
    assert {"retry.py", "client.py", "pool.py", "wait.py"} == set(PAST.signals(read_question("retry"), "http/"))


def test_a_moved_file_keeps_its_past() -> None:
    """Commits before a move count for the name that the file has now, over several moves."""
    history = History(
        [
            commit(1, "retry", "old.py"),
            commit(2, "move", "mid.py", renamed=("old.py", "mid.py")),
            commit(3, "move", "new.py", renamed=("mid.py", "new.py")),
        ]
    )

    assert {"new.py": [0, 1, 2]} == dict(history.by_file)


def test_files_that_change_together_are_bound() -> None:
    """The bond grows with the share of a leader's commits that the other file is in, and with the leader's weight."""
    assert {"money.py": 2 / (2 + 4.0)} == PAST.together({"cart.py": 1.0})
    assert {"money.py": 1 / 6, "test_storage.py": 1 / 5} == PAST.together({"cart.py": 0.5, "storage.py": 1.0})
    assert {} == PAST.together({"unknown.py": 1.0})


def test_all_messages_about_a_file_are_one_text() -> None:
    """Words of the question that several messages about a file hold meet in it."""
    history = History(
        [
            commit(1, "upload", "both.py"),
            commit(2, "backoff", "both.py"),
            commit(3, "upload", "one.py"),
            commit(4, "cart", "cart.py"),
        ]
    )
    numbers = history.signals(read_question("upload backoff"))

    assert numbers["both.py"]["past_told"] > numbers["one.py"]["past_told"] > 0
    assert "past_told" not in numbers["cart.py"]
