"""A server that Codex knows is started as Codex would; whatever is wrong with it is one sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from upbeat.adapters.codex.servers import server
from upbeat.adapters.local.environment import Environment, read_environment
from upbeat.core.contract.codes import ErrorCode
from upbeat.core.errors import ToolFailure
from upbeat.core.servers import Launch

CONFIG = """
model = "gpt-5.5"
[mcp_servers.docs]
command = "npx"
args = ["-y", "docs-mcp"]
env = { TOKEN = "t" }
env_vars = ["LANGUAGE"]
cwd = "/srv/docs"
[mcp_servers.least]
command = "/usr/bin/docs-mcp"
[mcp_servers.off]
command = "docs-mcp"
enabled = false
[mcp_servers.web]
url = "https://example.org/mcp"
[mcp_servers.relative]
command = "./docs-mcp"
[mcp_servers.odd]
command = "docs-mcp"
args = "x"
[mcp_servers.elsewhere]
command = "docs-mcp"
cwd = "docs"
"""


@pytest.fixture
def environment(tmp_path: Path) -> Environment:
    (tmp_path / "config.toml").write_text(CONFIG)
    return read_environment({"HOME": "/h", "CODEX_HOME": str(tmp_path)})


@pytest.mark.parametrize(
    ("name", "launch"),
    [
        ("docs", Launch("npx", ("-y", "docs-mcp"), {"TOKEN": "t"}, ("LANGUAGE",), "/srv/docs")),
        ("least", Launch("/usr/bin/docs-mcp")),
    ],
)
def test_a_server(environment: Environment, name: str, launch: Launch) -> None:
    """Command, arguments, variables given and passed on, and the folder."""
    assert launch == server(name, "/repo", environment)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("dosc", "config.toml has no [mcp_servers.dosc]; did you mean 'docs'?"),
        ("off", "mcp_servers.off is switched off there"),
        ("web", "mcp_servers.web has no command; a server over HTTP is not asked"),
        ("relative", "mcp_servers.relative.command is neither a name on the search path nor an absolute path"),
        ("odd", "mcp_servers.odd: args, env or env_vars are not made of texts"),
        ("elsewhere", "mcp_servers.elsewhere.cwd is not an absolute path"),
    ],
)
def test_none(environment: Environment, name: str, said: str) -> None:
    """What cannot be started is unavailable, with the place to mend it."""
    with pytest.raises(ToolFailure) as failed:
        server(name, "/repo", environment)

    assert (ErrorCode.TOOL_UNAVAILABLE, True) == (failed.value.code, str(failed.value).endswith(said))


@pytest.mark.parametrize("text", [None, "", "mcp_servers = 5", "[mcp_servers", "[mcp_servers]\ndocs = 5"])
def test_a_file_without_it(tmp_path: Path, text: str | None) -> None:
    """A file that is absent, empty or damaged has no server."""
    if text is not None:
        (tmp_path / "config.toml").write_text(text)
    with pytest.raises(ToolFailure, match=r"config\.toml"):
        server("docs", "/repo", read_environment({"HOME": "/h", "CODEX_HOME": str(tmp_path)}))
