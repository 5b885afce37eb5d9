"""A server in Codex's configuration is started as Codex would, and a problem with it is one sentence."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from upbeat.adapters.codex.servers import find_launch
from upbeat.core.contract.codes import ErrorCode
from upbeat.core.errors import ToolFailure
from upbeat.core.tool_servers import LaunchSpec

CONFIG = Path(__file__).with_name("servers.toml")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    shutil.copy(CONFIG, tmp_path / "config.toml")
    return tmp_path


@pytest.mark.parametrize(
    ("name", "launch"),
    [
        ("docs", LaunchSpec("npx", ("-y", "docs-mcp"), {"TOKEN": "t"}, ("LANGUAGE",), "/srv/docs")),
        ("least", LaunchSpec("/usr/bin/docs-mcp")),
    ],
)
def test_a_configured_server(home: Path, name: str, launch: LaunchSpec) -> None:
    """The command, the arguments, the variables and the working folder are Codex's."""
    assert launch == find_launch(name, home)


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("dosc", "config.toml has no [mcp_servers.dosc]; did you mean 'docs'?"),
        ("off", "mcp_servers.off is disabled"),
        ("web", "mcp_servers.web has no command; servers over HTTP are not supported"),
        ("relative", "mcp_servers.relative.command must be a program name or an absolute path"),
        ("odd", "mcp_servers.odd: args, env and env_vars must be strings"),
        ("elsewhere", "mcp_servers.elsewhere.cwd must be an absolute path"),
    ],
)
def test_an_unusable_server(home: Path, name: str, problem: str) -> None:
    """A server that cannot be started is unavailable, and the error names the setting to fix."""
    with pytest.raises(ToolFailure) as failed:
        find_launch(name, home)

    assert (ErrorCode.TOOL_UNAVAILABLE, True) == (failed.value.code, str(failed.value).endswith(problem))


@pytest.mark.parametrize("text", [None, "", "mcp_servers = 5", "[mcp_servers", "[mcp_servers]\ndocs = 5"])
def test_a_file_without_the_server(tmp_path: Path, text: str | None) -> None:
    """A file that is absent, empty or damaged has no server."""
    if text is not None:
        (tmp_path / "config.toml").write_text(text)
    with pytest.raises(ToolFailure, match=r"config\.toml"):
        find_launch("docs", tmp_path)
