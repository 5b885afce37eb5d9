"""No entry point runs code of the folder that it is started in."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hostile.fixtures import staged
from hostile.place import Place
from processes import BIN, ROOT, SHIM, run

LAUNCHER = ROOT / "adapters/claude/plugin/bin/upbeat"
PAYLOAD = json.dumps({"hook_event_name": "UserPromptSubmit", "cwd": "/", "prompt": "hello"}).encode()

SCRIPTS = {
    "upbeat --version": [str(BIN / "upbeat"), "--version"],
    "codex-auto --version": [str(BIN / "codex-auto"), "--version"],
    "upbeat prepare": [str(BIN / "upbeat"), "prepare", "--prompt", "fix the bug in core/a.py"],
    "upbeat tools": [str(BIN / "upbeat"), "tools", "call", "ci_search", "--args", '{"query": "x"}'],
    "codex-auto --help": [str(BIN / "codex-auto"), "--help"],
}
ISOLATED = {
    "python -I -m upbeat": [sys.executable, "-I", "-m", "upbeat", "prepare", "--prompt", "fix core/a.py"],
    "server": [sys.executable, "-I", "-m", "upbeat", "mcp"],
    "shim": [sys.executable, "-I", "-S", str(SHIM), "claude-code"],
    "launcher hook": ["/bin/sh", str(LAUNCHER), "hook", "claude-code"],
    "launcher mcp": ["/bin/sh", str(LAUNCHER), "mcp", "--client", "claude-code"],
}
"""Those that our own hooks and servers use: they see no variable of Python either."""


@pytest.fixture(scope="module")
def place() -> Iterator[Place]:
    """A folder in which every module and program leaves a mark that could be taken for one of ours."""
    with staged("programs: modules + programs: programs") as place:
        yield place


@pytest.fixture(autouse=True)
def _no_marks(place: Place) -> None:
    for name in place.sprung():
        (place.marks / name).unlink()


@pytest.mark.parametrize("name", [*SCRIPTS, *ISOLATED])
def test_nothing_of_the_folder_is_run(place: Place, name: str) -> None:
    """Started in a hostile folder, with a PATH that leads into it, an entry point works and runs nothing there.

    What our hooks and servers start stays clean even where PYTHONPATH names the folder.
    """
    variables = {"PYTHONPATH": ".", "PYTHONSTARTUP": "json.py"} if name in ISOLATED else {}
    stdin = PAYLOAD if "shim" in name or "hook" in name else b""
    path = f".::{BIN}:/usr/local/bin:/usr/bin:/bin"
    done = run((SCRIPTS | ISOLATED)[name], place.root, stdin, place.home, PATH=path, **variables)

    assert ([], 0) == (place.sprung(), done.code), done.stderr


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_users_own_core_does_not_shadow_ours(tmp_path: Path, name: str) -> None:
    """A console script under PYTHONPATH=. in a project with packages ``core`` and ``adapters`` uses ours."""
    for package in ("core", "adapters", "config"):
        (tmp_path / "project" / package).mkdir(parents=True)
        mark = f"open({str(tmp_path / 'SPRUNG')!r}, 'a').write(__name__)\n"
        (tmp_path / "project" / package / "__init__.py").write_text(mark)
    done = run(SCRIPTS[name], tmp_path / "project", b"", tmp_path, PYTHONPATH=".")

    assert (False, 0) == ((tmp_path / "SPRUNG").exists(), done.code), done.stderr


def test_the_trap_works(place: Place) -> None:
    """A program that does look into the folder is caught, so that the tests above prove something."""
    run([sys.executable, "-m", "upbeat"], place.root, b"", place.home)

    assert [] != place.sprung()
