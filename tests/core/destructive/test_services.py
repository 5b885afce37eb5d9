"""The hazards that ``destructive/services.py`` detects."""

from __future__ import annotations

from pathlib import Path

import pytest
from case_files import read_groups
from policy_play import ROOT

from upbeat.core.destructive import ShellLocation, find_hazards


@pytest.mark.parametrize(("line", "expected"), read_groups(Path(__file__).with_name("hazards.tsv"))["services"])
def test_hazards(line: str, expected: str) -> None:
    """Each line has this hazard first, or none."""
    hazards = find_hazards(line, ShellLocation(ROOT, ROOT))

    assert expected == (f"{hazards[0].kind} {hazards[0].severity}" if hazards else "none")
