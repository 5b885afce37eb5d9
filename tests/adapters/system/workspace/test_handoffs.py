"""Whole reports of subagents on disk."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from upbeat.adapters.system.workspace.handoffs import MAX_AGE_SECONDS, LocalHandoffs

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def test_a_report_is_stored_without_secrets(tmp_path: Path) -> None:
    """The file is private, has all lines, and no secret."""
    handoffs = LocalHandoffs(tmp_path)
    handoffs.store("run-1", "DEV.md", f"first\ntoken {SECRET}\nlast\n", is_more=False)
    file = Path(handoffs.folder, "run-1", "DEV.md")
    text = file.read_text(encoding="utf-8")

    assert (text.startswith("first\n"), text.endswith("last\n"), SECRET in text) == (True, True, False)
    assert 0o600 == stat.S_IMODE(file.stat().st_mode)


def test_reports_replace_or_follow_each_other(tmp_path: Path) -> None:
    """The next result of a step replaces the former; those of parallel calls are kept together."""
    handoffs = LocalHandoffs(tmp_path)
    for text, is_more in (("old", False), ("one", False), ("two", True)):
        handoffs.store("r", "DEV.md", text, is_more=is_more)

    assert "one\n\n---\n\ntwo" == Path(handoffs.folder, "r", "DEV.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(("run_id", "name"), [("../x", "DEV.md"), ("r", "../DEV.md"), ("r", "a/b.md"), ("", "DEV.md")])
def test_names_stay_in_the_folder(tmp_path: Path, run_id: str, name: str) -> None:
    """A name that is none writes nothing."""
    LocalHandoffs(tmp_path / "state").store(run_id, name, "x", is_more=False)

    assert [] == list(tmp_path.rglob("*"))


def test_a_folder_that_cannot_be_written_costs_nothing(tmp_path: Path) -> None:
    """The report is lost, and nothing is raised."""
    (tmp_path / "upbeat").write_text("a file")
    LocalHandoffs(tmp_path).store("r", "DEV.md", "x", is_more=False)

    assert ["upbeat"] == os.listdir(tmp_path)


def test_old_runs_are_removed(tmp_path: Path) -> None:
    """A new run removes those that nothing was added to for long."""
    handoffs = LocalHandoffs(tmp_path)
    handoffs.store("old", "DEV.md", "x", is_more=False)
    os.utime(Path(handoffs.folder, "old"), (0, 0))
    handoffs.store("new", "DEV.md", "x", is_more=False)

    assert MAX_AGE_SECONDS > 0
    assert ["new"] == os.listdir(handoffs.folder)
