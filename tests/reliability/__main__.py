"""Try the promises and write down what was seen.

    PYTHONPATH=tests .venv/bin/python -m reliability [PART …] [--quick] [--keep]

Without ``--quick``, or with ``--keep``, what was seen goes to ``tests/reliability/seen.json``, from which
``docs/promises.md`` is made (``just generate``). The exit code is 1 when a promise did not hold.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from upbeat import __version__

from .parts import PARTS
from .promise import try_part

SEEN = Path(__file__).parent / "seen.json"


def main(arguments: Sequence[str]) -> int:
    """Try the named parts, or all; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help=" ".join(PARTS))
    parser.add_argument("--quick", action="store_true", help="look less often, and write nothing down")
    parser.add_argument("--keep", action="store_true", help="write down what was seen by looking less often, too")
    options = parser.parse_args(arguments)
    if unknown := set(options.parts) - set(PARTS):
        parser.error(f"no part {', '.join(sorted(unknown))}; there are: {', '.join(PARTS)}")
    failed = 0
    for name in options.parts or PARTS:
        began = time.perf_counter()
        rows = []
        for seen in try_part(PARTS[name], is_whole=not options.quick):
            print(f"{'holds' if seen.holds else 'BROKEN':6}  {name}: {seen.claim}: {seen.figure}", flush=True)
            rows.append(asdict(seen))
        failed += sum(not row["holds"] for row in rows)
        if options.keep or not options.quick:
            _write_down(name, rows, time.perf_counter() - began, is_whole=not options.quick)
    return 1 if failed else 0


def _write_down(name: str, rows: list[dict[str, Any]], seconds: float, *, is_whole: bool) -> None:
    """Put what was seen of one part into the file, beside what was seen of the others."""
    parts = json.loads(SEEN.read_text(encoding="utf-8")) if SEEN.exists() else {}
    parts[name] = {
        "heading": PARTS[name].PART,
        "seen": f"{datetime.now(UTC):%Y-%m-%d}",
        "on": f"upbeat {__version__}, Python {platform.python_version()}, {platform.system()}, {os.cpu_count()} cores",
        "seconds": round(seconds),
        "full": is_whole,
        "rows": rows,
    }
    text = json.dumps({key: parts[key] for key in PARTS if key in parts}, indent=2, ensure_ascii=False) + "\n"
    draft = SEEN.with_suffix(".new")
    draft.write_text(text, encoding="utf-8")
    draft.replace(SEEN)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
