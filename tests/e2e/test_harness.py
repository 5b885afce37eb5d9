"""The harness: what a bare client prints and the model receives, and that a command neither leaks nor lingers."""

from __future__ import annotations

import json
import subprocess

import pytest

from .runs import Finished, run
from .sample_repository import ENV_SECRET, KEY_SECRET
from .sandbox import Sandbox
from .terminal import CTRL_C, Terminal


def assert_fenced_in(done: Finished | Terminal) -> None:
    """Nothing but loopback was there, and nothing outlived the command."""
    assert ["lo"] == done.launch.interfaces()
    assert [] == done.launch.left_behind()


def test_ctrl_c_reaches_the_program_and_not_the_launcher(sandbox: Sandbox) -> None:
    """The command is the foreground of its terminal: Ctrl-C ends it, and the launcher still reports."""
    with Terminal(sandbox, ["sh", "-c", "echo ready; sleep 60"]) as terminal:
        terminal.wait_for("ready")
        terminal.send(CTRL_C)
        assert 130 == terminal.wait_for_exit()

    assert_fenced_in(terminal)


def test_a_command_gets_the_sandbox_and_nothing_else(sandbox: Sandbox) -> None:
    """The command's whole environment is the sandbox's, and it starts in the sample repository."""
    show = "import json, os; print(json.dumps([dict(os.environ), os.getcwd()]))"
    done = run(sandbox, ["python3", "-c", show], env={"EXTRA": "1"})

    assert [sandbox.environment(EXTRA="1"), str(sandbox.repository)] == json.loads(done.stdout)


def test_a_command_cannot_leave_the_namespace(sandbox: Sandbox) -> None:
    """Outside addresses are unreachable."""
    done = run(sandbox, ["python3", "-c", "import socket; socket.create_connection(('192.0.2.1', 443), 5)"])

    assert "Network is unreachable" in done.stderr


def test_a_process_that_is_left_behind_is_named_and_ended(sandbox: Sandbox) -> None:
    """A process that outlives its command is in the report, and does not outlive the launcher."""
    done = run(sandbox, ["sh", "-c", "setsid sleep 987.5 > /dev/null 2>&1 &"])

    assert [["sleep", "987.5"]] == done.launch.left_behind()
    assert b"" == subprocess.run(["pgrep", "-f", "^sleep 987.5$"], capture_output=True).stdout


def test_a_command_that_takes_too_long_is_ended(sandbox: Sandbox) -> None:
    """A run that does not end in time raises, and ends even what ignores the request to end."""
    stubborn = "trap '' TERM; sleep 986.5 & wait; sleep 986.5"
    with pytest.raises(subprocess.TimeoutExpired):
        run(sandbox, ["sh", "-c", stubborn], timeout=1)

    assert b"" == subprocess.run(["pgrep", "-f", "^sleep 986.5$"], capture_output=True).stdout


def test_the_sample_repository_contains_secrets(sandbox: Sandbox) -> None:
    """One secret is in an ignored file, the other in a committed comment, and git has nothing to commit."""
    status = subprocess.run(["git", "status", "--porcelain"], cwd=sandbox.repository, capture_output=True)
    matches = subprocess.run(["git", "grep", "-c", KEY_SECRET], cwd=sandbox.repository, capture_output=True, text=True)

    assert (b"", "shop/storage.py:1\n") == (status.stdout, matches.stdout)
    assert f"PAYMENT_API_KEY={ENV_SECRET}\n" == (sandbox.repository / ".env").read_text()
