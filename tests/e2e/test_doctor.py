"""``upbeat doctor`` with the real clients: active after installation and trust, inactive with each thing in the way."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from .codex_trust import trust_all_hooks
from .runs import Finished, run
from .sandbox import Sandbox
from .terminal import ENTER, Terminal
from .workflow_sessions import install

PLUGIN = "upbeat@upbeat"
HOOK_POINTS = {"start", "turns", "calls", "results", "agents", "end"}
OF_CODEX = ("codex-cli", "codex-auto")


def ask_doctor(sandbox: Sandbox, *arguments: str, **env: str) -> tuple[Finished, dict[str, Any]]:
    """``upbeat doctor --json``: how it ended, and what it said."""
    done = run(sandbox, ["upbeat", "doctor", "--json", *arguments], env=env)
    assert done.exit_code in (0, 1, 5), done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    assert (done.exit_code == 1) is (report["state"] == "action_needed")
    return done, report


def inactive_points(report: dict[str, Any], client: str) -> dict[str, set[str]]:
    """The hook points of ``client`` that are inactive, with the reasons."""
    [one] = [one for one in report["clients"] if one["client"] == client]
    return {
        hook_point["hook_point"]: {reason["reason"] for reason in hook_point["reasons"]}
        for hook_point in one["hook_points"]
        if not hook_point["active"]
    }


def every(reason: str, *hook_points: str) -> dict[str, set[str]]:
    """``reason`` for each of ``hook_points``, or of all."""
    return {hook_point: {reason} for hook_point in hook_points or HOOK_POINTS}


def proofs(report: dict[str, Any], client: str) -> dict[str, str]:
    """How it is known of each active hook point."""
    [one] = [one for one in report["clients"] if one["client"] == client]
    return {
        hook_point["hook_point"]: hook_point["proof"]["kind"]
        for hook_point in one["hook_points"]
        if hook_point["active"]
    }


BY_CANARY = dict.fromkeys(HOOK_POINTS - {"agents"}, "canary") | {"agents": "inferred"}


def test_an_installation_at_a_terminal_ends_with_a_proof(sandbox: Sandbox) -> None:
    """Whoever installs at a terminal is asked for the probe, and sees that it works."""
    with Terminal(sandbox, ["upbeat", "install", "claude"]) as terminal:
        terminal.wait_for("(status line)? [y/N]")
        terminal.send("n" + ENTER)
        terminal.wait_for("files? [y/N]")
        terminal.send("y" + ENTER)
        terminal.wait_for("Verify the hooks now?")
        terminal.send(ENTER)
        terminal.wait_for("ACTIVE: every hook of Claude Code.")


@pytest.mark.parametrize("program", ["claude", "claude-oldest"])
def test_claude_code_is_active(sandbox: Sandbox, program: str) -> None:
    """After the installation nothing is proved; the canary proves it without a provider, and leaves only its record."""
    (sandbox.bin / program).rename(sandbox.bin / "claude")
    install(sandbox, "claude")
    _, before = ask_doctor(sandbox, "claude")
    done, probed = ask_doctor(sandbox, "claude", "--probe")
    _, after = ask_doctor(sandbox, "claude")

    assert every("unproven") == inactive_points(before, "claude-code")
    assert ({}, BY_CANARY) == (inactive_points(probed, "claude-code"), proofs(probed, "claude-code"))
    assert {"session"} == set(proofs(after, "claude-code").values()) - {"inferred"}
    assert ([], []) == (done.requests, done.launch.left_behind())
    assert "starts" in done.stderr
    assert [] == [*(sandbox.home / ".claude" / "projects").glob("*canary*")]
    assert [] == [*(sandbox.home / ".local/state/upbeat/index").glob("*/index.db")]
    assert [] == [*sandbox.tmp.glob("upbeat-*")]


def test_codex_is_active_once_its_user_trusts_the_hooks(sandbox: Sandbox) -> None:
    """Untrusted hooks are inactive, also after a canary; trusted ones are active, and only the user writes trust."""
    install(sandbox, "codex")
    config = sandbox.codex_home / "config.toml"
    settings = config.read_text()
    _, untrusted = ask_doctor(sandbox, "codex", "--probe")
    unwritten = config.read_text() == settings
    trust_all_hooks(sandbox)
    done, trusted = ask_doctor(sandbox, "codex", "--probe")

    assert every("untrusted") == inactive_points(untrusted, "codex-cli")
    assert every("untrusted", "calls", "results", "agents") == inactive_points(untrusted, "codex-auto")
    assert unwritten
    assert [{}, {}] == [inactive_points(trusted, client) for client in OF_CODEX]
    assert BY_CANARY == proofs(trusted, "codex-cli")
    assert ([], []) == (done.requests, done.launch.left_behind())
    assert [] == [*(sandbox.codex_home / "sessions").rglob("*.jsonl")]


def test_a_changed_hook_has_lost_its_trust(sandbox: Sandbox) -> None:
    """A hook that was edited after it was trusted is inactive; restored, it is active again."""
    install(sandbox, "codex")
    trust_all_hooks(sandbox)
    [hooks] = (sandbox.codex_home / "plugins/cache").rglob("hooks.json")
    text = hooks.read_text()
    hooks.write_text(text.replace('"timeout": 3', '"timeout": 2'))
    done, changed = ask_doctor(sandbox, "codex", "--probe")
    hooks.write_text(text)
    _, fixed = ask_doctor(sandbox, "codex", "--probe")

    assert HOOK_POINTS == set(inactive_points(changed, "codex-cli"))
    assert all("trust_changed" in reasons for reasons in inactive_points(changed, "codex-cli").values())
    assert 1 == done.exit_code
    assert {} == inactive_points(fixed, "codex-cli")


def test_codex_without_hooks(sandbox: Sandbox) -> None:
    """Hooks that are switched off in Codex's own settings are inactive."""
    install(sandbox, "codex")
    trust_all_hooks(sandbox)
    config = sandbox.codex_home / "config.toml"
    config.write_text(config.read_text().replace("[features]\n", "[features]\nhooks = false\n"))
    _, report = ask_doctor(sandbox, "codex", "--probe")

    assert HOOK_POINTS == set(inactive_points(report, "codex-cli"))
    assert all("hooks_disabled" in reasons for reasons in inactive_points(report, "codex-cli").values())


def _settings(sandbox: Sandbox, **more: Any) -> None:
    path = sandbox.home / ".claude/settings.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | more))


def _break_server(sandbox: Sandbox) -> None:
    [path] = (sandbox.home / ".local/share/upbeat/claude").rglob(".mcp.json")
    server = json.loads(path.read_text())
    server["mcpServers"]["upbeat"]["args"] = ["-c", "raise SystemExit('no such server')"]
    path.write_text(json.dumps(server))


def _lose_interpreter(sandbox: Sandbox) -> None:
    plugin = sandbox.home / ".local/share/upbeat/claude/plugins/upbeat"
    for path in (plugin / ".mcp.json", plugin / "hooks/hooks.json"):
        text = path.read_text()
        path.write_text(text.replace('/bin/python"', '/bin/python-gone"').replace("/bin/python ", "/bin/python-gone "))


def _lose_plugin(sandbox: Sandbox) -> None:
    (sandbox.home / ".local/share/upbeat/claude").rename(sandbox.home / "moved")


@pytest.mark.parametrize(("name", "counts"), [("settings.json", False), ("settings.local.json", True)])
def test_of_the_repository_only_local_settings_count_in_a_subfolder(sandbox: Sandbox, name: str, counts: bool) -> None:
    """Claude Code and the doctor agree on which settings are in force: hooks arrive, or are said to be off."""
    install(sandbox, "claude")
    (sandbox.repository / ".claude").mkdir()
    (sandbox.repository / ".claude" / name).write_text('{"disableAllHooks": true}')
    (sandbox.repository / "sub").mkdir()
    done = run(sandbox, ["sh", "-c", "cd sub && claude -p hello >/dev/null; upbeat doctor claude --json"])
    inactive = inactive_points(json.loads(done.stdout), "claude-code")
    log = run(sandbox, ["upbeat", "log"])

    assert counts is (every("hooks_disabled") == inactive)
    assert counts is ("turns" in inactive)
    assert counts is ("“hello”" not in log.stdout)


OBSTACLES: dict[str, tuple[Callable[[Sandbox], None], str]] = {
    "hooks off": (lambda sandbox: _settings(sandbox, disableAllHooks=True), "hooks_disabled"),
    "plugin off": (lambda sandbox: _settings(sandbox, enabledPlugins={PLUGIN: False}), "plugin_disabled"),
    "server that cannot start": (_break_server, "server_not_connected"),
    "interpreter gone": (_lose_interpreter, "program_missing"),
    "plugin moved": (_lose_plugin, "plugin_missing"),
}


@pytest.mark.parametrize("name", OBSTACLES)
def test_claude_code_is_inactive(sandbox: Sandbox, name: str) -> None:
    """With each obstacle nothing is active, the reason is reported, and the canary agrees: no hook arrives."""
    put, reason = OBSTACLES[name]
    install(sandbox, "claude")
    put(sandbox)
    done, report = ask_doctor(sandbox, "claude", "--probe")

    assert HOOK_POINTS == set(inactive_points(report, "claude-code"))
    assert all(reason in reasons for reasons in inactive_points(report, "claude-code").values())
    assert {"calls", "turns", "end"}.isdisjoint(report["clients"][0]["canary"]["seen"])
    assert (1, [], []) == (done.exit_code, done.requests, done.launch.left_behind())


def test_settings_that_name_a_provider_do_not_mislead_the_canary(sandbox: Sandbox) -> None:
    """A provider in the user's own settings is not asked: the canary goes to its stub."""
    install(sandbox, "claude")
    _settings(sandbox, env={"ANTHROPIC_BASE_URL": "http://127.0.0.1:8765", "ANTHROPIC_API_KEY": "sk-ant-of-the-user"})
    done, report = ask_doctor(sandbox, "claude", "--probe")

    assert ({}, []) == (inactive_points(report, "claude-code"), done.requests)


def test_clients_without_upbeat_are_named(sandbox: Sandbox) -> None:
    """There is nothing to check."""
    done = run(sandbox, ["upbeat", "doctor"])

    assert 5 == done.exit_code
    assert done.stdout.startswith("upbeat is not installed in any client")
    assert "upbeat install codex" in done.stdout
