"""How much of real code redaction changes, and what it costs. ``python benchmarks/secrets.py [--show] FOLDER …``.

Every text file of each folder is read, what git and package managers keep aside. Printed are lines, lines that changed,
and milliseconds of the processor for a megabyte.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path

from upbeat.core.turn.redact import redact

ASIDE = {".git", "node_modules", "site-packages", "__pycache__", ".venv"}
LARGEST = 2_000_000
"""Bytes of a file that is read."""


def texts(folder: Path) -> Iterator[tuple[Path, str]]:
    """The files of ``folder`` that are UTF-8."""
    for path in sorted(folder.rglob("*")):
        if not path.is_file() or path.is_symlink() or not ASIDE.isdisjoint(path.relative_to(folder).parts):
            continue
        data = path.read_bytes()[: LARGEST + 1]
        if len(data) <= LARGEST and b"\0" not in data:
            try:
                yield path, data.decode()
            except UnicodeDecodeError:
                continue


def main(arguments: list[str]) -> None:
    shows = "--show" in arguments
    print("| folder | lines | changed | % | ms a MB |\n|---|---:|---:|---:|---:|")
    for name in (one for one in arguments if one != "--show"):
        lines = changed = size = 0
        spent = 0.0
        for path, text in texts(Path(name)):
            began = time.process_time()
            after = redact(text, keeps_lines=True).text
            spent += time.process_time() - began
            size += len(text)
            pairs = list(zip(text.split("\n"), after.split("\n"), strict=True))
            lines += len(pairs)
            changed += sum(one != other for one, other in pairs)
            for one, other in pairs if shows else ():
                if one != other:
                    print(f"{path.name}: {one.strip()[:100]} -> {other.strip()[:100]}")
        row = f"{changed / max(lines, 1):.4%} | {spent * 1e9 / max(size, 1):.0f}"
        print(f"| {Path(name).name} | {lines:,} | {changed} | {row} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
