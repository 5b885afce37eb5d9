"""Measure which finished command lines are taken as evidence of passing tests, on labeled ones.

    python -m benchmarks.evidence [--losses] [FILE ...]

A file has one JSON object a line: ``verdict`` (pass: honest evidence; fail: a red run; none: no evidence), ``project``
(path -> text), ``cwd``, ``command``, ``exit``, ``output``, ``why``. ``/repo`` stands for the project's folder, which is
written to a temporary folder and judged by the code that judges a command of a session. The default is
``evidence_cases.jsonl``: half of it was written by a reader who had not seen the code.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from upbeat.adapters.system.environment import read_environment
from upbeat.adapters.system.workspace.evidence_files import LocalEvidenceSource
from upbeat.core.contract.event import Call, ClientName, EventSource, ToolFinished
from upbeat.core.engine.observe_run import observe_run
from upbeat.core.settings import Settings
from upbeat.core.workflow.evidence.judgement import Judgement

CASES = Path(__file__).with_name("evidence_cases.jsonl")
QUICK_ROWS = 60
Row = Mapping[str, Any]


def read_rows(path: Path) -> list[Row]:
    """Return the rows of a file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def judge_row(row: Row) -> Judgement:
    """Write the project of ``row`` to a temporary folder, and judge its command there."""
    with tempfile.TemporaryDirectory() as name:
        root = os.path.realpath(name)
        for path, text in row["project"].items():
            file = Path(root, path)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        moved = {key: row[key].replace("/repo", root) for key in ("cwd", "command", "output")}
        source = EventSource(ClientName.CLI, moved["cwd"], "s")
        event = ToolFinished(source, Call("c", "Bash", {}), moved["output"], moved["command"], row["exit"])
        evidence = LocalEvidenceSource(read_environment({"HOME": root}))
        return observe_run(event, None, root, evidence, Settings(), 0.0).judgement


def verdict_of(judgement: Judgement, exit_code: int | None) -> str:
    """Return what a session takes the row for: pass, fail or none."""
    return "none" if not judgement.is_evidence or exit_code is None else "fail" if exit_code else "pass"


def interval(count: int, total: int) -> str:
    """Return ``count`` in 100 with its 95 % interval (Wilson)."""
    if not total:
        return "-"
    share, z = count / total, 1.96
    middle = (share + z * z / (2 * total)) / (1 + z * z / total)
    half = z / (1 + z * z / total) * math.sqrt(share * (1 - share) / total + z * z / (4 * total * total))
    return f"{100 * share:.1f} ({100 * max(middle - half, 0):.1f} to {100 * (middle + half):.1f})"


def measure(rows: Iterable[Row]) -> tuple[Counter[str], list[str]]:
    """Return the counts of rows, false passes and false refusals, and a line for each loss."""
    counts: Counter[str] = Counter()
    losses = []
    for row in rows:
        judgement = judge_row(row)
        is_pass, taken = row["verdict"] == "pass", verdict_of(judgement, row["exit"]) == "pass"
        counts["honest" if is_pass else "others"] += 1
        if is_pass != taken:
            counts["false refusals" if is_pass else "false passes"] += 1
            why = f"{judgement.refusal} {judgement.detail}".strip() or "no test run"
            losses.append(f"{'refused' if is_pass else 'taken'}: {row['command']!r} ({why}): {row.get('why', '')}")
    return counts, losses


def main() -> None:
    """Print one row for each file."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("files", nargs="*", type=Path, help="default: evidence_cases.jsonl")
    parser.add_argument("--losses", action="store_true", help="print each wrong row with its reason to stderr")
    parser.add_argument("--quick", action="store_true", help=f"the first {QUICK_ROWS} rows of each file")
    options = parser.parse_args()
    print("| file | not evidence | false passes in 100 | honest | false refusals in 100 |\n|---|---:|---:|---:|---:|")
    for path in options.files or [CASES]:
        rows = read_rows(path)
        counts, losses = measure(rows[:QUICK_ROWS] if options.quick else rows)
        passes = interval(counts["false passes"], counts["others"])
        refusals = interval(counts["false refusals"], counts["honest"])
        print(f"| {path.stem} | {counts['others']} | {passes} | {counts['honest']} | {refusals} |")
        for loss in losses if options.losses else ():
            print(loss, file=sys.stderr)


if __name__ == "__main__":
    main()
