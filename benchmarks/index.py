"""Measure what the index costs and saves at several repository sizes.

    python -m benchmarks.index [--cases CASES.jsonl --trees TREES] [--scratch FOLDER] [--against CHECKOUT]
        [--quick] [FILES ...]

``TREES`` is the output of ``localization.trees``. For each number of FILES the benchmark assembles a repository of that
many files from different trees, so that its vocabulary is as varied as theirs. Without trees, the Python files of this
checkout and questions made of their docstrings serve (default 500 files; with trees 1000, 5000 and 50000). The
contenders take turns with the same queries: ``ci_search`` with the index, without it, the whole turn as the process of
a session prepares it, and ``rg --count`` for the words. ``--against`` only builds the index, in turns with another
checkout, each time in a process of its own, and prints the medians and their ratio.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from upbeat.adapters.code.files.tree import SourceCache
from upbeat.adapters.code.index.build import update_index
from upbeat.adapters.code.index.manager import IndexManager
from upbeat.adapters.code.index.store import repository_folder
from upbeat.adapters.code.query.search import search_code
from upbeat.adapters.system.environment import read_environment
from upbeat.adapters.system.git.root import find_root
from upbeat.adapters.wiring import build_application
from upbeat.core.contract.event import ClientName, EventSource
from upbeat.core.engine.pipeline import TurnRequest, prepare_turn

from . import ROOT, SOURCE

QUERIES, QUICK_QUERIES = 24, 4
SIZES, SAMPLE_SIZES, QUICK_SIZES = (1000, 5000, 50_000), (500,), (60,)
PATIENCE = 1.1
ROUNDS = 3
"""Builds of each checkout that are compared."""

BUILD = """
import json, sys, time
from pathlib import Path
import upbeat
from upbeat.adapters.code.index.build import update_index
root, folder, source = sys.argv[1:]
assert upbeat.__file__.startswith(source), upbeat.__file__
wall, processor = time.perf_counter(), time.process_time()
assert update_index(Path(folder), root).is_complete
times = time.process_time() - processor, time.perf_counter() - wall
print(json.dumps([*times, sum(path.stat().st_size for path in Path(folder).iterdir()) / 1e6]))
"""
"""Builds an index; prints processor seconds, seconds and megabytes. Any checkout runs it."""

SKIPPED = {".git"}


def put_together(trees: Path, target: Path, files: int) -> int:
    """A git repository at ``target`` with about ``files`` files of different trees; how many there are."""
    made = 0
    by_project: dict[str, Path] = {}
    for tree in sorted(path for path in trees.iterdir() if path.is_dir()):
        by_project.setdefault(tree.name.rpartition("-")[0], tree)
    for turn in range(100):
        for name, tree in sorted(by_project.items()):
            for folder, folders, names in os.walk(tree):
                folders[:] = sorted(set(folders) - SKIPPED)
                place = target / f"{name}-{turn}" / os.path.relpath(folder, tree)
                place.mkdir(parents=True, exist_ok=True)
                for file in sorted(names):
                    path = Path(folder) / file
                    if made >= files:
                        break
                    if not path.is_symlink():
                        data = path.read_bytes()
                        (place / file).write_bytes(data + b"\n" * turn)
                        made += 1
            if made >= files:
                return made
    return made


def timed(work: Callable[[], object]) -> float:
    """Milliseconds that ``work`` takes."""
    start = time.perf_counter()
    work()
    return (time.perf_counter() - start) * 1000


def spread(values: list[float]) -> str:
    """Median and 95th percentile."""
    return f"{statistics.median(values):.0f} / {sorted(values)[int(0.95 * (len(values) - 1))]:.0f}"


def memory() -> float:
    """Megabytes that this process holds now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def ripgrep(root: str, query: str) -> None:
    """Count the words of ``query`` in every file, as a user without an index would."""
    words = list(dict.fromkeys(re.findall(r"[A-Za-z_]\w{3,}", query)))[:26]
    command = ["rg", "--count", "--ignore-case", "--no-messages", *(f"--regexp={word}" for word in words), root]
    subprocess.run(command, stdout=subprocess.DEVNULL)


class Turn:
    """Turns prepared in this process, as a session's server does it."""

    def __init__(self, root: str, state: Path) -> None:
        environment = read_environment({"HOME": str(state / "home"), "XDG_STATE_HOME": str(state)})
        self._runtime = build_application(environment, is_long_lived=True).runtime
        self._source = EventSource(ClientName.CLAUDE_CODE, root)

    def run(self, prompt: str) -> None:
        """Prepare one turn."""
        prepare_turn(TurnRequest(self._source, prompt), self._runtime)


def measure(root: str, state: Path, queries: list[str]) -> list[tuple[str, str]]:
    """All rows for one repository."""
    never = threading.Event()
    cold = timed(lambda: search_code(root, queries[0], 10, (), (), SourceCache(), never, PATIENCE, IndexManager(None)))
    library = IndexManager(state)
    before, started = memory(), time.process_time()
    build_time = timed(lambda: library.build(root))
    build_processor_time = (time.process_time() - started) * 1000
    folder = repository_folder(state, find_root(root), root)
    indexed = library.index_state(root)
    path = next(str(path) for path in sorted(Path(root).rglob("*.py")))
    edits: list[float] = []
    updates: list[float] = []
    for number in range(5):
        for values, paths in ((edits, [os.path.relpath(path, root)]), (updates, [])):
            with open(path, "a", encoding="utf-8") as file:
                file.write(f"\nEDITED_{number} = {len(updates)}\n")
            values.append(timed(partial(update_index, folder, root, paths=paths)))
    time.sleep(0.1)
    library.build(root)
    cache, files_only = SourceCache(), IndexManager(None)
    files_only.histories = library.histories
    turn = Turn(root, state)
    for query in queries[:3]:
        turn.run(query)
        search_code(root, query, 10, (), (), SourceCache(), never, PATIENCE, library)
    after = memory()
    with open(path, "a", encoding="utf-8") as file:
        file.write("\nEDITED_LAST = True\n")
    changed = timed(partial(turn.run, queries[3]))
    with_index, without, turns, greps = [], [], [], []
    searching, preparing = [], []
    for query in queries:
        started = time.process_time()
        with_index.append(timed(partial(search_code, root, query, 10, (), (), cache, never, PATIENCE, library)))
        searching.append((time.process_time() - started) * 1000)
        without.append(timed(partial(search_code, root, query, 10, (), (), cache, never, PATIENCE, files_only)))
        started = time.process_time()
        turns.append(timed(partial(turn.run, query)))
        preparing.append((time.process_time() - started) * 1000)
        if shutil.which("rg"):
            greps.append(timed(partial(ripgrep, root, query)))
    library.close()
    return [
        ("files, of them indexed", f"{indexed.files}, {indexed.indexed}"),
        ("first question, nothing read yet", f"{cold:.0f}"),
        ("build from nothing", f"{build_time:.0f}"),
        ("  processor time", f"{build_processor_time:.0f}"),
        ("index on disk, MB", f"{indexed.bytes / 1e6:.0f}"),
        ("update after an edit, path known", f"{statistics.median(edits):.0f}"),
        ("update after an edit, everything looked at", f"{statistics.median(updates):.0f}"),
        ("ci_search with the index, p50 / p95", spread(with_index)),
        ("  processor time", spread(searching)),
        ("the whole turn, p50 / p95", spread(turns)),
        ("  processor time", spread(preparing)),
        ("ci_search without, files in memory, p50 / p95", spread(without)),
        ("rg --count of the query's words, p50 / p95", spread(greps) if greps else "not installed"),
        ("a turn right after an edit", f"{changed:.0f}"),
        ("memory after building and three turns, of it before, MB", f"{after:.0f}, {before:.0f}"),
    ]


def make_sample(folder: Path) -> tuple[Path, Path]:
    """Make cases and trees of this checkout's Python files below ``folder``; return their paths."""
    tree, cases = folder / "trees" / "sample-0", folder / "cases.jsonl"
    queries = []
    for path in sorted(path.resolve() for path in Path(SOURCE, "upbeat").glob("*/**/*.py")):
        text = path.read_text(encoding="utf-8")
        target = tree / path.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
        if docstring := ast.get_docstring(ast.parse(text)):
            query = f"where is this implemented in the code: {docstring.split('.')[0]}?"
            queries.append(json.dumps({"query": query}) + "\n")
    cases.write_text("".join(queries), encoding="utf-8")
    return cases, folder / "trees"


@contextlib.contextmanager
def open_data(options: argparse.Namespace) -> Iterator[tuple[Path, Path, Path]]:
    """Yield the cases, the trees and the scratch folder; a temporary folder holds what is not given."""
    with tempfile.TemporaryDirectory() as name:
        cases, trees = (options.cases, options.trees) if options.trees else make_sample(Path(name))
        yield cases, trees, options.scratch or Path(name) / "scratch"


def make_repository(size: int, trees: Path, scratch: Path) -> Path:
    """Return a repository of ``size`` files below ``scratch``; make it if it is not there."""
    root = scratch / f"r{size}"
    if not root.is_dir():
        put_together(trees, root, size)
        subprocess.run(["git", "init", "-q"], cwd=root, check=True)
        subprocess.run(["git", "add", "-A"], cwd=root, check=True)
    return root


def compare_builds(root: Path, state: Path, other: Path) -> list[tuple[str, str]]:
    """Build the index of ``root`` with the checkout ``other`` and with this one in turns; return the column."""
    contenders: list[tuple[Path, list[list[float]]]] = [(other.resolve(), []), (ROOT, [])]
    for _ in range(ROUNDS):
        for checkout, rows in contenders:
            shutil.rmtree(state, ignore_errors=True)
            state.mkdir(parents=True)
            source = str(checkout / "src")
            command = [sys.executable, "-c", BUILD, str(root.resolve()), str(state), source]
            environment = os.environ | {"PYTHONPATH": source}
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, cwd=state, env=environment)
            rows.append(json.loads(done.stdout))
    before, after = ([statistics.median(values) for values in zip(*rows, strict=True)] for _, rows in contenders)
    names = ("processor time, s", "time, s", "index on disk, MB")
    cells = [f"{old:.1f}, {new:.1f}, {new / old:.2f}" for old, new in zip(before, after, strict=True)]
    return [("files", f"{root.name[1:]}"), *zip(names, cells, strict=True)]


def measure_size(root: Path, cases: Path, state: Path, queries: int) -> list[tuple[str, str]]:
    """Measure the repository ``root`` in a process of its own; return its column."""
    shutil.rmtree(state, ignore_errors=True)
    command = [sys.executable, "-m", "benchmarks.index", "--cases", str(cases), "--scratch", str(state)]
    command += ["--one", str(root.resolve()), "--queries", str(queries)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, cwd=ROOT)
    column: list[tuple[str, str]] = json.loads(done.stdout)
    return column


def read_options() -> argparse.Namespace:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("sizes", nargs="*", type=int, metavar="FILES")
    parser.add_argument("--cases", type=Path, help="cases whose queries are asked")
    parser.add_argument("--trees", type=Path, help="trees that the repositories are made of")
    parser.add_argument("--scratch", type=Path, help="folder that keeps the repositories for the next run")
    parser.add_argument("--against", type=Path, metavar="CHECKOUT", help="compare the build with another checkout's")
    parser.add_argument("--quick", action="store_true", help="few files and queries")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    parser.add_argument("--queries", type=int, default=QUERIES, help="how many queries are asked")
    options = parser.parse_args()
    if not options.one and bool(options.cases) != bool(options.trees):
        parser.error("--cases and --trees belong together")
    return options


def main() -> None:
    """Print one table with a column for each size."""
    options = read_options()
    if options.one:
        queries = [json.loads(line)["query"] for line in options.cases.read_text(encoding="utf-8").splitlines()]
        step = max(1, len(queries) // options.queries)
        print(json.dumps(measure(options.one, options.scratch, queries[::step][: options.queries])))
        return
    sizes = options.sizes or (QUICK_SIZES if options.quick else SIZES if options.trees else SAMPLE_SIZES)
    number = QUICK_QUERIES if options.quick else options.queries
    with open_data(options) as (cases, trees, scratch):
        columns = []
        for size in sizes:
            root, state = make_repository(size, trees, scratch.resolve()), scratch.resolve() / f"s{size}"
            if options.against:
                columns.append(compare_builds(root, state, options.against))
            else:
                columns.append(measure_size(root, cases.resolve(), state, number))
    title = "before, after, ratio" if options.against else "milliseconds"
    print(f"| {title} |" + "".join(f" {column[0][1].split(',')[0]} files |" for column in columns))
    print("|---|" + "---:|" * len(columns))
    for rows in zip(*columns, strict=True):
        print(f"| {rows[0][0]} | " + " | ".join(value for _, value in rows) + " |")


if __name__ == "__main__":
    main()
