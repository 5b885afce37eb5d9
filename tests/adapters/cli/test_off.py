"""``upbeat off`` and ``upbeat on``: one switch for each repository, in the user's own file."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from commands import Here
from repositories import PROMPT, git, make_repository, write

USER_FILE = ".config/upbeat/auto-tools.toml"
EVENT = {
    "hook_event_name": "UserPromptSubmit",
    "session_id": "s",
    "prompt": PROMPT,
}


def fed(stdin: dict[str, str], *words: str, home: Path, **variables: str) -> bytes:
    """The output of ``upbeat WORDS`` with ``stdin``, in a process of its own."""
    env = {"HOME": str(home), "LANG": "C.UTF-8", "PATH": os.defpath} | variables
    command = [sys.executable, "-I", "-m", "upbeat", *words]
    return subprocess.run(command, input=json.dumps(stdin).encode(), capture_output=True, env=env, check=True).stdout


def hook_output(home: Path, cwd: Path) -> bytes:
    """What the model of a client in ``cwd`` gets with a prompt about code."""
    return fed(EVENT | {"cwd": str(cwd)}, "hook", "claude-code", home=home)


def test_off_is_for_this_repository_only(here: Here, home: Path, repo: Path, tmp_path: Path) -> None:
    """Hooks answer nothing in it and below, and as before elsewhere; comments of the user's file stay."""
    other = make_repository(tmp_path / "other").resolve()
    write(home, {USER_FILE: '# mine\nmode = "run"\n'})
    before = hook_output(home, repo)
    assert 0 == here("off", cwd=repo, home=home).code
    assert 0 == here("off", cwd=repo, home=home).code

    assert f'# mine\nmode = "run"\n\n[off]\nrepositories = ["{repo}"]\n' == (home / USER_FILE).read_text()
    assert before
    assert b"" == hook_output(home, repo)
    assert hook_output(home, other)
    assert 0 == here("on", cwd=repo, home=home).code
    assert '# mine\nmode = "run"\n' == (home / USER_FILE).read_text().rstrip() + "\n"
    assert hook_output(home, repo)


def test_linked_worktrees_follow(here: Here, home: Path, repo: Path, tmp_path: Path) -> None:
    """A linked worktree belongs to its repository, wherever it is and wherever the switch is used."""
    git(repo, "worktree", "add", "-q", str(tmp_path / "linked"))
    assert 0 == here("off", cwd=tmp_path / "linked", home=home).code

    assert b"[]" not in (home / USER_FILE).read_bytes()
    assert [str(repo)] == json.loads(here("config", "get", "off.repositories", "--json", cwd=repo, home=home).stdout)[
        "value"
    ]
    for folder in (repo, tmp_path / "linked"):
        row = json.loads(here("config", "get", "enabled", "--json", cwd=folder, home=home).stdout)
        assert ("off", f"{home / USER_FILE}:2, by `upbeat off`") == (row["value"], row["origin"])


def test_neither_the_project_nor_the_environment_takes_precedence(here: Here, home: Path, repo: Path) -> None:
    """The user's switch counts more than any layer of settings, and a project cannot set it for others."""
    write(repo, {"config/auto-tools.toml": 'enabled = "on"\n[off]\nrepositories = ["/"]\n'})
    assert b"auto\n" == here("config", "get", "enabled", cwd=repo, home=home).stdout
    here("off", cwd=repo, home=home)

    assert b"off\n" == here("config", "get", "enabled", cwd=repo, home=home, CI_AUTO_TOOLS="on").stdout


def test_status_and_the_status_line_say_so(here: Here, home: Path, repo: Path) -> None:
    """Status names the file; the line below the prompt says how to end it, in the user's language."""
    here("off", cwd=repo, home=home)
    status = here("status", cwd=repo, home=home).stdout.decode()
    document = json.loads(here("status", "--json", cwd=repo, home=home).stdout)
    stdin = {"session_id": "s", "cwd": str(repo)}

    assert status.startswith(f"upbeat is off here: {home / USER_FILE}:2, by `upbeat off`\n")
    assert f"{home / USER_FILE}:2, by `upbeat off`" == document["disabled_by"]
    assert "upbeat · off here (upbeat on)\n" == fed(stdin, "statusline", home=home).decode()
    assert "在此仓库已关闭" in fed(stdin, "statusline", home=home, LANG="zh_CN.UTF-8").decode()


@pytest.mark.parametrize("command", ["off", "on"])
def test_an_agent_cannot_use_it(here: Here, home: Path, repo: Path, command: str) -> None:
    """The choice is the user's."""
    done = here(command, cwd=repo, home=home, CLAUDECODE="1", CLAUDE_CODE_SESSION_ID="s")

    assert (1, True) == (done.code, "is the user's to run" in done.stderr)
    assert not (home / USER_FILE).exists()
