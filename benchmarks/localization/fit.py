"""Fit the weights of the search's ranking to localization cases.

    python -m benchmarks.localization.fit [CASES.jsonl TREES] [--limit N | --every N] [--english] [--ridge 1.0]
        [--from-reports] [--write] [--quick]

Cases and trees are those of the module ``run``; several sets of cases are one file. Each case is searched with and
without its history, and the signals of all its candidates are recorded where ``rank.rank_candidates`` computes them.
Each column of ``weights.tsv`` is then fitted to the cases that the search ranks with it: a softmax over the candidates
of a case, with a ridge penalty for leaving the present weights. ``--from-reports`` starts plain questions from the
weights of reports, as the first fit did. The tables show the present weights, and weights fitted without the
repository of the case. ``--english`` adds Chinese questions asked in English.

The fit needs NumPy and SciPy (``pip install numpy scipy``); without them only the present weights are measured.
"""

from __future__ import annotations

import argparse
import contextlib
import statistics
import sys
import threading
from collections import defaultdict
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from unittest import mock

from upbeat.adapters.code.files.tree import SourceCache
from upbeat.adapters.code.index.manager import IndexManager
from upbeat.adapters.code.query import rank
from upbeat.adapters.code.query.features import FileFeatures
from upbeat.adapters.code.query.search import search_code
from upbeat.core.package_data import load_rows

from .. import ROOT
from .cases import Case, case_parser, cases_with_trees, read_case_options
from .run import PATIENCE, groups_of
from .trees import open_cases

FOLDER, TABLE = "adapters/code/query", "weights.tsv"
COLUMNS = ("reports", "reports with history", "plain questions", "plain questions with history")
SIGNALS, *PRESENT = zip(*load_rows("upbeat.adapters.code.query", TABLE), strict=True)
FIXED = SIGNALS.index("role_penalty")
"""The signal whose weight is set by hand."""

SOFTMAX_SCALE = 1.5
"""A file's log odds are its total times this; only the ratio to the ridge penalty depends on it."""

QUESTION_IMPORTANCE = 1.5
"""How much a question in its own language counts in the fit, compared with a fix or a translated question."""

MIN_SEARCHES = 20
"""Searches with an answer that a column is fitted to; with fewer it stays as it is."""

PLACES = (1, 3, 10)

Weights = tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Ranking:
    """The candidates of one search by path, each with its signals in the order of ``SIGNALS``; ``column`` ranks them.

    ``group`` is the row of the table that the search counts in. ``details`` are the signals of definitions and lines,
    here scaled within all candidates.
    """

    case: Case
    group: str
    column: int
    importance: float
    candidates: dict[str, Weights]
    details: frozenset[int]

    @property
    def answers(self) -> list[bool]:
        """Whether each candidate is a gold file."""
        return [path in self.case.gold_files for path in self.candidates]

    def place(self, weights: Weights) -> int:
        """Return where ``weights`` put the first gold file (0: not among the last of ``PLACES``).

        As in the search, definitions and lines count only for the best files without them.
        """
        signals = set(range(len(SIGNALS)))
        totals = {path: _total(row, weights, signals - self.details) for path, row in self.candidates.items()}
        best = sorted(totals, key=lambda path: (-totals[path], path))[: rank.MAX_DETAILED_FILES]
        for signal in self.details:
            maximum = max((self.candidates[path][signal] for path in best), default=0.0)
            for path in best:
                totals[path] += weights[signal] * self.candidates[path][signal] / (maximum if maximum > 0 else 1.0)
        best = sorted(best, key=lambda path: (-totals[path], path))[: PLACES[-1]]
        return next((number for number, path in enumerate(best, start=1) if path in self.case.gold_files), 0)


def _total(row: Weights, weights: Weights, signals: Set[int]) -> float:
    return sum(row[signal] * weights[signal] for signal in signals)


# --- the signals ---


@dataclass(slots=True)
class Recording:
    """The signals of each candidate, scaled as they are weighted, and the names of the detail signals."""

    signals: dict[str, dict[str, float]] = field(default_factory=dict)
    details: set[str] = field(default_factory=set)

    def add(self, paths: Sequence[str], rows: Sequence[dict[str, float]]) -> None:
        """Add the ``rows`` of ``paths``."""
        for path, row in zip(paths, rows, strict=True):
            self.signals.setdefault(path, {}).update(row)


@contextlib.contextmanager
def recorded_signals() -> Iterator[Recording]:
    """Yield what a search fills: its signals, those of definitions and lines for all candidates."""
    recording = Recording()
    compute_details = rank.compute_detail_signals
    scaled: list[tuple[list[str], list[dict[str, float]]]] = []

    def compute_detail_signals(files: list[FileFeatures], *others: Any) -> list[dict[str, float]]:
        rows = compute_details(files, *others)
        scaled.append(([file.path for file in files], rows))
        recording.details.update(*rows)
        return rows

    with (
        mock.patch.object(rank, "MAX_DETAILED_FILES", sys.maxsize),
        mock.patch.object(rank, "compute_detail_signals", compute_detail_signals),
        mock.patch.object(rank, "add_path_signals", wraps=rank.add_path_signals) as add_path_signals,
    ):
        yield recording
    paths, _query, _matches, rows = add_path_signals.call_args.args
    for group in ((paths, rows), *scaled):  # the search has scaled the rows after they were recorded
        recording.add(*group)


def search(case: Case, tree: Path, has_history: bool) -> Ranking:
    """Search ``tree`` for the case and record the signals of its candidates.

    Raises:
        RuntimeError: History should count, and there is none.
    """
    library = IndexManager(None) if has_history else None
    with (
        recorded_signals() as recording,
        mock.patch.object(rank, "select_weights", wraps=rank.select_weights) as select,
    ):
        root = str(tree.resolve())
        output = search_code(root, case.query, PLACES[-1], (), (), SourceCache(), threading.Event(), PATIENCE, library)
    if library and not output.data["commits"]:
        raise RuntimeError(f"the history of {tree} was not read: {output.summary}")
    search_query, history_counts = select.call_args.args
    column = 2 * rank.is_plain_question(search_query) + history_counts
    candidates = {
        path: tuple(row.get(name, 0.0) for name in SIGNALS) for path, row in sorted(recording.signals.items())
    }
    group = groups_of(case)[1] + ("" if has_history else ", no history")
    importance = QUESTION_IMPORTANCE if case.kind == "question" else 1.0
    details = frozenset(map(SIGNALS.index, recording.details))
    return Ranking(case, group, column, importance, candidates, details)


def searches(case: Case, tree: Path, also_english: bool) -> Iterator[Ranking]:
    """Yield the searches of a case: with and without history, and both in English for a Chinese question."""
    for has_history in (False, True):
        yield search(case, tree, has_history)
        if also_english and case.english != case.query:
            asked = replace(case, query=case.english, language=f"{case.language} in English")
            yield replace(search(asked, tree, has_history), importance=1.0)


# --- the fit ---


def fit(rankings: Sequence[Ranking], prior: Weights, ridge: float) -> Weights:
    """Return the weights that make a gold file of each ranking likely without leaving ``prior`` far.

    Fewer than ``MIN_SEARCHES`` rankings with a gold file give ``prior``.

    Raises:
        ImportError: NumPy or SciPy is not installed.
    """
    import numpy as np
    from scipy.optimize import minimize

    rankings = [one for one in rankings if any(one.answers)]
    if len(rankings) < MIN_SEARCHES:
        return prior
    rows = np.array([row for one in rankings for row in one.candidates.values()])
    is_gold = np.array([gold for one in rankings for gold in one.answers], float)
    sizes = [len(one.candidates) for one in rankings]
    starts = np.cumsum([0, *sizes[:-1]])
    importance = np.array([one.importance for one in rankings])
    free = np.arange(len(prior)) != FIXED
    center = np.array(prior) * SOFTMAX_SCALE

    def loss(values: np.ndarray) -> tuple[float, np.ndarray]:
        weights = center.copy()
        weights[free] = values
        totals = rows @ weights
        chances = np.exp(totals - np.repeat(np.maximum.reduceat(totals, starts), sizes))
        chances /= np.repeat(np.add.reduceat(chances, starts), sizes)
        right = np.maximum(np.add.reduceat(chances * is_gold, starts), 1e-12)
        slope = (chances - chances * is_gold / np.repeat(right, sizes)) * np.repeat(importance, sizes)
        gradient = (rows.T @ slope + 2 * ridge * (weights - center))[free]
        return -(importance * np.log(right)).sum() + ridge * ((weights - center) ** 2).sum(), gradient

    best = center.copy()
    best[free] = minimize(loss, center[free], jac=True, method="L-BFGS-B", options={"maxiter": 400}).x
    return tuple(float(value) for value in best / SOFTMAX_SCALE)


def places_of_unseen(rankings: Sequence[Ranking], priors: Sequence[Weights], ridge: float) -> dict[str, list[int]]:
    """Return the places in each group with weights that were fitted without the repository of the case."""
    places: dict[str, list[int]] = defaultdict(list)
    for repo, column in sorted({(one.case.repo, one.column) for one in rankings}):
        same = [one for one in rankings if one.column == column]
        weights = fit([one for one in same if one.case.repo != repo], priors[column], ridge)
        for one in same:
            if one.case.repo == repo:
                places[one.group].append(one.place(weights))
    return places


def write_weights(columns: Sequence[Weights]) -> None:
    """Write the table of weights, with the comment that it has."""
    path = ROOT / FOLDER / TABLE
    comment = path.read_text(encoding="utf-8").splitlines()[0]
    rows = [
        "\t".join([name, *(str(round(column[n], 2) + 0.0) for column in columns)]) for n, name in enumerate(SIGNALS)
    ]
    path.write_text("\n".join([comment, *rows, ""]), encoding="utf-8")


def print_table(title: str, places_by_group: dict[str, list[int]]) -> None:
    """Print the hits and the mean reciprocal rank over ten places of each group."""
    head = " | ".join(f"hit@{limit}" for limit in PLACES)
    print(f"\n{title}\n\n| what | cases | {head} | MRR |\n|---|{'---:|' * (len(PLACES) + 2)}")
    for group, places in sorted(places_by_group.items()):
        hits = " | ".join(f"{100 * sum(0 < n <= limit for n in places) / len(places):.1f}" for limit in PLACES)
        reciprocal = statistics.mean(1 / n if n else 0.0 for n in places)
        print(f"| {group} | {len(places)} | {hits} | {reciprocal:.3f} |")


def read_options() -> argparse.Namespace:
    """Return the options of the command line."""
    parser = case_parser((__doc__ or "").splitlines()[0])
    parser.add_argument("--english", action="store_true", help="ask Chinese questions in English, too")
    parser.add_argument("--ridge", type=float, default=1.0, help="penalty for leaving the present weights")
    parser.add_argument("--from-reports", action="store_true", help="start questions from the weights of reports")
    parser.add_argument("--write", action="store_true", help="write weights.tsv")
    options = read_case_options(parser)
    if options.write and options.cases is None:
        parser.error("--write needs cases: the sample is too small to fit weights to")
    return options


def main() -> None:
    """Print how the present weights rank the cases, then fit others and print how these do."""
    options = read_options()
    with open_cases(options.cases, options.trees) as (cases, trees):
        rankings = [
            ranking
            for case, tree in cases_with_trees(cases, trees, options.limit, options.every)
            for ranking in searches(case, tree, options.english)
        ]
    present = [tuple(map(float, column)) for column in PRESENT]
    before: dict[str, list[int]] = defaultdict(list)
    for one in rankings:
        before[one.group].append(one.place(present[one.column]))
    print(f"{len(rankings)} searches, {sum(len(one.candidates) for one in rankings)} candidates")
    print_table("Present weights", before)
    priors = [present[n % 2] for n in range(4)] if options.from_reports else present
    try:
        print_table("Fitted without the repository of the case", places_of_unseen(rankings, priors, options.ridge))
    except ImportError as error:
        sys.exit(f"--write: {error}") if options.write else print(f"\nfit skipped: {error} (pip install numpy scipy)")
        return
    fitted = []
    for n, name in enumerate(COLUMNS):
        members = [one for one in rankings if one.column == n and any(one.answers)]
        is_enough = len(members) >= MIN_SEARCHES
        fitted.append(fit(members, priors[n], options.ridge) if is_enough else present[n])
        changes = [f"{s} {a:.2f} → {b:.2f}" for s, a, b in zip(SIGNALS, present[n], fitted[n], strict=True)]
        print(f"\n{name}, {len(members)} searches: {', '.join(changes) if is_enough else 'too few, not fitted'}")
    if options.write:
        write_weights(fitted)


if __name__ == "__main__":
    main()
