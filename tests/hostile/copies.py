"""Asks ``inside.py`` to run entry points, all of them in one process, and reads what came of each."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from .entry_points import PYTHON, Call
from .place import Place

INSIDE = Path(__file__).with_name("inside.py")
SECONDS_EACH = 30.0


def in_copies(place: Place, chosen: Mapping[str, Call]) -> Call:
    """One process that runs all of ``chosen``, one after the other; what they log and say goes to ``place.told``."""
    place.told.mkdir(exist_ok=True)
    given = [
        {
            "module": "upbeat.adapters.codex_auto.app.main" if "codex-auto" in name else "upbeat.adapters.cli.main",
            "words": list(call.command[3:] if "codex-auto" in name else call.command[4:]),
            "stdin": call.stdin.decode(),
            "answers": call.answers,
            "cwd": str(place.root / place.cwd),
            "log": str(place.told / f"{number}.log"),
            "output": str(place.told / f"{number}.out"),
        }
        for number, (name, call) in enumerate(chosen.items())
    ]
    return Call((*PYTHON, str(INSIDE)), json.dumps(given).encode(), patience=SECONDS_EACH * len(chosen))


def told(place: Place, number: int) -> tuple[str, bytes]:
    """What Python noted of the entry point with that number, and what it said, its exit code at the end."""
    return (place.told / f"{number}.log").read_text(), (place.told / f"{number}.out").read_bytes()
