"""One session of Claude Code with a stub model: it reaches no provider, and its answers run the canary's commands."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from upbeat.adapters.claude.canary import FAKE_API_KEY, run_canary, stub_response
from upbeat.adapters.claude.history import project_folder
from upbeat.adapters.doctor.canary import CanaryRun, canary_commands, empty_repository

CLIENT = Path(__file__).with_name("canary_client.txt").read_text(encoding="utf-8")


@pytest.fixture
def claude_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Claude Code's folder; its user has a provider and a session of their own."""
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path))
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "of-the-user")
    monkeypatch.setenv("CLAUDE_CODE_USE_BEDROCK", "1")
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "of-the-user")
    return tmp_path


def run(claude_home: Path, managed_settings: dict[str, Any] | None = None) -> CanaryRun:
    """The canary of a client that sends one request and reports that upbeat's server failed."""
    with empty_repository() as repository:
        program = claude_home / f"claude#{project_folder(str(repository))}"
        program.write_text(f"#!{sys.executable}\n{CLIENT}")
        program.chmod(0o755)
        return run_canary(str(program), repository, claude_home, managed_settings or {})


def test_a_session_reaches_only_the_stub(claude_home: Path) -> None:
    """The user's provider is neither in the environment nor in force by the settings, and no project is left."""
    canary = run(claude_home)
    settings, environment = json.loads((claude_home / "seen.json").read_text())

    assert ("", "plugin:upbeat:upbeat: failed", True) == (
        canary.problem,
        canary.server_problem,
        canary.is_first_session,
    )
    assert settings["ANTHROPIC_BASE_URL"].startswith("http://127.0.0.1:")
    assert ("", "") == (settings["ANTHROPIC_AUTH_TOKEN"], settings["CLAUDE_CODE_USE_BEDROCK"])
    assert FAKE_API_KEY == settings["ANTHROPIC_API_KEY"] == environment["ANTHROPIC_API_KEY"]
    assert "of-the-user" not in environment.values()
    assert "CLAUDE_CODE_USE_BEDROCK" not in environment
    assert [] == os.listdir(claude_home / "projects")


def test_a_client_that_knows_the_plugin_has_it_in_its_first_session(claude_home: Path) -> None:
    """Claude Code records the marketplaces that it has loaded."""
    (claude_home / "plugins").mkdir()
    (claude_home / "plugins/known_marketplaces.json").write_text('{"upbeat": {}}')

    assert not run(claude_home).is_first_session


def test_a_provider_of_the_administrator_is_left_alone(claude_home: Path) -> None:
    """Settings that the canary cannot override stop it before the client starts."""
    canary = run(claude_home, {"env": {"ANTHROPIC_BASE_URL": "https://proxy.example", "EDITOR": "vi"}})

    assert "your administrator's settings set the provider (ANTHROPIC_BASE_URL), so the probe was skipped" == (
        canary.problem
    )
    assert not (claude_home / "seen.json").exists()


def test_a_program_that_cannot_be_started_is_the_problem(claude_home: Path) -> None:
    """The problem is the system's message."""
    canary = run_canary(str(claude_home / "gone"), claude_home, claude_home, {})

    assert f"{claude_home / 'gone'}: No such file or directory" == canary.problem


@pytest.mark.parametrize("tools", [[{"name": "Bash"}], []])
def test_each_response_is_the_next_command(tools: list[dict[str, str]], tmp_path: Path) -> None:
    """After as many results as there are commands, or without a shell, the turn ends."""
    wanted = canary_commands(tmp_path) if tools else ()
    for done in range(len(canary_commands(tmp_path)) + 1):
        results = {"role": "user", "content": [{"type": "tool_result"}] * done}
        events = dict(stub_response({"messages": [results], "tools": tools}, tmp_path))
        delta, ending = events["content_block_delta"]["delta"], events["message_delta"]["delta"]["stop_reason"]

        command = json.loads(delta["partial_json"])["command"] if "partial_json" in delta else None
        assert (command, ending) == ((wanted[done], "tool_use") if done < len(wanted) else (None, "end_turn"))
