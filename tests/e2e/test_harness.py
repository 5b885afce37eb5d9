"""The harness: what a bare client prints and the model receives, and that a command neither leaks nor lingers."""

from __future__ import annotations

import json
import subprocess

import pytest

from .received import Said
from .runs import Finished, run
from .sample_repository import ENV_SECRET, KEY_SECRET
from .sandbox import Sandbox
from .terminal import CTRL_C, CTRL_D, ESCAPE, Terminal
from .workflow_sessions import CLAUDES

PROMPT = "What does the shop sell? 店"
CODEX = ["codex", "exec", "--json", "-"]


def assert_fenced_in(done: Finished | Terminal) -> None:
    """Nothing but loopback was there, and nothing outlived the command."""
    assert ["lo"] == done.launch.interfaces()
    assert [] == done.launch.left_behind()


@pytest.mark.parametrize("client", CLAUDES)
def test_claude_prints_what_the_stub_answers(sandbox: Sandbox, client: str) -> None:
    """``claude -p`` sends the prompt once and prints the stub's answer."""
    done = run(sandbox, [client, "-p"], stdin=PROMPT)

    assert (0, "Stub answer 1.\n", "") == (done.exit_code, done.stdout, done.stderr)
    assert [[Said("user", "text", PROMPT)]] == [turn.texts_with(PROMPT) for turn in done.turns]
    assert_fenced_in(done)


def test_codex_prints_what_the_stub_answers(sandbox: Sandbox) -> None:
    """``codex exec`` sends the prompt once and reports the stub's answer."""
    done = run(sandbox, CODEX, stdin=PROMPT)

    message = {"id": "item_0", "type": "agent_message", "text": "Stub answer 1."}
    assert 0 == done.exit_code
    assert [message] == [line["item"] for line in done.json_lines() if line["type"] == "item.completed"]
    assert [[Said("user", "message", PROMPT)]] == [turn.texts_with(PROMPT) for turn in done.turns]
    assert_fenced_in(done)


def test_a_scripted_error_fails_the_turn(sandbox: Sandbox) -> None:
    """A scripted HTTP error reaches the client."""
    error = {"error": 400, "body": {"error": {"message": "no such thing"}}}
    done = run(sandbox, CODEX, stdin=PROMPT, script=[{"reply": [error]}])

    assert (1, "turn.failed") == (done.exit_code, done.json_lines()[-1]["type"])


def test_a_turn_can_be_interrupted_at_the_keyboard(sandbox: Sandbox) -> None:
    """Escape leaves an answer that hangs: the client hangs up, and takes the next prompt."""
    hanging = [{"text": "half a sen"}, {"wait": 60}, {"text": "tence"}]
    with Terminal(sandbox, ["codex", "--no-daemon"], [{"when": "hang", "reply": hanging}]) as terminal:
        terminal.wait_for("Ask Codex")
        terminal.submit("hang")
        terminal.wait_for("half a sen")
        terminal.send(ESCAPE)
        terminal.submit("go on")
        terminal.wait_for("Stub answer 2.")
        terminal.send(CTRL_D)
        terminal.wait_for_exit()

    assert [True, False] == [turn.hung_up_at is not None for turn in terminal.launch.turns()]
    assert_fenced_in(terminal)


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
