"""``upbeat learned``: what has been learnt here, and how it is forgotten."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path

import pytest

from upbeat.adapters.cli.learned import run
from upbeat.adapters.system.config.learned import LocalLearnedHabits
from upbeat.core.learned.model import HabitObservation, HabitType, habit_id_of

FIX = HabitObservation(HabitType.ERROR_RESOLUTIONS, "pytest fails", "run uv run pytest", "tests")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with observations, and a state folder of its own."""
    folder = (tmp_path / "shop").resolve()
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return folder


def learn(folder: Path, *sightings: HabitObservation) -> None:
    LocalLearnedHabits(folder.parent / "state").record(str(folder), sightings, time.time())


def test_list_of_nothing(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Where nothing was observed, the list says why."""
    code = run(["list"])

    assert (0, "nothing learned here (habits.enabled is off by default)\n") == (code, capsys.readouterr().out)


def test_list(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The list has one line per habit, the most certain first, and proposals at the end."""
    learn(project, *[FIX] * 9, *[replace(FIX, trigger=f"t{number}") for number in range(4)])
    run(["list"])
    lines = capsys.readouterr().out.splitlines()

    assert f"{habit_id_of(FIX)}  0.70*    9x  error_resolutions  pytest fails -> run uv run pytest" == lines[0]
    assert "5 habits on tests: consider a skill for it" == lines[-1]
    assert 6 == len(lines)


def test_list_as_json(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The JSON is versioned and says what applies; the user's own list is apart."""
    learn(project, *[FIX] * 9, replace(FIX, trigger="npm test fails"))
    run(["list", "--json"])
    own = json.loads(capsys.readouterr().out)
    run(["list", "--json", "--global"])
    everywhere = json.loads(capsys.readouterr().out)

    assert ["1.0", [True, False]] == [own["schema_version"], [habit["applies"] for habit in own["observations"]]]
    assert [habit_id_of(FIX)] == [habit["id"] for habit in everywhere["observations"]]


def test_show_and_forget(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """``show`` prints every field of an observation, ``forget`` removes it; an unknown id is an error."""
    learn(project, FIX)
    shown = run(["show", habit_id_of(FIX)])
    text = capsys.readouterr().out
    forgotten = run(["forget", habit_id_of(FIX), "--json"])
    document = json.loads(capsys.readouterr().out)
    missing = [run(["show", habit_id_of(FIX)]), run(["forget", habit_id_of(FIX)])]

    assert [0, 0, 1, 1] == [shown, forgotten, *missing]
    assert "trigger     pytest fails\n" in text
    assert {"schema_version": "1.0", "forgotten": habit_id_of(FIX)} == document
    assert f"upbeat: no habit {habit_id_of(FIX)}; run `upbeat learned list` to see them all" in capsys.readouterr().err


def test_clear(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """``clear`` removes every observation of a project."""
    learn(project, FIX)
    run(["clear"])

    assert "upbeat: forgot 1 habit\n" == capsys.readouterr().out
    assert 0 == run(["list"])
