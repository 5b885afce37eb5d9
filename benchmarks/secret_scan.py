"""Measure how many lines of real code redaction changes, and what it costs.

    python -m benchmarks.secret_scan [--show] [--quick] [FOLDER ...]

Reads every text file of each folder (default: this checkout) except those of git and package managers. Prints the
number of lines, the number of changed lines and the processor time for a megabyte. ``--show`` prints each change,
``--quick`` reads only the folder ``benchmarks``.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from pathlib import Path

from upbeat.core.sanitize.redact import redact

from . import ROOT

EXCLUDED = {".git", "node_modules", "site-packages", "__pycache__", ".venv"}
LARGEST = 2_000_000
"""The size in bytes above which a file is not read."""


def texts(folder: Path) -> Iterator[tuple[Path, str]]:
    """Yield the UTF-8 files of ``folder`` with their text."""
    for path in sorted(folder.rglob("*")):
        if not path.is_file() or path.is_symlink() or not EXCLUDED.isdisjoint(path.relative_to(folder).parts):
            continue
        data = path.read_bytes()[: LARGEST + 1]
        if len(data) <= LARGEST and b"\0" not in data:
            try:
                yield path, data.decode()
            except UnicodeDecodeError:
                continue


def scan(folder: Path, *, shows: bool) -> str:
    """Redact every file of ``folder``; return the table row."""
    lines = changed = size = 0
    seconds = 0.0
    for path, text in texts(folder):
        start = time.process_time()
        redacted = redact(text, preserve_lines=True).text
        seconds += time.process_time() - start
        size += len(text)
        pairs = list(zip(text.split("\n"), redacted.split("\n"), strict=True))
        lines += len(pairs)
        changes = [(old, new) for old, new in pairs if old != new]
        changed += len(changes)
        for old, new in changes if shows else ():
            print(f"{path.name}: {old.strip()[:100]} -> {new.strip()[:100]}")
    cost = seconds * 1e9 / max(size, 1)
    return f"| {folder.name} | {lines:,} | {changed} | {changed / max(lines, 1):.4%} | {cost:.0f} |"


def main() -> None:
    """Print one row for each folder."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folders", nargs="*", type=Path, help="default: this checkout")
    parser.add_argument("--show", action="store_true", help="print each changed line")
    parser.add_argument("--quick", action="store_true", help="read only the folder benchmarks")
    options = parser.parse_args()
    print("| folder | lines | changed | % | ms per MB |\n|---|---:|---:|---:|---:|")
    for folder in options.folders or [ROOT / "benchmarks" if options.quick else ROOT]:
        print(scan(folder, shows=options.show), flush=True)


if __name__ == "__main__":
    main()
