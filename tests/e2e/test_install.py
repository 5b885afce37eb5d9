"""What ``upbeat install`` writes, the real clients load; what ``upbeat uninstall`` removes, they know nothing of."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from processes import read_log

from upbeat.adapters.claude import install as claude
from upbeat.adapters.clients.registry import CLIENT_BY_CLI_NAME
from upbeat.adapters.codex import install as codex

from .codex_trust import hook_statuses, trust_all_hooks
from .received import OPENING
from .runs import Finished, run
from .sandbox import Sandbox
from .workflow_sessions import CLAUDES

QUESTION = "where does total_price apply the discount, and where is save_order?"
SERVER = "plugin:upbeat:upbeat"
LOGS = (".cache", "claude-cli-nodejs")


def upbeat(sandbox: Sandbox, *arguments: str) -> str:
    """Run ``upbeat``, which does not fail; what it prints."""
    done = run(sandbox, ["upbeat", *arguments])
    assert (0, "") == (done.exit_code, done.stderr), done.stdout
    return done.stdout


def ask_claude(sandbox: Sandbox, client: str) -> tuple[dict[str, Any], int]:
    """One headless turn: the event that tells what was loaded, and how many blocks of ours the model got."""
    done = run(sandbox, [client, "-p", QUESTION, "--output-format", "stream-json", "--verbose"])
    assert 0 == done.exit_code, done.stderr
    [loaded] = [event for event in done.json_lines() if event.get("subtype") == "init"]
    return loaded, sum(turn.count(OPENING) for turn in done.turns)


def names(loaded: dict[str, Any]) -> list[str]:
    """The plugins that were loaded, but for those that the client itself brings."""
    return [plugin["name"] for plugin in loaded["plugins"] if not plugin["name"].startswith("cc-plugin-")]


def ask_codex(sandbox: Sandbox, *flags: str) -> Finished:
    return run(sandbox, ["codex", "exec", "--json", *flags, "-"], stdin=QUESTION)


def blocks(done: Finished) -> int:
    """How many blocks of ours the model got."""
    return sum(turn.count(OPENING) for turn in done.turns)


def of_ours(folder: Path) -> list[str]:
    """Every path below ``folder`` that bears our name, but for what we remember of sessions, and the client's logs."""
    paths = (path.relative_to(folder) for path in folder.rglob("*upbeat*"))
    return sorted(str(path) for path in paths if path.parts[:2] not in ((".local", "state"), LOGS))


@pytest.mark.parametrize("client", CLAUDES)
def test_claude_loads_it(sandbox: Sandbox, client: str) -> None:
    """With nothing but what was written its hooks fire and its server is connected; removed, nothing is loaded and
    the settings are byte-identical."""
    ask_claude(sandbox, client)  # it puts what it wants to into its settings
    settings = sandbox.home / ".claude" / "settings.json"
    before = settings.read_bytes()
    upbeat(sandbox, "install", "claude", "--yes")
    if client == "claude-oldest":
        ask_claude(sandbox, client)
    loaded, prepared = ask_claude(sandbox, client)
    events = {record["event"] for record in read_log(sandbox.home)}

    assert (["upbeat"], 1) == (names(loaded), prepared)
    assert {"SessionStarted", "PromptSubmitted", "TurnEnding"} <= events
    assert [SERVER] == [server["name"] for server in loaded["mcp_servers"] if server["status"] != "failed"]

    upbeat(sandbox, "uninstall", "claude", "--yes")
    recorded = len(read_log(sandbox.home))
    loaded, prepared = ask_claude(sandbox, client)
    assert (before, [], 0, []) == (settings.read_bytes(), names(loaded), prepared, loaded["mcp_servers"])
    assert recorded == len(read_log(sandbox.home))
    assert [] == [path for path in of_ours(sandbox.home) if not path.startswith(".claude/plugins/")]
    for step in CLIENT_BY_CLI_NAME["claude"].steps_after_uninstall():
        assert 0 == run(sandbox, ["sh", "-c", step.partition(": ")[2].replace("claude", client, 1)]).exit_code
    assert "upbeat" not in (sandbox.home / ".claude/plugins/known_marketplaces.json").read_text(encoding="utf-8")


def test_codex_loads_it(sandbox: Sandbox) -> None:
    """With nothing but what was written, and its user's trust, its hooks fire and its server is there; removed,
    trust and all, nothing is loaded and the settings are byte-identical."""
    settings = sandbox.codex_home / "config.toml"
    before = settings.read_bytes()
    upbeat(sandbox, "install", "codex", "--yes")
    statuses = hook_statuses(sandbox)
    untrusted = ask_codex(sandbox)
    assert {"trusted"} == set(trust_all_hooks(sandbox).values())
    trusted = ask_codex(sandbox)

    assert ({"untrusted"}, 0, 1) == (set(statuses.values()), blocks(untrusted), blocks(trusted))
    assert ["upbeat"] == listed(sandbox, "mcp", "list")
    assert "PromptSubmitted" in {record["event"] for record in read_log(sandbox.home)}

    upbeat(sandbox, "uninstall", "codex", "--yes")
    recorded = len(read_log(sandbox.home))
    assert (before, 0) == (settings.read_bytes(), blocks(ask_codex(sandbox, "--dangerously-bypass-hook-trust")))
    assert ([], {}) == (listed(sandbox, "mcp", "list"), hook_statuses(sandbox))
    assert ([], []) == (of_ours(sandbox.home), of_ours(sandbox.codex_home))
    assert recorded == len(read_log(sandbox.home))


def listed(sandbox: Sandbox, *command: str) -> list[str]:
    """The names in a list of Codex's."""
    entries = json.loads(run(sandbox, ["codex", *command, "--json"]).stdout)
    return [entry["name"] for entry in entries]


def older_release(sandbox: Sandbox, client: Any, name: str, *steps: str) -> Path:
    """What release 0.1.0 did: the plugin in our folder, and the client's own commands run by its user."""
    folder = sandbox.home / ".local/share/upbeat" / name
    for file, data in client.plugin_layout("mcp").marketplace_files().items():
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_bytes(data)
    for step in steps:
        done = run(sandbox, ["sh", "-c", step.format(folder=folder)])
        assert 0 == done.exit_code, done.stderr
    return folder


def test_an_upgrade_of_codex_keeps_trust_and_state(sandbox: Sandbox) -> None:
    """Over an installation that was made with Codex's own commands the hooks stay trusted, and the journal stays."""
    before = (sandbox.codex_home / "config.toml").read_bytes()
    copied = 'mkdir -p "$CODEX_HOME/agents" && cp {folder}/plugins/upbeat/roles/*.toml "$CODEX_HOME/agents"'
    steps = ("codex plugin marketplace add {folder}", "codex plugin add upbeat@upbeat", copied)
    older_release(sandbox, codex, "codex", *steps)
    trust_all_hooks(sandbox)
    assert 1 == blocks(ask_codex(sandbox))
    config, records = (sandbox.codex_home / "config.toml").read_bytes(), read_log(sandbox.home)
    upbeat(sandbox, "install", "codex", "--yes")

    assert {"trusted"} == set(hook_statuses(sandbox).values())
    assert 1 == blocks(ask_codex(sandbox))
    assert config == (sandbox.codex_home / "config.toml").read_bytes()
    assert records == read_log(sandbox.home)[: len(records)]
    assert "already installed and up to date" in upbeat(sandbox, "install", "codex")

    upbeat(sandbox, "uninstall", "codex", "--yes")
    assert ([], []) == (of_ours(sandbox.home), of_ours(sandbox.codex_home))
    assert before == (sandbox.codex_home / "config.toml").read_bytes().partition(b"\n[hooks.state]")[0]


def test_an_upgrade_that_changes_hooks_is_reviewed(sandbox: Sandbox) -> None:
    """Where a file of the plugin changes, Codex asks its user to review it: upbeat never grants that trust."""
    upbeat(sandbox, "install", "codex", "--yes")
    trust_all_hooks(sandbox)
    output = upbeat(sandbox, "install", "codex", "--yes", "--route", "command")

    assert "review its hooks" in output
    assert {"modified"} >= {status for status in hook_statuses(sandbox).values() if status != "untrusted"}


@pytest.mark.parametrize("client", CLAUDES)
def test_an_upgrade_of_claude(sandbox: Sandbox, client: str) -> None:
    """Over an installation that was made with Claude Code's own commands the plugin works on, and can be removed."""
    steps = (f"{client} plugin marketplace add {{folder}}", f"{client} plugin install upbeat@upbeat")
    older_release(sandbox, claude, "claude", *steps)
    settings = (sandbox.home / ".claude/settings.json").read_bytes()
    upbeat(sandbox, "install", "claude", "--yes")
    loaded, prepared = ask_claude(sandbox, client)

    assert (["upbeat"], 1) == (names(loaded), prepared)
    assert settings == (sandbox.home / ".claude/settings.json").read_bytes()
    upbeat(sandbox, "uninstall", "claude", "--yes")
    loaded, prepared = ask_claude(sandbox, client)
    assert ([], 0) == (names(loaded), prepared)
