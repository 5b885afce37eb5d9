"""Installing the clients: once, whole, and with a reason when it cannot be done. A script stands in for npm."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from .clients import CLIENTS, ClientsUnavailable, _program, install, require_clients

CODEX = CLIENTS["codex"]


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache for installed clients, and a folder for programs that is first on ``PATH``."""
    monkeypatch.setenv("UPBEAT_E2E_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    (tmp_path / "bin").mkdir()
    return tmp_path / "cache"


def write_npm(cache: Path, body: str) -> None:
    """Make ``npm`` a shell script; its third argument is the folder to install into."""
    npm = cache.with_name("bin") / "npm"
    npm.write_text(f"#!/bin/sh\n{body}\n")
    npm.chmod(0o755)


def test_two_runs_that_start_together_install_once(cache: Path, tmp_path: Path) -> None:
    """Both get the program, npm ran once with the pinned version, and nothing half-finished is left in the cache."""
    inside = _program(CODEX).relative_to(CODEX.folder)
    write_npm(
        cache, f'echo "$@" >> {tmp_path}/calls; sleep 0.3; mkdir -p "$3/{inside.parent}"; echo codex > "$3/{inside}"'
    )
    programs: list[Path] = []
    threads = [threading.Thread(target=lambda: programs.append(install("codex"))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert [_program(CODEX)] * 2 == programs
    [call] = (tmp_path / "calls").read_text().splitlines()
    assert ("install", "@openai/codex@0.169.0") == (call.split()[0], call.split()[-1])
    assert ["codex-0.169.0", "codex-0.169.0.lock"] == sorted(path.name for path in cache.iterdir())


def test_a_failed_installation_leaves_nothing(cache: Path) -> None:
    """The error has npm's message, and the next run starts afresh."""
    write_npm(cache, "echo no such registry >&2; exit 1")
    with pytest.raises(ClientsUnavailable, match=r"npm could not install @openai/codex@0\.169\.0: no such registry"):
        install("codex")

    assert ["codex-0.169.0.lock"] == [path.name for path in cache.iterdir()]


@pytest.mark.parametrize(
    ("programs", "reason"),
    [(("unshare", "true"), r"npm is not installed, and codex 0\.169\.0 is not"), ((), "unshare .* is not installed")],
)
def test_a_missing_program_is_named(
    cache: Path, monkeypatch: pytest.MonkeyPatch, programs: tuple[str, ...], reason: str
) -> None:
    """Without npm and an earlier installation, or without unshare, these tests cannot run."""
    folder = cache.with_name("bin")
    for name in programs:
        (folder / name).symlink_to(Path("/usr/bin") / name)
    monkeypatch.setenv("PATH", str(folder))

    with pytest.raises(ClientsUnavailable, match=reason):
        require_clients()
