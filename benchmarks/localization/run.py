"""Measure whether ``ci_search`` names the files that a bug fix touches.

    python -m benchmarks.localization.run [CASES.jsonl TREES] [--limit N | --every N] [--no-history]
        [--queries FILE.json] [--quick]

Without arguments, three cases of a sample repository serve; they check the benchmark, not the search. A case is one
JSON line ``{id, repo, parent_sha, query, gold_files}``. ``TREES/OWNER+NAME-<first 12 of parent_sha>/`` has the files of
that commit as the module ``trees`` puts them there: HEAD is the parent, so that no later commit can leak the answer.
``--queries`` has other words for some cases, by id (``chinese.json``), and asks both ways.
"""

from __future__ import annotations

import argparse
import json
import statistics
import threading
import time
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from upbeat.adapters.code.files.tree import SourceCache
from upbeat.adapters.code.index.manager import IndexManager
from upbeat.adapters.code.query.search import search_code

from .trees import open_cases, read_cases

PLACES = (1, 5, 10)
OTHER = "with the other words"
PATIENCE = 30.0
"""Seconds for one search: this measures the order, ``milliseconds`` the time."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """One case: where the first right file stands (0: nowhere among ten), whether all are there, how long it took."""

    repo: str
    place: int
    has_all: bool
    milliseconds: float


def ask(case: dict[str, Any], tree: Path, library: IndexManager | None) -> Outcome:
    """Search ``tree`` for the case's query with a cache that has read nothing yet."""
    start = time.perf_counter()
    output = search_code(
        str(tree.resolve()), case["query"], 10, (), (), SourceCache(), threading.Event(), PATIENCE, library
    )
    milliseconds = (time.perf_counter() - start) * 1000
    files = [candidate["file"] for candidate in output.data["candidates"]]
    gold = set(case["gold_files"])
    place = next((number for number, file in enumerate(files, start=1) if file in gold), 0)
    return Outcome(case["repo"], place, gold <= set(files), milliseconds)


def row(name: str, outcomes: list[Outcome]) -> str:
    """One line of the table, in per cent, with the mean reciprocal rank over ten places and the median time."""
    hits = [100 * statistics.mean(0 < outcome.place <= place for outcome in outcomes) for place in PLACES]
    every = 100 * statistics.mean(outcome.has_all for outcome in outcomes)
    reciprocal = statistics.mean(1 / outcome.place if outcome.place else 0.0 for outcome in outcomes)
    median = statistics.median(outcome.milliseconds for outcome in outcomes)
    shown = " | ".join(f"{hit:.1f}" for hit in hits)
    return f"| {name} | {len(outcomes)} | {shown} | {every:.1f} | {reciprocal:.3f} | {median:.0f} |"


def read_options() -> argparse.Namespace:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("cases", type=Path, nargs="?")
    parser.add_argument("trees", type=Path, nargs="?")
    parser.add_argument("--limit", type=int, default=0, help="only the first N cases")
    parser.add_argument("--every", type=int, default=1, help="only every Nth case")
    parser.add_argument("--no-history", action="store_true", help="ignore the git history")
    parser.add_argument("--queries", type=Path, help="other words for some cases, and only these cases")
    parser.add_argument("--quick", action="store_true", help="only the first three cases")
    options = parser.parse_args()
    options.limit = options.limit or (3 if options.quick else 0)
    return options


def main() -> None:
    """Print one row for each repository and one for all."""
    options = read_options()
    others = json.loads(options.queries.read_text(encoding="utf-8")) if options.queries else None
    by_repo: dict[str, list[Outcome]] = defaultdict(list)
    with open_cases(options.cases, options.trees) as (cases, trees):
        for case, tree in read_cases(cases, trees, options.limit, options.every):
            if others is not None and case["id"] not in others:
                continue
            by_repo[case["repo"]].append(ask(case, tree, None if options.no_history else IndexManager(None)))
            if others is not None:
                case["query"] = others[case["id"]]
                by_repo[OTHER].append(ask(case, tree, None if options.no_history else IndexManager(None)))
    print("| repository | cases | hit@1 | hit@5 | hit@10 | all@10 | MRR | ms |\n|---|---|---|---|---|---|---|---|")
    for name, outcomes in sorted(by_repo.items()):
        print(row(name, outcomes))
    if by_repo:
        print(row("all", [one for name, outcomes in by_repo.items() if name != OTHER for one in outcomes]))


if __name__ == "__main__":
    main()
