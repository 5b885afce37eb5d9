"""Functions of this folder in processes of their own, which may adopt orphans and be measured.

    python -m reliability.workers MODULE FUNCTION ARGUMENTS      (a list, as JSON)

Each value that the function yields is printed as a line of JSON. Invariant: a run that says nothing is missing.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from processes import environment

WORKERS = 2
TESTS = Path(__file__).parents[1]


def variables(home: Path) -> dict[str, str]:
    """Return the environment of a worker: a home of its own, and these modules."""
    return environment(home) | {"PYTHONPATH": f"{TESTS}:{os.environ.get('PYTHONPATH', '')}"}


def command(function: Callable[..., Iterable[Any]], *arguments: Any) -> list[str]:
    """Return the command line that calls ``function``; paths among the arguments arrive as texts."""
    given = json.dumps(arguments, default=str)
    return [sys.executable, "-m", "reliability.workers", function.__module__, function.__name__, given]


def results(
    commands: Sequence[Sequence[str]], env: dict[str, str], cwd: Path | None = None, *, check: bool = False
) -> list[Any]:
    """Run ``commands`` side by side; return all that they yield.

    Raises RuntimeError, with its last words, if one failed and ``check`` is set.
    """
    with ThreadPoolExecutor(len(commands)) as pool:
        finished = list(pool.map(partial(subprocess.run, env=env, cwd=cwd, capture_output=True, check=False), commands))
    for worker in finished:
        if check and worker.returncode:
            raise RuntimeError(worker.stderr.decode(errors="replace").strip()[-300:])
    return [json.loads(line) for worker in finished for line in worker.stdout.splitlines()]


def shared(function: Callable[..., Iterable[Any]], folder: Path, numbers: Sequence[int]) -> list[dict[str, Any]]:
    """Return what ``function(folder, numbers)`` yields for these numbers, which the workers share."""
    shares = [list(numbers[first::WORKERS]) for first in range(WORKERS)]
    return results([command(function, folder, share) for share in shares], variables(folder))


if __name__ == "__main__":
    module, name, given = sys.argv[1:]
    for result in getattr(import_module(module), name)(*json.loads(given)):
        print(json.dumps(result), flush=True)
