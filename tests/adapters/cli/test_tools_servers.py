"""``upbeat tools`` with the tools of one's own servers, and ``upbeat trust`` for a project's."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commands import Here
from own_servers import FAKES, PATIENT_TURN, docs, odd, settings, table
from processes import upbeat
from repositories import PROMPT, make_repository, write


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_repository(tmp_path_factory.mktemp("r") / "repo")


def test_list_and_call(here: Here, repo: Path, tmp_path: Path) -> None:
    """One sees how each tool is, and calls by hand what does not run by itself."""
    tools = {"search": 'query_argument = "q"', "write": 'query_argument = "text"', "gone": 'query_argument = "q"'}
    settings(tmp_path, docs(tmp_path, tools=tools) + odd("refuses"))
    listed = json.loads(here("tools", "list", "--json", cwd=repo, home=tmp_path).stdout)
    rows = {row["name"]: row for row in listed["tools"] if "server" in row}

    assert {
        "docs.search": "automatic",
        "docs.write": "on_request",
        "docs.slow": "on_request",
        "docs.gone": "unreachable",
        "odd": "unreachable",
    }.items() <= {name: row["state"] for name, row in rows.items()}.items()
    assert {
        "name": "docs.write",
        "tier": 1,
        "timeout_ms": 3000,
        "available": True,
        "server": "docs",
        "state": "on_request",
        "detail": 'is not declared read-only; auto_run = ["write"] in [mcp.servers.docs] runs it anyway',
    } == rows["docs.write"]
    assert (False, True) == (rows["odd"]["available"], "<redacted:" in rows["odd"]["detail"])

    called = here("tools", "call", "docs.write", "--args", '{"text": "hi"}', "--json", cwd=repo, home=tmp_path)

    assert (0, "written: hi") == (called.code, json.loads(called.stdout)["data"]["text"])


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_a_list_with_invalid_settings(here: Here, repo: Path, tmp_path: Path, options: tuple[str, ...]) -> None:
    """The list prints what is wrong with the settings on stderr and exits with 20."""
    settings(tmp_path, '[mcp.servers.docs]\ncommnd = "x"\n')
    done = here("tools", "list", *options, cwd=repo, home=tmp_path)

    assert 20 == done.code
    assert b"ci_search" in done.stdout
    assert "auto-tools.toml:2: unknown key 'mcp.servers.docs.commnd'; did you mean 'command'?" in done.stderr


def test_a_change_and_its_approval(here: Here, repo: Path, tmp_path: Path) -> None:
    """A tool that has changed is refused by hand, too; approving shows it whole and lets it answer."""
    call = ("tools", "call", "odd.search", "--args", '{"q": "x"}', "--json")
    settings(tmp_path, odd("fine"))
    before = here(*call, cwd=repo, home=tmp_path)
    settings(tmp_path, odd("has a new description"))
    after = here(*call, cwd=repo, home=tmp_path)
    approved = here("tools", "approve", "odd.search", cwd=repo, home=tmp_path)
    again = here(*call, cwd=repo, home=tmp_path)

    assert (0, 40, 0, 0) == (before.code, after.code, approved.code, again.code)
    assert "E_NOT_APPROVED" == json.loads(after.stdout)["error"]["code"]
    assert "Searches, and more.\u202e" == json.loads(approved.stdout)["description"]
    assert approved.stdout.isascii()
    assert "upbeat: approved as shown: odd.search; approve again if a declaration changes\n" == approved.stderr


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("dosc", "upbeat: no server 'dosc' in your settings; did you mean 'docs'?\n"),
        ("nope", "upbeat: no server 'nope' in your settings; add it there under [mcp.servers]\n"),
        ("docs.serch", "upbeat: docs has no tool 'serch'; did you mean 'search'?\n"),
    ],
)
def test_approve_what_is_not_there(here: Here, repo: Path, tmp_path: Path, name: str, problem: str) -> None:
    """There is nothing to approve: exit 40 and a sentence."""
    tools = [str(FAKES / "hostile_mcp_server.py"), "fine"]
    settings(tmp_path, table("docs", tools))
    done = here("tools", "approve", name, cwd=repo, home=tmp_path)

    assert (40, b"", problem) == (done.code, done.stdout, done.stderr)


def test_prepare_waits_for_the_server(repo: Path, tmp_path: Path) -> None:
    """A process for one turn waits for its server inside the tool's limit, and leaves none behind."""
    settings(tmp_path, PATIENT_TURN + odd("fine", str(tmp_path / "starts")))
    done = upbeat("prepare", "--prompt", PROMPT, cwd=repo, home=tmp_path)

    assert "mcp:odd/search" in done.report["fused_context"]["for_model"]["additional_context"]

    (pid,) = (tmp_path / "starts").read_text().split()

    assert not Path(f"/proc/{pid}").exists()


def test_prepare_does_not_plan_what_is_wrong(repo: Path, tmp_path: Path) -> None:
    """Mistakes in servers are configuration errors like all others."""
    path = settings(tmp_path, '[mcp.servers.docs]\ncomand = "x"\n')
    done = upbeat("prepare", "--prompt", PROMPT, cwd=repo, home=tmp_path)

    assert 20 == done.code
    assert f"{path}:2: unknown key 'mcp.servers.docs.comand'; did you mean 'command'?" in done.stderr


def test_trust_for_a_projects_servers(here: Here, tmp_path: Path) -> None:
    """A project's .mcp.json is shown and trusted where a server is taken from it, and only there."""
    repo = make_repository(tmp_path / "repo")
    write(repo, {".mcp.json": '{"mcpServers": {}}\n'})
    without = here("trust", "--yes", cwd=repo, home=tmp_path)
    settings(tmp_path, '[mcp.servers.docs]\nimport_from = "claude"\n')
    done = here("trust", "--yes", cwd=repo, home=tmp_path)

    assert (2, 0) == (without.code, done.code)
    assert b'# .mcp.json\n  | {"mcpServers": {}}\n' == done.stdout
