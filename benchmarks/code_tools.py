"""Measure what the code tools cost: parsing by language, and each tool on a working tree.

    python -m benchmarks.code_tools [--quick] [ROOT ...]

Prints medians of several rounds; the tools run on the first two roots (default: this checkout). Parsing is measured
in processor time on 99 KB of real code from all roots; a tool in wall-clock time, cold (the first call of a provider)
and warm (the calls after it), without an index and with one. ``--quick`` measures one round on the folder
``benchmarks``.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import threading
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

from upbeat.adapters.code.index.manager import IndexManager
from upbeat.adapters.code.provider import EmbeddedProvider
from upbeat.adapters.code.syntax.languages import grammar_name
from upbeat.adapters.code.syntax.parse import parse_source
from upbeat.adapters.system.git.commands import list_files
from upbeat.core.errors import ToolFailure

from . import ROOT

SIZE = 99_000
ROUNDS = 7
NEVER = threading.Event()


def main() -> None:
    """Print the tables of parsing and of the tools."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("roots", nargs="*", metavar="ROOT", help="default: this checkout")
    parser.add_argument("--quick", action="store_true", help="one round on the folder benchmarks")
    options = parser.parse_args()
    roots = options.roots or [str(ROOT / "benchmarks" if options.quick else ROOT)]
    rounds = 1 if options.quick else ROUNDS
    samples = collect(roots)
    print("| language | 99 KB of it, ms | definitions | references |\n|---|---:|---:|---:|")
    for language, (path, data) in sorted(samples.items()):
        parse_source(path, data[:100])
        times = [timed(lambda path=path, data=data: parse_source(path, data)) for _ in range(rounds)]
        parsed = parse_source(path, data)
        print(f"| {language} | {ms(times)} | {len(parsed.definitions)} | {len(parsed.references)} |")
    for root in roots[:2]:
        listing = list_files(root)
        symbol, path = something(root, listing.files)
        print(f"\n{Path(root).name}, {len(listing.files)} files, asked about {symbol} in {path}\n")
        print("| tool | cold ms | warm ms | from the index: cold ms | warm ms | rows | cut short |")
        print("|---|---:|---:|---:|---:|---:|---|")
        with tempfile.TemporaryDirectory() as state:
            library = IndexManager(Path(state), can_build=False)
            library.build(str(Path(root).resolve()))
            for tool, args in questions(symbol, path).items():
                print(row(root, tool, args, library, rounds))


def collect(roots: list[str]) -> dict[str, tuple[str, bytes]]:
    """For each language a file's name and 99 KB made of whole files."""
    parts: dict[str, list[bytes]] = defaultdict(list)
    names: dict[str, str] = {}
    for root in roots:
        for path in list_files(root).files:
            try:
                data = (Path(root) / path).read_bytes()
            except OSError:
                continue
            language = grammar_name(path, data)
            if language and 500 < len(data) < 60_000 and sum(map(len, parts[language])) < SIZE:
                parts[language].append(data)
                names.setdefault(language, path)
    whole = {language: b"\n".join(datas) for language, datas in parts.items()}
    return {language: (names[language], data[:SIZE]) for language, data in whole.items() if len(data) > SIZE}


def timed(work: Any) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started


def ms(times: list[float]) -> str:
    return f"{statistics.median(times) * 1000:.1f}"


def something(root: str, files: tuple[str, ...]) -> tuple[str, str]:
    """A function of a source file in the middle of the tree."""
    sources = [path for path in files if "test" not in path and path.endswith((".py", ".go", ".rs", ".ts", ".c"))]
    for path in sources[len(sources) // 2 :]:
        for one in parse_source(path, (Path(root) / path).read_bytes()).definitions:
            if one.kind in ("function", "method") and len(one.name) > 8 and one.end_line - one.start_line > 10:
                return one.symbol, path
    raise SystemExit(f"no function in {root}")


def questions(symbol: str, path: str) -> dict[str, dict[str, Any]]:
    name = symbol.rpartition(".")[2]
    return {
        "ci_index_status": {},
        "ci_search": {"query": f"{name} gives the wrong result"},
        "ci_graph_rag": {"query": f"{name} gives the wrong result"},
        "ci_call_chain": {"symbol": symbol},
        "ci_bug_locate": {"query": f"{name} fails", "traces": [f"at {name} (/somewhere/{path}:12)"]},
        "ci_impact": {"symbols": [symbol], "files": [path]},
        "ci_complexity": {"files": [path]},
        "ci_hotspot": {},
    }


def row(root: str, tool: str, args: dict[str, Any], library: IndexManager, rounds: int) -> str:
    shown = []
    for provider in (EmbeddedProvider(), EmbeddedProvider(index_manager=library)):
        walls = []
        for _ in range(1 + rounds):
            started = time.perf_counter()
            try:
                output = provider.call(tool, args, root, NEVER)
            except ToolFailure as failure:
                return f"| {tool} | {failure.code} | | | | | |"
            walls.append(time.perf_counter() - started)
        shown.append(f"{walls[0] * 1000:.0f} | {ms(walls[1:])}")
    return f"| {tool} | {' | '.join(shown)} | {len(output.findings)} | {'yes' if output.truncated else ''} |"


if __name__ == "__main__":
    main()
