"""Without ``/proc``, as on macOS, hooks answer and commands work; a namespace of its own hides it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from processes import SHIM, environment
from repositories import PROMPT, make_repository

HIDDEN = ["unshare", *(() if os.getuid() == 0 else ("--map-root-user", "--user")), "--mount", "sh", "-c"]
SCRIPT = 'mount -t tmpfs none /proc && [ ! -e /proc/self ] && exec "$@"'


def hidden(home: Path, cwd: Path, stdin: bytes, *words: str) -> subprocess.CompletedProcess[bytes]:
    """Run ``words`` where ``/proc`` is empty."""
    command = [*HIDDEN, SCRIPT, "sh", *words]
    return subprocess.run(command, input=stdin, capture_output=True, cwd=cwd, env=environment(home, {}), check=False)


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return make_repository(tmp_path / "repo").resolve()


def test_hooks_answer(tmp_path: Path, repo: Path) -> None:
    """A prompt gets its context, and a destructive command is denied."""
    shim = (sys.executable, "-I", "-S", str(SHIM), "claude-code")
    event = {"session_id": "s", "cwd": str(repo)}
    prompt = event | {"hook_event_name": "UserPromptSubmit", "prompt": PROMPT}
    call = event | {
        "hook_event_name": "PreToolUse",
        "tool_name": "Bash",
        "tool_use_id": "t",
        "tool_input": {"command": "rm -rf ~"},
    }
    answers = [json.loads(hidden(tmp_path, repo, json.dumps(each).encode(), *shim).stdout) for each in (prompt, call)]

    assert answers[0]["hookSpecificOutput"]["additionalContext"]
    assert "deny" == answers[1]["hookSpecificOutput"]["permissionDecision"]


COMMANDS = (
    *("status", "log", "config list", "off", "on", "data list", "index"),
    'tools call ci_search --args {"query":"total_price"}',
)


@pytest.mark.parametrize("words", COMMANDS)
def test_commands_work(tmp_path: Path, repo: Path, words: str) -> None:
    """Each does what it does elsewhere."""
    done = hidden(tmp_path, repo, b"", sys.executable, "-I", "-m", "upbeat", *words.split())

    assert (0, b"") == (done.returncode, done.stderr)
    assert done.stdout
