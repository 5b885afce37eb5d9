"""Hostile repositories, several at once, met by the entry points that read the most: the short way to look.

Here Python says what it does; ``tests/reliability/hostile_repository.py`` has the operating system say it, for each
repository and each entry point.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from processes import environment

from hostile.entry_points import SHORT, Call, calls
from hostile.fixtures import FIXTURES, MIXED, staged
from hostile.judge import Verdict, judge_inside
from hostile.place import CANARY, Place

INSIDE = Path(__file__).with_name("inside.py")


def inside(place: Place, chosen: dict[str, Call], folder: Path) -> dict[str, Verdict]:
    """What was not allowed of what Python saw, by entry point."""
    given = [
        {
            "module": "upbeat",
            "words": list(call.command[4:]),
            "stdin": call.stdin.decode(),
            "answers": call.answers,
            "cwd": str(place.root / place.cwd),
            "log": str(folder / f"{number}.log"),
            "output": str(folder / f"{number}.out"),
        }
        for number, call in enumerate(chosen.values())
    ]
    variables = environment(place.home) | place.variables
    if "PATH" in place.variables:
        variables["PATH"] = place.variables["PATH"] + ":" + environment(place.home)["PATH"]
    command = [sys.executable, "-I", str(INSIDE)]
    subprocess.run(command, input=json.dumps(given).encode(), env=variables, cwd=place.root, check=True, timeout=100)
    return {
        name: judge_inside(place, (folder / f"{number}.log").read_text(), (folder / f"{number}.out").read_bytes())
        for number, name in enumerate(chosen)
    }


@pytest.mark.parametrize("mix", MIXED)
def test_nothing_is_run_and_nothing_is_read_outside(mix: str, tmp_path: Path) -> None:
    """Git apart no program runs, nothing outside is opened, nothing of it is said or kept, and all comes to an end."""
    with staged(mix) as place:
        chosen = {name: call for name, call in calls(place).items() if name in SHORT}
        seen = inside(place, chosen, tmp_path)

    assert dict.fromkeys(SHORT, Verdict()) == {name: seen[name] for name in SHORT}


def test_what_is_not_allowed_is_seen(tmp_path: Path) -> None:
    """A program that is run, a file outside that is read and a secret that is said are all told."""
    with staged("git: monitor") as place:
        trap = place.trap("bin/evil")
        secret = place.outside / "secret.py"
        lines = [["run", trap, "[]"], ["open", str(secret), ""], ["import", f"{place.root}/json.py", ""]]
        os.spawnl(os.P_WAIT, trap, trap)
        seen = judge_inside(place, "\n".join(map(json.dumps, lines)), f"{CANARY}\nexit 0".encode())

    assert Verdict(
        (f"{trap} []", f"{place.root}/json.py (imported)", "evil (it left its mark)"), (str(secret),), (), ("its output",)
    ) == seen


def test_there_are_enough() -> None:
    """There are more than thirty, and each says what it does."""
    assert len(FIXTURES) >= 60
    assert [] == [name for name, make in FIXTURES.items() if not make.__doc__]
