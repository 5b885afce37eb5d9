"""Programs and their detectors."""

from __future__ import annotations

from policy_play import ROOT

from upbeat.core.destructive import ShellLocation
from upbeat.core.destructive.detectors import detect_in_command
from upbeat.core.shell import SimpleCommand


def test_a_program_that_an_interpreter_runs() -> None:
    """``php bin/console`` is the program ``console``."""
    command = SimpleCommand(("php", "bin/console", "doctrine:schema:drop"))

    assert ["data"] == [hazard.kind for hazard in detect_in_command(command, ShellLocation(ROOT, ROOT))]
