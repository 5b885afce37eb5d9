"""What the past says about a question: which files the changes most like it touched, and how alive each file is.

Law: a value and pure functions of it. Age is counted in commits, not from a clock, so that the same commits
and question give the same numbers.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from .kinds import Role
from .question import Question
from .scan import kind_of_cached

MAX_COMMITS = 3000
LIKE = 100
"""Commits that are held to be like the question."""

HALF_AGE = 50
"""Commits after which a change counts half."""

FEW_CHANGES = 3.0
"""Added to a file's changes before its share of fixes is taken, so that one fix is not all."""

FEW_MEETINGS = 4.0
MOST_TOGETHER = 12
"""Source files of a commit beyond which they say nothing about each other."""

TOLD_K1 = 1.2
TOLD_LENGTH = 5.0
"""The usual number of commits that tell of a file."""

LONGEST_TOLD = 6.0
"""Times that number beyond which more do not count."""

LONG = 4.0
"""Times the usual length beyond which a message's length does not count any more."""


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit: ``time`` in seconds since the epoch, the terms of its message, the files it left changed.

    ``renamed`` has (old, new) of files that moved and stayed as they were.
    """

    id: str
    time: int
    is_fix: bool
    terms: tuple[str, ...]
    files: tuple[str, ...]
    renamed: tuple[tuple[str, str], ...] = ()


class History:
    """The commits up to one, the latest first, and where each term and file stands in them."""

    def __init__(self, commits: Iterable[Commit]) -> None:
        self.commits = tuple(sorted(commits, key=lambda commit: (-commit.time, commit.id)))[:MAX_COMMITS]
        self.files: list[tuple[str, ...]] = []
        """The files of each commit under the names that they have now."""
        self.by_term: dict[str, list[int]] = defaultdict(list)
        self.by_file: dict[str, list[int]] = defaultdict(list)
        moved: dict[str, str] = {}
        for at, commit in enumerate(self.commits):
            for old, new in commit.renamed:
                moved[old] = moved.get(new, new)
            files = tuple(dict.fromkeys(moved.get(path, path) for path in commit.files))
            self.files.append(files)
            for path in files:
                self.by_file[path].append(at)
            for term in commit.terms:
                self.by_term[term].append(at)
        average = sum(len(commit.terms) for commit in self.commits) / (len(self.commits) or 1) or 1.0
        self._norms = [math.sqrt(0.4 + 0.6 * min(len(commit.terms) / average, LONG)) for commit in self.commits]
        self._shares = [1.0 / math.sqrt(max(1, _sources(files))) for files in self.files]
        self._lengths = {path: sum(self._shares[at] for at in places) for path, places in self.by_file.items()}
        self._alive: dict[str, dict[str, float]] = {}

    def like(self, weights: Mapping[str, float]) -> list[tuple[int, float]]:
        """The commits whose messages are most like ``weights``, with how much of it they hold (0..about 1.5)."""
        size = len(self.commits)
        found: dict[int, float] = defaultdict(float)
        most = 0.0
        for term, weight in weights.items():
            places = self.by_term.get(term, ())
            gain = weight * math.log(1 + (size - len(places) + 0.5) / (len(places) + 0.5))
            most += gain
            for at in places:
                found[at] += gain
        order = sorted(((at, value / self._norms[at] / (most or 1.0)) for at, value in found.items()), key=_by_value)
        return order[:LIKE]

    def signals(self, question: Question, prefix: str = "") -> dict[str, dict[str, float]]:
        """For each file below ``prefix`` with a past, without the prefix: what its past says to the question.

        ``rank.WEIGHTS_WITH_PAST`` says what the numbers are worth.
        """
        found: dict[str, dict[str, float]] = {path: dict(self._life(path)) for path in self.by_file}
        for name, weights in (("past", question.terms), ("past_title", question.title)):
            for place, (at, value) in enumerate(self.like(weights)):
                share = value * self._shares[at]
                for path in self.files[at]:
                    numbers = found[path]
                    numbers[f"{name}_like"] = max(numbers.get(f"{name}_like", 0.0), share)
                    if name == "past":
                        numbers["past_first"] = max(numbers.get("past_first", 0.0), 1.0 / (1 + place))
        for path, value in self._told(question.terms).items():
            found[path]["past_told"] = value
        if prefix:
            return {path[len(prefix) :]: numbers for path, numbers in found.items() if path.startswith(prefix)}
        return found

    def _told(self, weights: Mapping[str, float]) -> dict[str, float]:
        """How well all messages about each file, taken as one text, answer ``weights``."""
        counts: dict[str, list[tuple[float, float]]] = defaultdict(list)
        size = len(self.by_file)
        for term, weight in weights.items():
            amounts: dict[str, float] = defaultdict(float)
            for at in self.by_term.get(term, ()):
                for path in self.files[at]:
                    amounts[path] += self._shares[at]
            gain = weight * math.log(1 + (size - len(amounts) + 0.5) / (len(amounts) + 0.5))
            for path, amount in amounts.items():
                counts[path].append((gain, amount))
        told: dict[str, float] = {}
        for path, found in counts.items():
            norm = TOLD_K1 * (0.3 + 0.7 * min(self._lengths[path] / TOLD_LENGTH, LONGEST_TOLD))
            told[path] = sum(gain * amount * (TOLD_K1 + 1) / (amount + norm) for gain, amount in found)
        return told

    def together(self, leaders: Mapping[str, float]) -> dict[str, float]:
        """For files that changed in the commits of ``leaders``: the strongest bond, times that leader's weight."""
        found: dict[str, float] = defaultdict(float)
        for leader, weight in leaders.items():
            places = self.by_file.get(leader, ())
            meetings: Counter[str] = Counter()
            for at in places:
                if len(self.files[at]) <= MOST_TOGETHER:
                    for path in self.files[at]:
                        meetings[path] += 1
            for path, count in meetings.items():
                if path != leader:
                    found[path] = max(found[path], weight * count / (len(places) + FEW_MEETINGS))
        return found

    def _life(self, path: str) -> dict[str, float]:
        """How lately and how often ``path`` changed, and how much of its changes were fixes."""
        known = self._alive.get(path)
        if known is None:
            places = self.by_file[path]
            fixes = sum(self.commits[at].is_fix for at in places)
            known = self._alive[path] = {
                "past_last": 1.0 / (1.0 + places[0] / HALF_AGE),
                "past_changes": math.log1p(len(places)),
                "past_fixes": fixes / (len(places) + FEW_CHANGES),
            }
        return known


def _sources(files: Iterable[str]) -> int:
    return sum(kind_of_cached(path).role is Role.SOURCE for path in files)


def _by_value(item: tuple[int, float]) -> tuple[float, int]:
    return -item[1], item[0]
