"""Runs in processes of their own, which may adopt orphans and be measured. Invariant: what tells nothing is missing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from processes import environment

WORKERS = 2
TESTS = Path(__file__).parents[1]


def variables(home: Path) -> dict[str, str]:
    """The environment of a worker: a home of its own, and these modules."""
    return environment(home) | {"PYTHONPATH": f"{TESTS}:{os.environ.get('PYTHONPATH', '')}"}


def results(module: str, folder: Path, numbers: list[int]) -> list[dict[str, Any]]:
    """What ``python -m MODULE FOLDER NUMBER …`` says of the runs with these numbers, which the workers share."""
    working = [
        subprocess.Popen(
            [sys.executable, "-m", module, str(folder), *map(str, numbers[first::WORKERS])],
            env=variables(folder),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        for first in range(WORKERS)
    ]
    runs: list[dict[str, Any]] = []
    for worker in working:
        with worker:
            output, _ = worker.communicate()
        runs += [json.loads(line) for line in output.splitlines()]
    return runs
