"""Programs that do not end by themselves, or not with all that they started: shell, for any name on the search path."""

from __future__ import annotations

from pathlib import Path

HOWS = {
    "hangs": "exec sleep 60",
    "ignores SIGTERM": "trap '' TERM HUP INT; sleep 60",
    "says all and stays": "echo a; exec >&-; sleep 60",
    "leaves its group": "setsid sleep 60",
    "becomes a daemon": "(setsid sh -c 'sleep 60 & sleep 60' &); exec sleep 60",
    "leaves a daemon behind": "(setsid sleep 60 &)",
    "floods": "exec yes",
    "floods both": "yes >&2 & exec yes",
    "forks on and on": 'for n in 1 2 3 4 5 6 7 8; do (setsid sh -c "sleep 60 & sleep 60" &); done; sleep 60',
}


def write(folder: Path, name: str, how: str) -> Path:
    """The program ``name`` in ``folder``, which is made."""
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / name
    program.write_text(f"#!/bin/sh\n{HOWS[how]}\n")
    program.chmod(0o755)
    return program
