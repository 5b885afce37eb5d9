"""No entry point runs code of the folder that it is started in."""

from __future__ import annotations

import json
import shlex
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hostile.fixtures import staged
from hostile.place import Place
from processes import BIN, ROOT, SHIM, run

PLUGIN_LAUNCHER = ROOT / "adapters/claude/plugin/bin/upbeat"
PAYLOAD = json.dumps({"hook_event_name": "UserPromptSubmit", "cwd": "/", "prompt": "hello"}).encode()

COMMANDS: dict[str, list[str]] = {
    "upbeat --version": ["upbeat", "--version"],
    "codex-auto --version": ["codex-auto", "--version"],
    "upbeat prepare": ["upbeat", "prepare", "--prompt", "fix the bug in core/a.py"],
    "upbeat tools": ["upbeat", "tools", "call", "ci_search", "--args", '{"query": "x"}'],
    "upbeat status": ["upbeat", "status"],
    "upbeat hook": ["upbeat", "hook", "claude"],
    "upbeat statusline": ["upbeat", "statusline"],
    "codex-auto --help": ["codex-auto", "--help"],
    "codex-auto --plan": ["codex-auto", "--plan", "fix core/a.py"],
    "python -I -m upbeat": [sys.executable, "-I", "-m", "upbeat", "prepare", "--prompt", "fix core/a.py"],
    "server": [sys.executable, "-I", "-m", "upbeat", "mcp"],
    "shim": [sys.executable, "-I", "-S", str(SHIM), "claude-code"],
    "plugin hook": ["/bin/sh", str(PLUGIN_LAUNCHER), "hook", "claude-code"],
    "plugin mcp": ["/bin/sh", str(PLUGIN_LAUNCHER), "mcp", "--client", "claude-code"],
}


def installed_launchers(folder: Path) -> Path:
    """Return a ``bin`` with the launchers as an installer puts them there, beside this environment's Python."""
    bin_folder = folder / "bin"
    bin_folder.mkdir(exist_ok=True)
    for launcher in (ROOT / "src/bin").iterdir():
        shutil.copy(launcher, bin_folder)
    python = bin_folder / "python3"
    python.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} "$@"\n')
    python.chmod(0o755)
    return bin_folder


@pytest.fixture(scope="module")
def place() -> Iterator[Place]:
    """A folder in which every module and program leaves a mark that could be taken for one of ours."""
    with staged("programs: modules + programs: programs") as place:
        yield place


@pytest.fixture(autouse=True)
def _no_marks(place: Place) -> None:
    for name in place.sprung():
        (place.marks / name).unlink()


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("python_path", [".", ":/x", "/x::/y"])
def test_nothing_of_the_folder_is_run(place: Place, tmp_path: Path, name: str, python_path: str) -> None:
    """Started in a hostile folder, with PATH and Python's variables leading into it, an entry point runs nothing there.

    ``PYTHONPATH=$PYTHONPATH:/x`` without a value before it is ``:/x``, which to Python names the working directory.
    """
    variables = {
        "PYTHONPATH": python_path,
        "PYTHONSTARTUP": "json.py",
        "PYTHONUSERBASE": ".",
        "PYTHONHOME": str(place.root),
    }
    program, *words = COMMANDS[name]
    command = [str(installed_launchers(tmp_path) / program) if "/" not in program else program, *words]
    stdin = PAYLOAD if {"shim", "hook", "statusline"} & set(name.split()) else b""
    path = f".::{BIN}:/usr/local/bin:/usr/bin:/bin"
    done = run(command, place.root, stdin, place.home, PATH=path, **variables)

    assert ([], 0) == (place.sprung(), done.code), done.stderr


@pytest.mark.parametrize("script", ["./install.sh", "sh install.sh"])
def test_install_sh_looks_up_nothing_in_the_folder(tmp_path: Path, place: Place, script: str) -> None:
    """Called from a hostile folder, the installer finds its checkout, and runs no program or module of the folder."""
    checkout = tmp_path / "checkout"
    (checkout / "src/upbeat").mkdir(parents=True)
    (checkout / "install.sh").write_bytes((ROOT / "install.sh").read_bytes())
    (checkout / "install.sh").chmod(0o755)
    path = f"{checkout / 'install.sh'}"
    command = [path] if script.startswith("./") else ["/bin/sh", path]
    done = run(command, place.root, b"", place.home, PATH=".::/usr/local/bin:/usr/bin:/bin", PYTHONPATH=":/x")

    assert ([], 1) == (place.sprung(), done.code)
    assert "install.sh: src/upbeat/core is not a symbolic link" in done.stderr


def test_the_trap_works(place: Place) -> None:
    """A program that does look into the folder is caught, so that the tests above prove something."""
    run([sys.executable, "-m", "upbeat"], place.root, b"", place.home)

    assert [] != place.sprung()
