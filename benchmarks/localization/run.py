"""Measure whether the search names the files that a bug fix touches, or that answer a question.

    python -m benchmarks.localization.run [CASES.jsonl TREES] [--limit N | --every N] [--no-history] [--english]
        [--baselines] [--queries FILE.json] [--quick]

Without arguments, three cases of a sample repository serve; they check the benchmark, not the search. ``cases`` says
what a case is. ``TREES/OWNER+NAME-<first 12 of the commit>/`` has the files of that commit as the module ``trees`` puts
them there: HEAD is the commit, so that no later one can leak the answer. ``--english`` asks Chinese questions in
English. ``--baselines`` adds rows of BM25 and ripgrep. ``--queries`` has other words for some cases, by id
(``chinese.json``), and asks both ways. In brackets: 95 % confidence intervals (Wilson).
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from upbeat.adapters.code.files.tree import SourceCache
from upbeat.adapters.code.index.manager import IndexManager
from upbeat.adapters.code.query.search import search_code
from upbeat.core.journal.stats import wilson_interval

from .baselines import rank_by_bm25, rank_by_ripgrep
from .cases import Case, case_parser, cases_with_trees, read_case_options
from .trees import open_cases

PLACES = (1, 3, 5, 10)
OTHER = "with the other words"
PATIENCE = 30.0
"""Seconds for one search: this measures the order, ``milliseconds`` the time."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """One case: where the first right file stands (0: nowhere among ten), whether all are there, how long it took."""

    place: int
    has_all: bool
    milliseconds: float


def place(case: Case, files: Iterable[str], start: float) -> Outcome:
    """Return the outcome of a ranking that began at ``start`` (``perf_counter``)."""
    milliseconds = (time.perf_counter() - start) * 1000
    best = list(files)[: PLACES[-1]]
    first = next((number for number, file in enumerate(best, start=1) if file in case.gold_files), 0)
    return Outcome(first, set(case.gold_files) <= set(best), milliseconds)


def ask(case: Case, query: str, tree: Path, library: IndexManager | None) -> Outcome:
    """Search ``tree`` for the query with a cache that has read nothing yet.

    Raises:
        RuntimeError: History should count, and there is none.
    """
    start = time.perf_counter()
    root = str(tree.resolve())
    output = search_code(root, query, PLACES[-1], (), (), SourceCache(), threading.Event(), PATIENCE, library)
    if library and not output.data["commits"]:
        raise RuntimeError(f"the history of {tree} was not read: {output.summary}")
    return place(case, [candidate["file"] for candidate in output.data["candidates"]], start)


def row(name: str, outcomes: list[Outcome]) -> str:
    """One line of the table, in per cent, with the mean reciprocal rank over ten places and the median time."""
    cells = []
    for limit in PLACES:
        count = sum(0 < outcome.place <= limit for outcome in outcomes)
        rate = wilson_interval(count, len(outcomes))
        interval = f" [{100 * rate.low:.0f}-{100 * rate.high:.0f}]" if limit in (1, PLACES[-1]) else ""
        cells.append(f"{100 * count / len(outcomes):.1f}{interval}")
    every = 100 * statistics.mean(outcome.has_all for outcome in outcomes)
    reciprocal = statistics.mean(1 / outcome.place if outcome.place else 0.0 for outcome in outcomes)
    median = statistics.median(outcome.milliseconds for outcome in outcomes)
    return f"| {name} | {len(outcomes)} | {' | '.join(cells)} | {every:.1f} | {reciprocal:.3f} | {median:.0f} |"


def groups_of(case: Case) -> tuple[str, ...]:
    """Return the rows that a case counts in: its repository, and all of its kind and language."""
    return case.repo, "all fixes" if case.kind == "fix" else f"all questions, {case.language}"


def read_options() -> argparse.Namespace:
    """Return the options of the command line."""
    parser = case_parser((__doc__ or "").splitlines()[0])
    parser.add_argument("--no-history", action="store_true", help="ignore the git history")
    parser.add_argument("--english", action="store_true", help="ask Chinese questions in English")
    parser.add_argument("--baselines", action="store_true", help="rank with BM25 and ripgrep, too")
    parser.add_argument("--queries", type=Path, help="other words for some cases, and only these cases")
    return read_case_options(parser)


def main() -> None:
    """Print one row for each repository and one for all."""
    options = read_options()
    others = json.loads(options.queries.read_text(encoding="utf-8")) if options.queries else None
    results: dict[str, list[Outcome]] = defaultdict(list)
    with open_cases(options.cases, options.trees) as (cases, trees):
        for case, tree in cases_with_trees(cases, trees, options.limit, options.every):
            if others is not None and case.id not in others:
                continue
            library = None if options.no_history else IndexManager(None)
            query = case.english if options.english else case.query
            outcome = ask(case, query, tree, library)
            for group in groups_of(case):
                results[group].append(outcome)
            if others is not None:
                results[OTHER].append(ask(case, others[case.id], tree, library))
            if options.baselines:
                add_baselines(case, query, tree, results)
    head = " | ".join(f"hit@{limit}" for limit in PLACES)
    print(f"| what | cases | {head} | all@10 | MRR | ms |\n|{'---|' * (len(PLACES) + 5)}")
    for name, outcomes in sorted(results.items(), key=lambda item: (item[0].startswith("all"), item[0])):
        print(row(name, outcomes))


def add_baselines(case: Case, query: str, tree: Path, results: dict[str, list[Outcome]]) -> None:
    """Add how the plain retrievers do; say once when ripgrep is missing."""
    start = time.perf_counter()
    results[f"{groups_of(case)[1]}, BM25"].append(place(case, rank_by_bm25(query, tree), start))
    start = time.perf_counter()
    try:
        results[f"{groups_of(case)[1]}, ripgrep"].append(place(case, rank_by_ripgrep(query, tree), start))
    except FileNotFoundError as error:
        sys.exit(f"--baselines: {error}")


if __name__ == "__main__":
    main()
