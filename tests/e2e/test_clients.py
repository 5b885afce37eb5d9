"""Installing the clients: once, whole, and with a reason when it cannot be done. (npm is a stand-in here.)"""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from .clients import CLIENTS, ClientsUnavailable, _program, install, require_clients

CODEX = CLIENTS["codex"]


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache for installed clients."""
    monkeypatch.setenv("UPBEAT_E2E_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def put_npm_on_path(folder: Path, monkeypatch: pytest.MonkeyPatch, body: str) -> None:
    """Make ``npm`` a shell script; its third argument is the folder to install into."""
    (folder / "bin").mkdir()
    npm = folder / "bin" / "npm"
    npm.write_text(f"#!/bin/sh\n{body}\n")
    npm.chmod(0o755)
    monkeypatch.setenv("PATH", f"{npm.parent}:{os.environ['PATH']}")


def test_two_runs_that_start_together_install_once(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both get the program, npm ran once with the pinned version, and nothing half-finished is left in the cache."""
    inside = _program(CODEX).relative_to(CODEX.folder)
    body = f'echo "$@" >> {tmp_path}/calls; sleep 0.3; mkdir -p "$3/{inside.parent}"; echo codex > "$3/{inside}"'
    put_npm_on_path(tmp_path, monkeypatch, body)
    got: list[Path] = []
    threads = [threading.Thread(target=lambda: got.append(install("codex"))) for _ in range(2)]

    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert got == [_program(CODEX), _program(CODEX)]
    [call] = (tmp_path / "calls").read_text().splitlines()
    assert call.split()[0] == "install"
    assert call.split()[-1] == "@openai/codex@0.169.0"
    assert sorted(path.name for path in cache.iterdir()) == ["codex-0.169.0", "codex-0.169.0.lock"]


def test_a_failed_installation_leaves_nothing(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What npm said is passed on, and the next run starts afresh."""
    put_npm_on_path(tmp_path, monkeypatch, "echo no such registry >&2; exit 1")

    with pytest.raises(ClientsUnavailable, match=r"npm could not install @openai/codex@0\.169\.0: no such registry"):
        install("codex")

    assert [path.name for path in cache.iterdir()] == ["codex-0.169.0.lock"]


def test_without_npm_the_reason_is_named(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without npm and without an earlier installation cannot run these tests, and says so."""
    (tmp_path / "bin").mkdir()
    for name in ("unshare", "true"):
        (tmp_path / "bin" / name).symlink_to(Path("/usr/bin") / name)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))

    with pytest.raises(ClientsUnavailable, match=r"npm is not installed, and codex 0\.169\.0 is not"):
        require_clients()


def test_without_unshare_the_reason_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that cannot fence a client in cannot run these tests, and says so."""
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(ClientsUnavailable, match="unshare"):
        require_clients()
