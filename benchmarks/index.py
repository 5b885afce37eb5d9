"""What the index costs and saves: building, updating, asking, beside ripgrep, at several sizes.

    python benchmarks/index.py CASES.jsonl TREES SCRATCH [FILES ...]

``TREES`` is what ``localization/trees.py`` made. For each number of FILES (default 1000 5000 50000) a repository of
that many files is put together in SCRATCH from different trees, so that its words are as varied as theirs. The
contenders take turns at the same queries: ``ci_search`` with the index, without it, the whole turn as it is prepared
in the session's process, and ``rg --count`` for the words.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from upbeat.adapters.code.library import Library
from upbeat.adapters.code.search import search
from upbeat.adapters.code.tree import SourceCache
from upbeat.adapters.local.environment import read_environment
from upbeat.adapters.wiring import build
from upbeat.core.contract.event import ClientName, Source
from upbeat.core.pipeline import TurnRequest, prepare_turn

QUERIES = 24
PATIENCE = 1.1
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
    """Count the words of ``query`` in every file, as a person would who has nothing else."""
    words = list(dict.fromkeys(re.findall(r"[A-Za-z_]\w{3,}", query)))[:26]
    command = ["rg", "--count", "--ignore-case", "--no-messages", *(f"--regexp={word}" for word in words), root]
    subprocess.run(command, stdout=subprocess.DEVNULL)


class Turn:
    """Turns prepared in this process, as a session's server does it."""

    def __init__(self, root: str, state: Path) -> None:
        environment = read_environment({"HOME": str(state / "home"), "XDG_STATE_HOME": str(state)})
        self._runtime = build(environment, stays=True).runtime
        self._source = Source(ClientName.CLAUDE_CODE, root)

    def run(self, prompt: str) -> None:
        """Prepare one turn."""
        prepare_turn(TurnRequest(self._source, prompt), self._runtime)


def measure(root: str, state: Path, queries: list[str]) -> list[tuple[str, str]]:
    """All rows for one repository."""
    never = threading.Event()
    cold = timed(lambda: search(root, queries[0], 10, (), (), SourceCache(), never, PATIENCE, Library(None)))
    library = Library(state)
    before = memory()
    build = timed(lambda: library.build(root))
    indexed = library.state(root)
    path = next(str(path) for path in sorted(Path(root).rglob("*.py")))
    edits, updates = [], []
    for number in range(5):
        for values, paths in ((edits, [os.path.relpath(path, root)]), (updates, [])):
            with open(path, "a", encoding="utf-8") as file:
                file.write(f"\nEDITED_{number} = {len(updates)}\n")
            values.append(timed(partial(library.refresh, root, paths)))
    time.sleep(0.1)
    library.refresh(root)
    cache, files_only = SourceCache(), Library(None)
    files_only.histories = library.histories
    turn = Turn(root, state)
    for query in queries[:3]:
        turn.run(query)
        search(root, query, 10, (), (), SourceCache(), never, PATIENCE, library)
    after = memory()
    with open(path, "a", encoding="utf-8") as file:
        file.write("\nEDITED_LAST = True\n")
    changed = timed(partial(turn.run, queries[3]))
    with_index, without, turns, greps = [], [], [], []
    searching, preparing = [], []
    for query in queries:
        started = time.process_time()
        with_index.append(timed(partial(search, root, query, 10, (), (), cache, never, PATIENCE, library)))
        searching.append((time.process_time() - started) * 1000)
        without.append(timed(partial(search, root, query, 10, (), (), cache, never, PATIENCE, files_only)))
        started = time.process_time()
        turns.append(timed(partial(turn.run, query)))
        preparing.append((time.process_time() - started) * 1000)
        if shutil.which("rg"):
            greps.append(timed(partial(ripgrep, root, query)))
    library.close()
    return [
        ("files, of them indexed", f"{indexed.files}, {indexed.indexed}"),
        ("first question, nothing read yet", f"{cold:.0f}"),
        ("build from nothing", f"{build:.0f}"),
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


def main() -> None:
    """Print one table with a column for each size; every size in a process of its own."""
    cases, trees, scratch = (Path(argument) for argument in sys.argv[1:4])
    if sys.argv[4:5] == ["--one"]:
        queries = [json.loads(line)["query"] for line in cases.read_text(encoding="utf-8").splitlines()]
        step = max(1, len(queries) // QUERIES)
        rows = measure(sys.argv[5], scratch, queries[::step][:QUERIES])
        print(json.dumps(rows))
        return
    columns = []
    for size in sys.argv[4:] or ["1000", "5000", "50000"]:
        root, state = scratch / f"r{size}", scratch / f"s{size}"
        if not root.is_dir():
            put_together(trees, root, int(size))
            subprocess.run(["git", "init", "-q"], cwd=root, check=True)
            subprocess.run(["git", "add", "-A"], cwd=root, check=True)
        shutil.rmtree(state, ignore_errors=True)
        command = [sys.executable, __file__, str(cases), str(trees), str(state), "--one", str(root.resolve())]
        columns.append(json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout))
    print("| milliseconds |" + "".join(f" {column[0][1].split(',')[0]} files |" for column in columns))
    print("|---|" + "---:|" * len(columns))
    for rows in zip(*columns, strict=True):
        print(f"| {rows[0][0]} | " + " | ".join(value for _, value in rows) + " |")


if __name__ == "__main__":
    main()
