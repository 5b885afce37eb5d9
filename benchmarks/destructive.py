"""Measure which shell lines block-destructive-commands stops (denies or asks about), on labeled ones.

    python -m benchmarks.destructive [--misses] [--quick] [FILE ...]

A file has one JSON object a line: ``label`` (stop: irrecoverable or costly; ok: harmless), ``shell`` (bash, powershell
or cmd), ``line``, ``why`` and possibly ``files`` (path -> text of files that the line may run). The project is
``/home/dev/project``; nothing is known of its uncommitted changes. The default is ``destructive_cases.jsonl``, written
by a reader who had not seen the code.
"""

from __future__ import annotations

import argparse
import json
import posixpath
import re
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from upbeat.core.contract.event import Call, ClientName, EventSource, ToolKind, ToolStarting
from upbeat.core.policies.block_destructive_commands import POLICY
from upbeat.core.policy.definition import PolicyContext
from upbeat.core.policy.queries import ScriptFilesQuery

CASES = Path(__file__).with_name("destructive_cases.jsonl")
ROOT = "/home/dev/project"
TOOLS = {"bash": "Bash", "powershell": "PowerShell", "cmd": "Bash"}
QUICK_ROWS = 200
REPEATED = re.compile(r"⟪(.+?)\*(\d+)⟫", re.DOTALL)
"""Stands for so many repetitions of a text in a row."""
Row = Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class RowFiles:
    """The files of a row, in place of those of this machine."""

    files: Mapping[str, str]

    def read(self, path: str) -> str | None:
        """Return the text of the file at the absolute ``path``."""
        return next((text for name, text in self.files.items() if posixpath.join(ROOT, name) == path), None)


def is_stopped(row: Row) -> bool:
    """Return whether the policy denies the line of ``row`` or asks about it."""
    call = Call("c", TOOLS[row["shell"]], {"command": row["line"]}, ToolKind.SHELL)
    event = ToolStarting(EventSource(ClientName.CLAUDE_CODE, ROOT, "s"), call, row["line"])
    found = {ScriptFilesQuery(): RowFiles(row.get("files", {}))}
    handler = POLICY.handlers[ToolStarting]
    if not handler.applies_to(event, ()):
        return False
    context = PolicyContext(root=ROOT, query_results=found, policy=POLICY.name)
    return bool(handler.handle(event, context).effects)


def main() -> None:
    """Print the stopped share of each label by shell and by kind, and with ``--misses`` each wrong row."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("files", nargs="*", type=Path, default=[CASES])
    parser.add_argument("--misses", action="store_true", help="list the rows that are judged wrongly")
    parser.add_argument("--quick", action="store_true", help="only every so many rows")
    options = parser.parse_args()
    rows = [
        json.loads(line) for path in options.files for line in path.read_text(encoding="utf-8").splitlines() if line
    ]
    rows = [{**row, "line": REPEATED.sub(lambda found: found[1] * int(found[2]), row["line"])} for row in rows]
    rows = rows[:: max(1, len(rows) // QUICK_ROWS)] if options.quick else rows
    total, stopped, taken = Counter[tuple[str, str]](), Counter[tuple[str, str]](), []
    for row in rows:
        start = time.perf_counter()
        is_hit = is_stopped(row)
        taken.append((time.perf_counter() - start) * 1000)
        for group in ("all", row["shell"], row.get("kind") or row.get("why", "")):
            total[row["label"], group] += 1
            stopped[row["label"], group] += is_hit
        if options.misses and is_hit != (row["label"] == "stop"):
            print(f"{row['label']}\t{row['shell']}\t{row['line'][:300]!r}\t{sorted(row.get('files', ()))}")
    print("| label | rows | stopped | % | group |\n|---|---:|---:|---:|---|")
    for (label, group), count in sorted(total.items()):
        hits = stopped[label, group]
        print(f"| {label} | {count} | {hits} | {100 * hits / count:.1f} | {group} |")
    ordered = sorted(taken)
    print(
        f"\nmedian {ordered[len(ordered) // 2]:.3f} ms, 99 % within {ordered[int(len(ordered) * 0.99)]:.3f} ms a line"
    )


if __name__ == "__main__":
    main()
