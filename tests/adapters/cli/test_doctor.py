"""``upbeat doctor`` as a command: its exit codes, its JSON, and that it asks nobody who is not there."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema_rs
from commands import Here

from upbeat.adapters.cli.schema import schema_text


def program(home: Path, name: str, line: str) -> None:
    """A client of that name on a search path of its own."""
    path = home / "bin" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{line}\n")
    path.chmod(0o755)


def test_no_client_has_upbeat(here: Here, tmp_path: Path) -> None:
    """Without clients there is nothing to check: that is said, how to change it, and the exit code is 5."""
    done = here("doctor", cwd=tmp_path, COLUMNS="500", PATH=str(tmp_path / "bin"))
    lines = done.stdout.decode().splitlines()

    assert (5, "") == (done.code, done.stderr)
    assert lines[0].startswith("upbeat is not installed in any client on your PATH.")
    assert ["Claude Code: client not found on PATH", "Codex: client not found on PATH"] == [lines[2], lines[4]]


def test_unverified(here: Here, tmp_path: Path) -> None:
    """Right after the installation nothing is wrong: it says what is not verified yet, and exits with 0."""
    program(tmp_path, "claude", 'echo "2.1.329 (Claude Code)"')
    here("install", "claude", "--yes", cwd=tmp_path, COLUMNS="500")
    done = here("doctor", "claude", cwd=tmp_path, COLUMNS="500", PATH=str(tmp_path / "bin"))
    report = done.stdout.decode()

    assert (0, "") == (done.code, done.stderr)
    assert report.startswith("INSTALLED: 6 of 6 hooks (Claude Code) are not verified yet;")
    assert "-> run upbeat doctor --probe, or run one turn in Claude Code and check again" in report
    assert "Codex" not in report


def test_action_needed(here: Here, tmp_path: Path) -> None:
    """Hooks that are switched off need the user: exit code 1."""
    program(tmp_path, "claude", 'echo "2.1.329 (Claude Code)"')
    here("install", "claude", "--yes", cwd=tmp_path, COLUMNS="500")
    settings = tmp_path / ".claude/settings.json"
    settings.write_text(settings.read_text().replace("{", '{"disableAllHooks": true,', 1))
    done = here("doctor", "claude", cwd=tmp_path, COLUMNS="500", PATH=str(tmp_path / "bin"))

    assert 1 == done.code
    assert done.stdout.decode().startswith("ACTION NEEDED: 6 of 6 hooks (Claude Code).\n")


def test_json(here: Here, tmp_path: Path) -> None:
    """One object that keeps to its schema, in English whatever the language."""
    program(tmp_path, "codex", "exit 1")
    done = here("doctor", "--json", cwd=tmp_path, COLUMNS="500", PATH=str(tmp_path / "bin"), LANG="zh_CN.UTF-8")
    report = json.loads(done.stdout)
    jsonschema_rs.validator_for(json.loads(schema_text("doctor"))).validate(report)

    assert (5, "active", "1.0") == (done.code, report["state"], report["schema_version"])
    assert ["client_not_found", "not_installed"] == [client["install_status"] for client in report["clients"]]
    assert "a local disk" in json.dumps(report["checks"])


def test_chinese(here: Here, tmp_path: Path) -> None:
    """People get their language."""
    done = here("doctor", cwd=tmp_path, COLUMNS="500", PATH=str(tmp_path / "bin"), LANG="zh_CN.UTF-8")

    assert done.stdout.decode().startswith("PATH 上的客户端都没有安装 upbeat")


def test_a_wrong_argument(here: Here, tmp_path: Path) -> None:
    """An unknown client is a usage error."""
    assert 2 == here("doctor", "emacs", cwd=tmp_path, COLUMNS="500").code


def test_a_client_of_the_repository_is_not_started(here: Here, tmp_path: Path) -> None:
    """A program that lies in the repository is nobody's Claude Code, wherever the search path leads."""
    home, repository = tmp_path / "home", tmp_path / "shop"
    home.mkdir()
    (repository / ".git").mkdir(parents=True)
    program(repository, "claude", f"touch {tmp_path}/started")
    here("install", "claude", "--yes", cwd=repository, home=home)
    done = here("doctor", "claude", cwd=repository, home=home, PATH=str(repository / "bin"))

    report = done.stdout.decode()
    assert "Claude Code: client not found on PATH\n  upbeat's plugin is installed for it\n" in report
    assert report.startswith("No hook was checked: upbeat is installed for Claude Code")
    assert not (tmp_path / "started").exists()


def test_invalid_settings_are_reported(here: Here, tmp_path: Path) -> None:
    """An error in the user's settings is printed with its line, the effect and the fix, also without a client."""
    settings = tmp_path / ".config/upbeat/auto-tools.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text('enabeld = "auto"\n')
    report = here("doctor", cwd=tmp_path, COLUMNS="500", PATH=str(tmp_path / "bin")).stdout.decode()

    problem = f"{settings}:1: unknown key 'enabeld'; did you mean 'enabled'?"
    assert f"! settings     the settings are invalid, so upbeat adds no context: {problem}" in report
    assert "-> correct the file at that line, then check again" in report
