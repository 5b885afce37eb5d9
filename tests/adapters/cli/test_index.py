"""``upbeat index`` builds, says what it did, and says it to programs too."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest
from repositories import make_repository, write

from upbeat.adapters.cli.index import run
from upbeat.core.errors import UserError


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = make_repository((tmp_path / "shop").resolve())
    for path in folder.rglob("*"):
        os.utime(path, (1_000_000_000, 1_000_000_000))  # what has just changed is looked at again
    monkeypatch.chdir(folder)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return folder


def test_it_builds_and_then_updates(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The first run reads everything, the next what changed; nothing but the outcome goes into a pipe."""
    codes = [run([])]
    codes.append(run([]))
    write(project, {"new.py": "x = 1\n"})
    codes.append(run([]))
    out, err = capsys.readouterr()

    assert [0, 0, 0] == codes
    assert ["3 files read, 0 dropped", "up to date", "1 files read, 0 dropped"] == [
        line.rpartition(" · ")[2] for line in out.splitlines()[::2]
    ]
    assert out.startswith("✓ indexed · 3 of 3 files, ")
    assert "" == err


def test_json(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The state as one object, for another folder too."""
    code = run(["--json", "--repo", str(project)])
    document = json.loads(capsys.readouterr().out)

    assert 0 == code
    assert document.pop("bytes") > 0
    assert {
        "schema_version": "1.0",
        "root": str(project),
        "state": "ready",
        "files": 3,
        "indexed": 3,
        "files_read": 3,
        "files_dropped": 0,
        "problem": "",
        "history_problem": "",
    } == document


def test_a_terminal_shows_progress(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a terminal a bar is drawn, beside the outcome and not in it."""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    run([])
    out, err = capsys.readouterr()

    assert "] 3/3 files\033[K\r" in err
    assert err.endswith("] 2/2 files\033[K\r\033[K")
    assert "\r" not in out


def test_switched_off(project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With indexing disabled no index is built, and the exit code is 0."""
    write(tmp_path, {"config/upbeat/auto-tools.toml": '[index]\nenabled = "off"\n'})
    code = run([])

    assert (0, f"! indexing is disabled (index.enabled)\n  {project}\n") == (code, capsys.readouterr().out)
    assert not list(tmp_path.glob("state/upbeat/index/*/index.db"))


def test_a_project_cannot_switch_it(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A project's settings cannot change the user's index."""
    write(project, {".upbeat/auto-tools.toml": '[index]\nenabled = "off"\n'})
    run([])

    assert "indexed ·" in capsys.readouterr().out


def test_no_place_to_keep_it(project: Path, tmp_path: Path) -> None:
    """An unusable state folder is reported in one sentence."""
    (tmp_path / "state").write_text("a file")

    with pytest.raises((UserError, OSError)):
        run([])
