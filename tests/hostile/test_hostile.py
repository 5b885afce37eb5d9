"""Hostile repositories, several at once, met by the entry points that read the most: the short way to look.

Here Python says what it does; ``tests/reliability/hostile_repository.py`` has the operating system say it, for each
repository and each entry point.
"""

from __future__ import annotations

import json
import os
import subprocess

import pytest
from hostile.copies import in_copies, told
from hostile.entry_points import FEW, Call, calls
from hostile.fixtures import FIXTURES, MIXED, staged
from hostile.judge import Verdict, judge_inside
from hostile.place import CANARY, Place


def inside(place: Place, chosen: dict[str, Call]) -> dict[str, Verdict]:
    """What was not allowed of what Python saw, by entry point."""
    asked = in_copies(place, chosen)
    subprocess.run(asked.command, input=asked.stdin, env=place.environment(), cwd=place.root, check=True, timeout=100)
    return {name: judge_inside(place, *told(place, number)) for number, name in enumerate(chosen)}


@pytest.mark.parametrize("mix", MIXED)
def test_nothing_is_run_and_nothing_is_read_outside(mix: str) -> None:
    """Git apart no program runs, nothing outside is opened, nothing of it is said or kept, and all comes to an end."""
    with staged(mix) as place:
        chosen = {name: call for name, call in calls(place).items() if name in FEW}
        seen = inside(place, chosen)

    assert dict.fromkeys(FEW, Verdict()) == {name: seen[name] for name in FEW}


def test_what_is_not_allowed_is_seen() -> None:
    """A program that is run, a file outside that is read and a secret that is said are all told."""
    with staged("git: monitor") as place:
        trap = place.trap("bin/evil")
        secret = place.outside / "secret.py"
        lines = [["run", trap, "[]"], ["open", str(secret), ""], ["import", f"{place.root}/json.py", ""]]
        os.spawnl(os.P_WAIT, trap, trap)
        seen = judge_inside(place, "\n".join(map(json.dumps, lines)), f"{CANARY}\nexit 0".encode())

    assert (
        Verdict(
            (f"{trap} []", f"{place.root}/json.py (imported)", "evil (it left its mark)"),
            (str(secret),),
            (),
            ("its output",),
        )
        == seen
    )


def test_there_are_enough() -> None:
    """There are more than thirty, and each says what it does."""
    assert len(FIXTURES) >= 60
    assert [] == [name for name, make in FIXTURES.items() if not make.__doc__]
