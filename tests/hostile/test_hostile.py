"""Hostile repositories, several at once, met by the entry points that read the most: the short way to look.

Here Python says what it does; the part ``hostile-repository`` of ``tests/reliability`` has the operating system say it,
for each repository and each entry point.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import ExitStack

import pytest
from hostile.entry_points import FEW, in_copies
from hostile.fixtures import FIXTURES, MIXED, staged
from hostile.judge import Verdict, judge_inside
from hostile.place import CANARY


@pytest.fixture(scope="module")
def verdicts() -> Iterator[Mapping[str, Mapping[str, Verdict]]]:
    """What was not allowed of what Python saw, by mix and entry point; one process runs all of them."""
    with ExitStack() as stack:
        places = {mix: stack.enter_context(staged(mix)) for mix in MIXED}
        run = in_copies(places.values(), FEW)
        home = {"PATH": "/usr/bin:/bin", "HOME": str(places["git"].home)}
        subprocess.run(run.command, input=run.stdin, env=home, check=True, timeout=100)
        yield {
            mix: {name: judge_inside(place, number) for number, name in enumerate(FEW)} for mix, place in places.items()
        }


@pytest.mark.parametrize("mix", MIXED)
def test_nothing_is_run_and_nothing_is_read_outside(mix: str, verdicts: Mapping[str, Mapping[str, Verdict]]) -> None:
    """Git apart no program runs, nothing outside is opened, nothing of it is said or kept, and all comes to an end."""
    assert dict.fromkeys(FEW, Verdict()) == verdicts[mix]


def test_what_is_not_allowed_is_seen() -> None:
    """A program that is run, a file outside that is read and a secret that is said are all reported."""
    with staged("git: monitor") as place:
        trap = place.trap("bin/evil")
        secret = place.outside / "secret.py"
        lines = [["run", trap, "[]"], ["open", str(secret), ""], ["import", f"{place.root}/json.py", ""]]
        os.spawnl(os.P_WAIT, trap, trap)
        place.log.mkdir()
        (place.log / "0.log").write_text("\n".join(map(json.dumps, lines)))
        (place.log / "0.out").write_text(f"{CANARY}\nexit 0")
        verdict = judge_inside(place, 0)

    programs = (f"{trap} []", f"{place.root}/json.py (imported)", "evil (it left its mark)")
    assert Verdict(programs, (str(secret),), (), ("its output",)) == verdict


def test_there_are_enough() -> None:
    """There are at least sixty, and each says what it does."""
    assert len(FIXTURES) >= 60
    assert [] == [name for name, fixture in FIXTURES.items() if not fixture["says"]]
