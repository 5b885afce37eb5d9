"""A project's ``.mcp.json`` starts nothing before its user has trusted that content."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from case_files import read_json_groups

from upbeat.adapters.claude.servers import find_launch
from upbeat.adapters.system.config.trust import trust
from upbeat.adapters.system.environment import Environment, read_environment
from upbeat.core.contract.codes import ErrorCode
from upbeat.core.errors import ToolFailure
from upbeat.core.tool_servers import LaunchSpec

PROBLEMS = read_json_groups(Path(__file__).with_name("cases.jsonl"))["server_problem"]
SERVERS = Path(__file__).with_name("servers.json").read_text(encoding="utf-8")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Environment:
    monkeypatch.setenv("DOCS_ROOT", "/srv")
    for name in ("DOCS_BIN", "DOCS_TOKEN", "DOCS_NOT_SET"):
        monkeypatch.delenv(name, raising=False)
    return read_environment({"HOME": str(tmp_path / "home")})


@pytest.fixture
def repo(tmp_path: Path, home: Environment) -> Path:
    """A repository whose file is trusted."""
    repo = (tmp_path / "repo").resolve()
    (repo / ".git").mkdir(parents=True)
    put(repo, SERVERS, home)
    return repo


def put(repo: Path, text: str, trusting: Environment | None) -> None:
    (repo / ".mcp.json").write_text(text)
    if trusting:
        trust(repo / ".mcp.json", (repo / ".mcp.json").read_bytes(), trusting)


def failure(name: str, root: Path, home: Environment) -> tuple[ErrorCode, str]:
    with pytest.raises(ToolFailure) as failed:
        find_launch(name, str(root), home)
    return failed.value.code, str(failed.value)


def test_how_a_server_is_started(repo: Path, home: Environment) -> None:
    """Command, arguments and variables are expanded as Claude Code does; it starts in the project."""
    expected = LaunchSpec("docs-mcp", ("--root", "/srv", "plain"), {"TOKEN": "", "A": "b"}, (), str(repo))

    assert expected == find_launch("docs", str(repo), home)


def test_an_untrusted_file_starts_nothing(repo: Path, home: Environment) -> None:
    """The error says how to trust it."""
    put(repo, json.dumps({"mcpServers": {"docs": {"command": "evil"}}}), None)

    assert (ErrorCode.NOT_APPROVED, ".mcp.json is not trusted; read it, then run upbeat trust") == failure(
        "docs", repo, home
    )


def test_a_link_out_of_the_project_is_not_its_file(repo: Path, home: Environment, tmp_path: Path) -> None:
    """A file elsewhere is not the project's."""
    (tmp_path / "other.json").write_text("{}")
    (repo / ".mcp.json").unlink()
    (repo / ".mcp.json").symlink_to(tmp_path / "other.json")

    assert (ErrorCode.TOOL_UNAVAILABLE, "this project has no .mcp.json") == failure("docs", repo, home)


@pytest.mark.parametrize(("name", "problem"), PROBLEMS)
def test_a_server_that_cannot_be_started(repo: Path, home: Environment, name: str, problem: str) -> None:
    """The error says what is wrong."""
    assert (ErrorCode.TOOL_UNAVAILABLE, problem) == failure(name, repo, home)


@pytest.mark.parametrize("text", ["", "{", "[]", "5", '{"mcpServers": 5}', '{"mcpServers": {"docs": 5}}'])
def test_a_damaged_file_has_no_server(repo: Path, home: Environment, text: str) -> None:
    """The server is unavailable."""
    put(repo, text, home)

    assert ErrorCode.TOOL_UNAVAILABLE == failure("docs", repo, home)[0]
