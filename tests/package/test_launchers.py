"""The launchers in ``bin`` find the Python of their environment, however they are called."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from package.building import ROOT

LAUNCHERS = ROOT / "src/bin"


@pytest.fixture
def bin_folder(tmp_path: Path) -> Path:
    """A ``bin`` in a folder with a space, whose Python prints its arguments."""
    folder = tmp_path / "an env/bin"
    folder.mkdir(parents=True)
    for launcher in LAUNCHERS.iterdir():
        (folder / launcher.name).write_bytes(launcher.read_bytes())
        (folder / launcher.name).chmod(0o755)
    (folder / "python3").write_text('#!/bin/sh\nprintf "%s|" "$0" "$@"\n')
    (folder / "python3").chmod(0o755)
    return folder


def call(command: list[str], cwd: Path, path: str = "/usr/bin:/bin") -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=cwd, env={"PATH": path}, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(("name", "module"), [("upbeat", "upbeat"), ("codex-auto", "upbeat.adapters.codex_auto")])
@pytest.mark.parametrize("way", ["path", "relative", "on PATH", "sh", "link", "link to a link", "relative link"])
def test_the_python_beside_it_is_started_isolated(
    bin_folder: Path, tmp_path: Path, name: str, module: str, way: str
) -> None:
    """uv and pipx put links to the launchers on PATH; the arguments arrive as they are."""
    (tmp_path / "links").mkdir()
    link = tmp_path / "links" / name
    target = {"relative link": os.path.relpath(bin_folder / name, link.parent)}.get(way, str(bin_folder / name))
    link.symlink_to(target)
    (tmp_path / name).symlink_to(f"links/{name}")
    program = {
        "path": [str(bin_folder / name)],
        "relative": [f"./{name}"],
        "on PATH": [name],
        "sh": ["sh", name],
        "link to a link": [str(tmp_path / name)],
    }.get(way, [str(link)])
    cwd = bin_folder if way in ("relative", "sh") else tmp_path
    done = call([*program, "a b", "", "*"], cwd, f"{bin_folder}:/usr/bin:/bin")

    assert f"{bin_folder}/python3|-I|-m|{module}|a b||*|" == done.stdout, done.stderr


def test_without_a_python_beside_it(bin_folder: Path) -> None:
    """The message names the launcher and the ways to install."""
    (bin_folder / "python3").unlink()
    done = call([str(bin_folder / "upbeat")], bin_folder)

    assert (1, "") == (done.returncode, done.stdout)
    assert f"upbeat: no Python beside {bin_folder}/upbeat; install upbeat into an environment" in done.stderr


def test_the_launchers_differ_in_the_program_only() -> None:
    """A change to one is made to both."""
    upbeat, codex_auto = ((LAUNCHERS / name).read_text() for name in ("upbeat", "codex-auto"))
    same = codex_auto.replace("upbeat.adapters.codex_auto", "upbeat").replace("codex-auto", "upbeat")

    assert upbeat == same
