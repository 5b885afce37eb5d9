"""No entry point runs code of the folder that it is started in."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from processes import BIN, ROOT, SHIM, Finished, run

LAUNCHER = ROOT / "adapters/claude/plugin/bin/upbeat"
CODEX_AUTO = str(BIN / "codex-auto")
MODULES = [
    "json",
    "sitecustomize",
    "usercustomize",
    "typing",
    "pydantic",
    "tomli",
    "dulwich",
    "site",
    "posix",
    "logging",
]
PACKAGES = ["core", "adapters", "upbeat", "config", "core/contract", "adapters/cli"]
PAYLOAD = json.dumps({"hook_event_name": "UserPromptSubmit", "cwd": "/", "prompt": "hello"}).encode()

ENTRY_POINTS = {
    "upbeat --version": [str(BIN / "upbeat"), "--version"],
    "codex-auto --version": [str(BIN / "codex-auto"), "--version"],
    "upbeat prepare": [str(BIN / "upbeat"), "prepare", "--prompt", "fix the bug in core/a.py"],
    "upbeat tools": [str(BIN / "upbeat"), "tools", "call", "ci_search", "--args", '{"query": "x"}'],
    "codex-auto --help": [CODEX_AUTO, "--help"],
    "python -I -m upbeat": [sys.executable, "-I", "-m", "upbeat", "prepare", "--prompt", "fix core/a.py"],
    "server": [sys.executable, "-I", "-m", "upbeat", "mcp"],
    "shim": [sys.executable, "-I", "-S", str(SHIM), "claude-code"],
    "launcher hook": ["/bin/sh", str(LAUNCHER), "hook", "claude-code"],
    "launcher mcp": ["/bin/sh", str(LAUNCHER), "mcp", "--client", "claude-code"],
}
ISOLATED = [name for name in ENTRY_POINTS if not name.startswith(("upbeat", "codex-auto"))]
"""Those that our own hooks and servers use: they see no variable of Python either."""


@pytest.fixture(scope="module")
def trap(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which everything that could be imported leaves a mark."""
    folder = tmp_path_factory.mktemp("trap")
    bait = f"open({str(folder / 'SPRUNG')!r}, 'a').write(__name__ + '\\n')\nraise SystemExit('sprung')\n"
    for package in PACKAGES:
        (folder / package).mkdir()
        (folder / package / "__init__.py").write_text(bait)
        (folder / package / "__main__.py").write_text(bait)
    for module in MODULES:
        (folder / f"{module}.py").write_text(bait)
    for tool in ("git", "python3", "python"):
        (folder / tool).write_text(f"#!/bin/sh\necho {tool} >> '{folder}/SPRUNG'\n")
        (folder / tool).chmod(0o755)
    return folder


def sprung(trap: Path) -> str:
    mark = trap / "SPRUNG"
    text = mark.read_text() if mark.exists() else ""
    mark.unlink(missing_ok=True)
    return text


def start(name: str, trap: Path, home: Path, **extra: str) -> Finished:
    return run(ENTRY_POINTS[name], trap, PAYLOAD if "shim" in name or "hook" in name else b"", home, **extra)


@pytest.mark.parametrize("name", ENTRY_POINTS)
def test_nothing_of_the_folder_is_run(trap: Path, tmp_path: Path, name: str) -> None:
    """Started in a hostile folder, with a PATH that leads into it, an entry point works and runs nothing there.

    What our hooks and servers start stays clean even where PYTHONPATH names the folder.
    """
    variables = {"PYTHONPATH": ".", "PYTHONSTARTUP": "json.py"} if name in ISOLATED else {}
    done = start(name, trap, tmp_path, PATH=f".::{BIN}:/usr/local/bin:/usr/bin:/bin", **variables)

    assert ("", 0) == (sprung(trap), done.code), done.stderr


NAMED_LIKE_OURS = ["core", "adapters", "config"]


@pytest.mark.parametrize("name", [name for name in ENTRY_POINTS if name not in ISOLATED])
def test_a_users_own_core_does_not_shadow_ours(tmp_path: Path, name: str) -> None:
    """A console script under PYTHONPATH=. in a project with packages ``core`` and ``adapters`` uses ours."""
    project = tmp_path / "project"
    for package in NAMED_LIKE_OURS:
        (project / package).mkdir(parents=True)
        (project / package / "__init__.py").write_text(f"open({str(tmp_path / 'SPRUNG')!r}, 'a').write(__name__)\n")
    done = run(ENTRY_POINTS[name], project, b"", tmp_path, PYTHONPATH=".")

    assert (False, 0) == ((tmp_path / "SPRUNG").exists(), done.code), done.stderr


def test_the_trap_works(trap: Path, tmp_path: Path) -> None:
    """A program that does look into the folder is caught, so that the tests above prove something."""
    run([sys.executable, "-m", "upbeat"], trap, b"", tmp_path)

    assert "" != sprung(trap)
