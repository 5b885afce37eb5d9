"""Evidence from history: which files the commits most similar to a query touched, and how active each file is.

Invariant: pure functions. Age is counted in commits, not from a clock, so that the same commits and query always give
the same signals.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from upbeat.adapters.code.files.file_types import FileRole, classify_file
from upbeat.adapters.code.query.parse_query import SearchQuery

MAX_COMMITS = 3000
MAX_SIMILAR_COMMITS = 100
HALF_LIFE_COMMITS = 50
"""Number of commits after which a change counts half."""

FIX_SHARE_PRIOR = 3.0
"""Added to the number of a file's changes before its share of fixes is computed, so that one fix is not 100 %."""

MESSAGE_K1 = 1.2
TYPICAL_COMMITS_PER_FILE = 5.0
MAX_COMMITS_RATIO = 6.0
"""Times the typical number beyond which more commits do not count."""

MAX_MESSAGE_LENGTH_RATIO = 4.0
"""Times the average length beyond which a message's length no longer counts."""


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit.

    Attributes:
        time: Seconds since the epoch.
        terms: The terms of its message.
        files: The files that it added or changed.
        renamed: Old and new path of each file that moved without a change.
    """

    id: str
    time: int
    is_fix: bool
    terms: tuple[str, ...]
    files: tuple[str, ...]
    renamed: tuple[tuple[str, str], ...] = ()


class CommitHistory:
    """The commits up to one, the latest first, with indexes by term and by file; a position counts commits."""

    def __init__(self, commits: Iterable[Commit]) -> None:
        self.commits = tuple(sorted(commits, key=lambda commit: (-commit.time, commit.id)))[:MAX_COMMITS]
        self.files_by_commit: list[tuple[str, ...]] = []
        """The files of each commit under their present names."""
        self.commits_by_term: dict[str, list[int]] = defaultdict(list)
        self.commits_by_file: dict[str, list[int]] = defaultdict(list)
        moved: dict[str, str] = {}
        for position, commit in enumerate(self.commits):
            for old, new in commit.renamed:
                moved[old] = moved.get(new, new)
            files = tuple(dict.fromkeys(moved.get(path, path) for path in commit.files))
            self.files_by_commit.append(files)
            for path in files:
                self.commits_by_file[path].append(position)
            for term in commit.terms:
                self.commits_by_term[term].append(position)
        average = sum(len(commit.terms) for commit in self.commits) / (len(self.commits) or 1) or 1.0
        self._norms = [
            math.sqrt(0.4 + 0.6 * min(len(commit.terms) / average, MAX_MESSAGE_LENGTH_RATIO)) for commit in self.commits
        ]
        source_counts = (
            sum(classify_file(path).role is FileRole.SOURCE for path in files) for files in self.files_by_commit
        )
        self._shares = [1.0 / math.sqrt(max(1, count)) for count in source_counts]
        self._lengths = {
            path: sum(self._shares[position] for position in positions)
            for path, positions in self.commits_by_file.items()
        }
        self._activity_by_path: dict[str, dict[str, float]] = {}

    def similar_commits(self, weights: Mapping[str, float]) -> list[tuple[int, float]]:
        """Return the commits whose messages match ``weights`` best, each with a similarity (0..about 1.5)."""
        size = len(self.commits)
        gains: dict[int, float] = defaultdict(float)
        total = 0.0
        for term, weight in weights.items():
            positions = self.commits_by_term.get(term, ())
            gain = weight * math.log(1 + (size - len(positions) + 0.5) / (len(positions) + 0.5))
            total += gain
            for position in positions:
                gains[position] += gain
        similar = [(position, gain / self._norms[position] / (total or 1.0)) for position, gain in gains.items()]
        return sorted(similar, key=lambda item: (-item[1], item[0]))[:MAX_SIMILAR_COMMITS]

    def compute_signals(self, search_query: SearchQuery, prefix: str = "") -> dict[str, dict[str, float]]:
        """Return the history signals of each file below ``prefix``, by its path without the prefix.

        See ``rank.WEIGHTS_WITH_HISTORY`` for their weights.
        """
        signals: dict[str, dict[str, float]] = {path: dict(self._activity(path)) for path in self.commits_by_file}
        for name, weights in (("history", search_query.terms), ("history_title", search_query.title_terms)):
            for rank, (position, similarity) in enumerate(self.similar_commits(weights), 1):
                for path in self.files_by_commit[position]:
                    row = signals[path]
                    row[f"{name}_similar"] = max(row.get(f"{name}_similar", 0.0), similarity * self._shares[position])
                    if name == "history":
                        row["history_first"] = max(row.get("history_first", 0.0), 1.0 / rank)
        for path, score in self._message_scores(search_query.terms).items():
            signals[path]["history_messages"] = score
        return {path[len(prefix) :]: row for path, row in signals.items() if path.startswith(prefix)}

    def _message_scores(self, weights: Mapping[str, float]) -> dict[str, float]:
        """Return how well the messages about each file, taken as one text, answer ``weights``."""
        gains_by_path: dict[str, list[tuple[float, float]]] = defaultdict(list)
        size = len(self.commits_by_file)
        for term, weight in weights.items():
            amounts: dict[str, float] = defaultdict(float)
            for position in self.commits_by_term.get(term, ()):
                for path in self.files_by_commit[position]:
                    amounts[path] += self._shares[position]
            gain = weight * math.log(1 + (size - len(amounts) + 0.5) / (len(amounts) + 0.5))
            for path, amount in amounts.items():
                gains_by_path[path].append((gain, amount))
        scores: dict[str, float] = {}
        for path, gains in gains_by_path.items():
            norm = MESSAGE_K1 * (0.3 + 0.7 * min(self._lengths[path] / TYPICAL_COMMITS_PER_FILE, MAX_COMMITS_RATIO))
            scores[path] = sum(gain * amount * (MESSAGE_K1 + 1) / (amount + norm) for gain, amount in gains)
        return scores

    def _activity(self, path: str) -> dict[str, float]:
        """Return how recently and how often ``path`` changed, and its share of fixes."""
        if path not in self._activity_by_path:
            positions = self.commits_by_file[path]
            fixes = sum(self.commits[position].is_fix for position in positions)
            self._activity_by_path[path] = {
                "history_recency": 1.0 / (1.0 + positions[0] / HALF_LIFE_COMMITS),
                "history_changes": math.log1p(len(positions)),
                "history_fixes": fixes / (len(positions) + FIX_SHARE_PRIOR),
            }
        return self._activity_by_path[path]
