"""The harness, proved on the bare clients: what they print, what the model got, and that nothing leaks or lingers."""

from __future__ import annotations

import json
import subprocess

import pytest

from .codex_trust import trust_all_hooks
from .received import Said
from .runs import Finished, run
from .sample_repository import ENV_SECRET, KEY_SECRET
from .sandbox import Sandbox
from .terminal import CTRL_C, CTRL_D, ESCAPE, Terminal

PROMPT = "What does the shop sell? 店"
CLAUDE = ["claude", "claude-oldest"]
CODEX_ITEMS = {"turn.started", "item.completed", "turn.failed"}


def assert_fenced_in(done: Finished | Terminal) -> None:
    """Nothing but loopback was there, and nothing outlived the command."""
    assert done.launch.interfaces() == ["lo"]
    assert done.launch.left_behind() == []


def items(done: Finished) -> list[object]:
    """What ``codex exec --json`` reported, without ids and counts."""
    return [line.get("item", line["type"]) for line in done.json_lines() if line["type"] in CODEX_ITEMS]


@pytest.mark.parametrize("client", CLAUDE)
def test_claude_prints_what_the_stub_answers(sandbox: Sandbox, client: str) -> None:
    """``claude -p`` sends the prompt once and prints the stub's answer."""
    done = run(sandbox, [client, "-p"], stdin=PROMPT)

    assert (done.exit_code, done.stdout, done.stderr) == (0, "Stub answer 1.\n", "")
    assert [turn.texts_with(PROMPT) for turn in done.turns] == [[Said("user", "text", PROMPT)]]
    assert_fenced_in(done)


def test_codex_prints_what_the_stub_answers(sandbox: Sandbox) -> None:
    """``codex exec`` with the prompt on standard input sends it once and reports the stub's answer."""
    done = run(sandbox, ["codex", "exec", "--json", "-"], stdin=PROMPT)

    assert done.exit_code == 0
    assert items(done) == ["turn.started", {"id": "item_0", "type": "agent_message", "text": "Stub answer 1."}]
    assert [turn.texts_with(PROMPT) for turn in done.turns] == [[Said("user", "message", PROMPT)]]
    assert_fenced_in(done)


def test_codex_resumes_the_same_thread(sandbox: Sandbox) -> None:
    """``codex exec resume`` keeps the thread, and the model gets both prompts and the first answer, each once."""
    first = run(sandbox, ["codex", "exec", "--json", "-"], stdin="first words")
    thread = first.json_lines()[0]["thread_id"]

    second = run(sandbox, ["codex", "exec", "--json", "resume", thread, "-"], stdin="second words")

    assert second.json_lines()[0] == {"type": "thread.started", "thread_id": thread}
    [turn] = second.turns
    assert [turn.count(text) for text in ("first words", "Stub answer 1.", "second words")] == [1, 1, 1]
    assert_fenced_in(second)


@pytest.mark.parametrize("client", CLAUDE)
def test_claude_in_a_terminal(sandbox: Sandbox, client: str) -> None:
    """The terminal program shows the stub's answer, sends the prompt once, and is gone after Ctrl-C twice."""
    with Terminal(sandbox, [client]) as terminal:
        terminal.wait_for("❯")
        terminal.submit(PROMPT)
        terminal.wait_for("Stub answer 1.")
        terminal.send(CTRL_C)
        terminal.send(CTRL_C)
        assert terminal.wait_for_exit() == 0

    assert [turn.texts_with(PROMPT) for turn in terminal.launch.turns()] == [[Said("user", "text", PROMPT)]]
    assert_fenced_in(terminal)


def test_codex_in_a_terminal(sandbox: Sandbox) -> None:
    """The terminal program shows the stub's answer, sends the prompt once, and is gone after Ctrl-D."""
    with Terminal(sandbox, ["codex", "--no-daemon"]) as terminal:
        terminal.wait_for("Ask Codex")
        terminal.submit(PROMPT)
        terminal.wait_for("Stub answer 1.")
        terminal.send(CTRL_D)
        assert terminal.wait_for_exit() == 0

    assert [turn.texts_with(PROMPT) for turn in terminal.launch.turns()] == [[Said("user", "message", PROMPT)]]
    assert_fenced_in(terminal)


def test_a_turn_can_be_interrupted_at_the_keyboard(sandbox: Sandbox) -> None:
    """An answer that hangs is left by Escape: the client hangs up, and takes the next prompt."""
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

    assert [turn.hung_up_at is not None for turn in terminal.launch.turns()] == [True, False]
    assert_fenced_in(terminal)


def test_ctrl_c_reaches_the_program_and_not_the_launcher(sandbox: Sandbox) -> None:
    """The command is the foreground of its terminal: Ctrl-C ends it, and the launcher still reports."""
    with Terminal(sandbox, ["sh", "-c", "echo ready; sleep 60"]) as terminal:
        terminal.wait_for("ready")
        terminal.send(CTRL_C)
        assert terminal.wait_for_exit() == 130

    assert_fenced_in(terminal)


@pytest.mark.parametrize("client", CLAUDE)
def test_claude_runs_a_scripted_tool_call(sandbox: Sandbox, client: str) -> None:
    """A scripted tool call is carried out, and its output comes back in the next request."""
    call = {"tool": "Bash", "input": {"command": "printf '%s' re-sult", "description": "print"}}

    done = run(sandbox, [client, "-p", "--allowedTools", "Bash"], stdin=PROMPT, script=[{"reply": [call]}])

    assert done.stdout == "Stub answer 2.\n"
    assert done.turns[1].texts_with("re-sult")[-1] == Said("user", "tool_result", "re-sult")


def test_codex_runs_a_scripted_tool_call(sandbox: Sandbox) -> None:
    """A scripted tool call is carried out, and its output comes back in the next request."""
    call = {"tool": "exec_command", "input": {"cmd": "printf '%s' re-sult"}}

    done = run(sandbox, ["codex", "exec", "--json", "-"], stdin=PROMPT, script=[{"reply": [call]}])

    assert [said.kind for said in done.turns[1].texts_with("re-sult")] == ["function_call", "function_call_output"]
    assert done.turns[1].roles_with("re-sult") == ["assistant", "tool"]


@pytest.mark.parametrize("client", CLAUDE)
def test_a_background_agent_reports_back(sandbox: Sandbox, client: str) -> None:
    """A scripted background agent runs beside the main thread, and its end comes as a task notification."""
    agent = {
        "description": "look",
        "prompt": "look around",
        "subagent_type": "general-purpose",
        "run_in_background": True,
    }
    script = [
        {"when": "look around", "reply": [{"wait_for": "launched"}, {"text": "all seen"}]},
        {"when": PROMPT, "reply": [{"tool": "Agent", "input": agent}]},
    ]

    done = run(sandbox, [client, "-p", "--allowedTools", "Agent"], stdin=PROMPT, script=script)

    assert [turn.count("look around") > 0 for turn in done.turns if turn.from_subagent] == [True]
    assert done.turns[-1].roles_with("<task-notification>") == ["user"]
    assert "all seen" in done.turns[-1].texts_with("<task-notification>")[0].text


def test_a_codex_subagent_is_told_apart(sandbox: Sandbox) -> None:
    """A scripted subagent's request is marked as one, and the user's own thread is not."""
    spawn = {"tool": "spawn_agent", "namespace": "multi_agent_v1", "input": {"message": "look around"}}
    script = [
        {"when": "agent_id", "reply": [{"wait_for": "look around"}, {"text": "waited"}]},
        {"when": "look around", "reply": [{"text": "all seen"}]},
        {"when": PROMPT, "reply": [spawn]},
    ]

    done = run(sandbox, ["codex", "exec", "--json", "-"], stdin=PROMPT, script=script)

    told = [(turn.from_subagent, turn.roles_with("look around")) for turn in done.turns[:3]]
    assert sorted(told) == [(False, []), (False, ["assistant"]), (True, ["user"])]
    assert_fenced_in(done)


def test_codex_fails_when_the_stub_is_told_to(sandbox: Sandbox) -> None:
    """A scripted HTTP error reaches the client."""
    error = {"error": 400, "body": {"error": {"message": "no such thing"}}}

    done = run(sandbox, ["codex", "exec", "--json", "-"], stdin=PROMPT, script=[{"reply": [error]}])

    assert (done.exit_code, items(done)) == (1, ["turn.started", "turn.failed"])


def test_codex_runs_hooks_once_they_are_trusted(sandbox: Sandbox) -> None:
    """A hook that nobody has reviewed is skipped; after ``trust_all_hooks`` its words reach the model."""
    hook = {"type": "command", "command": "echo words of the hook"}
    hooks = {"hooks": {"UserPromptSubmit": [{"hooks": [hook]}]}}
    (sandbox.codex_home / "hooks.json").write_text(json.dumps(hooks))

    before = run(sandbox, ["codex", "exec", "--json", "-"], stdin=PROMPT)
    trusted = trust_all_hooks(sandbox)
    after = run(sandbox, ["codex", "exec", "--json", "-"], stdin=PROMPT)

    assert trusted == {f"{sandbox.codex_home}/hooks.json:user_prompt_submit:0:0": "trusted"}
    assert [turn.roles_with("words of the hook") for turn in before.turns + after.turns] == [[], ["developer"]]


def test_a_command_gets_the_sandbox_and_nothing_else(sandbox: Sandbox) -> None:
    """The command's whole environment is the sandbox's, and it starts in the sample repository."""
    show = "import json, os; print(json.dumps([dict(os.environ), os.getcwd()]))"

    done = run(sandbox, ["python3", "-c", show], env={"EXTRA": "1"})

    assert json.loads(done.stdout) == [sandbox.environment(EXTRA="1"), str(sandbox.repository)]


def test_a_command_cannot_leave_the_namespace(sandbox: Sandbox) -> None:
    """Outside addresses are unreachable, whatever a command tries."""
    attempt = "import socket; socket.create_connection(('192.0.2.1', 443), 5)"

    done = run(sandbox, ["python3", "-c", attempt])

    assert "Network is unreachable" in done.stderr


def test_what_a_command_leaves_behind_is_named_and_ended(sandbox: Sandbox) -> None:
    """A process that outlives its command is in the report, and does not outlive the launcher."""
    done = run(sandbox, ["sh", "-c", "setsid sleep 987.5 > /dev/null 2>&1 &"])

    assert done.launch.left_behind() == [["sleep", "987.5"]]
    assert subprocess.run(["pgrep", "-f", "^sleep 987.5$"], capture_output=True).stdout == b""


def test_a_command_that_takes_too_long_is_ended(sandbox: Sandbox) -> None:
    """A run that does not end in time raises, and takes along even what ignores the request to end."""
    stubborn = "trap '' TERM; sleep 986.5 & wait; sleep 986.5"

    with pytest.raises(subprocess.TimeoutExpired):
        run(sandbox, ["sh", "-c", stubborn], timeout=1)

    assert subprocess.run(["pgrep", "-f", "^sleep 986.5$"], capture_output=True).stdout == b""


def test_the_sample_repository_holds_what_must_not_leak(sandbox: Sandbox) -> None:
    """One secret is in an ignored file, the other in a committed comment, and git sees nothing to commit."""
    status = subprocess.run(["git", "status", "--porcelain"], cwd=sandbox.repository, capture_output=True)
    found = subprocess.run(["git", "grep", "-c", KEY_SECRET], cwd=sandbox.repository, capture_output=True, text=True)

    assert status.stdout == b""
    assert found.stdout == "shop/storage.py:1\n"
    assert (sandbox.repository / ".env").read_text() == f"PAYMENT_API_KEY={ENV_SECRET}\n"
