"""What leads as a whole is looked at closely, and only that."""

from __future__ import annotations

import threading

from upbeat.adapters.code.features import Profile, Reader
from upbeat.adapters.code.question import read_question
from upbeat.adapters.code.scan import Scan
from upbeat.adapters.code.search import CLOSELY, order


def profiles(reader: Reader, number: int) -> list[Profile]:
    """Files with the words of the question, the later ones with more of them."""
    return [reader.profile(f"a{at:02}.py", "def upload():\n    pass\n" + "upload limit\n" * at) for at in range(number)]


def test_only_the_best_are_completed() -> None:
    """As many as are looked at closely come back, and they are those that the files as wholes speak for."""
    question = read_question("the upload has no limit")
    found = profiles(Reader(question), CLOSELY + 16)
    completed: list[Profile] = []
    ranked, _ = order(found, question, Scan([], {}), {}, completed.extend, threading.Event())

    assert CLOSELY == len(completed) == len(ranked)
    assert {file.profile.path for file in ranked} == {profile.path for profile in found[16:]}
    assert 1.0 == ranked[0].score


def test_few_are_all_looked_at() -> None:
    """Fewer candidates than that are all in the answer; none give none."""
    question = read_question("the upload has no limit")

    def ask(number: int) -> int:
        found = profiles(Reader(question), number)
        return len(order(found, question, Scan([], {}), {}, lambda _: None, threading.Event())[0])

    assert [0, 1, 5] == [ask(number) for number in (0, 1, 5)]
