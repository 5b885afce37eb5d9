"""The hazards that ``destructive/git.py`` detects."""

from __future__ import annotations

import pytest
from policy_play import ROOT, hazard_rows

from upbeat.core.destructive import ShellLocation, find_hazards


@pytest.mark.parametrize(("line", "expected"), hazard_rows("git"))
def test_hazards(line: str, expected: str) -> None:
    """Each line has this hazard first, or none."""
    hazards = find_hazards(line, ShellLocation(ROOT, ROOT))

    assert expected == (f"{hazards[0].kind} {hazards[0].severity}" if hazards else "none")
