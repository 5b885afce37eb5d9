"""A server's program is never one that a repository has put on the search path, unless its user named that file."""

from __future__ import annotations

from pathlib import Path

import pytest

from upbeat.adapters.mcp_client.program import resolve_program
from upbeat.adapters.system.environment import read_environment
from upbeat.core.errors import ToolFailure
from upbeat.core.tool_servers import LaunchSpec, ServerConfig


def executable(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a program in an environment of its own, which is first on the search path, over a link too."""
    root = tmp_path / "repo"
    executable(root / ".venv/bin/docs")
    (root / ".git").mkdir()
    (root / ".git/HEAD").write_text("ref: refs/heads/main\n")
    (tmp_path / "link").symlink_to(root / ".venv/bin")
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", f"{root}/.venv/bin:{tmp_path}/link:{tmp_path}/bin:relative::")
    return root


def found(command: str, root: Path) -> tuple[str, str]:
    """The program for a server with that command, and the search path that it gets."""
    server = ServerConfig("docs", launch=LaunchSpec(command))
    program = resolve_program(server, str(root), read_environment({"HOME": "/"}), {})
    return program.path, program.variables["PATH"]


def test_a_name_is_not_found_in_the_repository(repo: Path) -> None:
    """A program that exists only in the repository is refused with advice, also from a subfolder."""
    (repo / "inner").mkdir()
    for root in (repo, repo / "inner"):
        with pytest.raises(ToolFailure, match="docs not started: 'docs' exists only in this repository; use its path"):
            found("docs", root)


def test_the_next_one_is_taken(repo: Path) -> None:
    """A program outside the repository is found, and the server's PATH leads outside, too."""
    outside = executable(repo.parent / "bin/docs")

    assert (str(outside), str(repo.parent / "bin")) == found("docs", repo)


def test_a_path_is_a_users_choice(repo: Path) -> None:
    """Named by its absolute path, a program of the repository is started."""
    assert f"{repo}/.venv/bin/docs" == found(f"{repo}/.venv/bin/docs", repo)[0]


def test_there_is_none(repo: Path) -> None:
    """A program that is not on PATH is reported."""
    with pytest.raises(ToolFailure, match="no program 'nothing' on PATH"):
        found("nothing", repo)
