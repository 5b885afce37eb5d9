"""The server as a client sees it: a process and two pipes, in both eras of the protocol."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from mcp_pipe import Pipe
from processes import read_log, run
from repositories import PROMPT

from upbeat.adapters.hook_entry.shim import socket_path

HANGING = Path(__file__).parents[2] / "hanging.py"
INITIALIZE = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "0"}}


def submitted(repo: Path, prompt: str = PROMPT, **fields: str) -> dict[str, str]:
    return {"hook_event_name": "UserPromptSubmit", "session_id": "s", "cwd": str(repo), "prompt": prompt} | fields


def socket_of(client: str = "claude-code") -> Path:
    """The servers here are our own children."""
    return Path(socket_path(os.getuid(), client, os.getpid()))


def test_the_server_loads_the_core_after_its_start(tmp_path: Path) -> None:
    """Importing the server, which answers ``initialize`` at once, loads neither pydantic nor the engine nor SQLite."""
    code = (
        "import sys, upbeat.adapters.mcp_server.server\n"
        "print([name for name in ('pydantic', 'upbeat.core.engine', 'apsw', 'dulwich') if name in sys.modules])"
    )

    assert b"[]\n" == run([sys.executable, "-I", "-c", code], tmp_path).stdout


@pytest.mark.bench
def test_hello_comes_before_the_core_is_loaded(tmp_path: Path) -> None:
    """``initialize`` is answered at most 150 ms after a bare interpreter would have started."""

    def bare() -> float:
        started = time.monotonic()
        subprocess.run([sys.executable, "-I", "-c", "pass"], check=True)
        return time.monotonic() - started

    def hello() -> float:
        started = time.monotonic()
        with Pipe(tmp_path) as pipe:
            pipe.answer("initialize", INITIALIZE)
            return time.monotonic() - started

    alone, said = bare(), hello()
    for _ in range(30):  # side by side, the best of each: a busy machine slows both
        if said - alone < 0.150:
            break
        alone, said = min(alone, bare()), min(said, hello())

    assert said - alone < max(0.150, 2 * alone)


def test_one_session(repo: Path, tmp_path: Path) -> None:
    """Handshake, prompt, session start, unknown event, garbage: each gets its answer; the log has the events."""
    with Pipe(repo, home=tmp_path) as pipe:
        assert "2025-11-25" == pipe.answer("initialize", INITIALIZE)["protocolVersion"]

        pipe.send_bytes(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
        context = pipe.hook(**submitted(repo))

        assert ["hookSpecificOutput", "systemMessage"] == list(context)
        assert "UserPromptSubmit" == context["hookSpecificOutput"]["hookEventName"]
        assert "send_with_retry" in context["hookSpecificOutput"]["additionalContext"]
        assert {} == pipe.hook(**submitted(repo, "hello"))
        assert {} == pipe.hook(**submitted(repo, agent_id="a1"))
        assert {} == pipe.hook(hook_event_name="SessionStart", cwd=str(repo), session_id="s", source="startup")
        assert {} == pipe.hook(hook_event_name="Tea", cwd=str(repo))
        assert {} == pipe.hook(nothing="known")

        for garbage in (b"garbage\n", b"[]\n", b'{"half": \n', b"\xff\xfe\n", b"\n", b"[" * 50_000 + b"\n"):
            pipe.send_bytes(garbage)
        errors = [pipe.read()["error"]["code"] for _ in range(5)]

        assert [-32700] * 5 == errors
        assert -32601 == pipe.answer("resources/list")["code"]
        assert -32602 == pipe.answer("tools/call", {"name": 5})["code"]
        assert -32602 == pipe.answer("tools/call", {"name": "hook", "arguments": []})["code"]
        assert {"tools"} == set(pipe.answer("tools/list"))
        assert {} == pipe.answer("ping")
        assert 0 == pipe.close_stdin()

    assert [
        ("PromptSubmitted", "user", ["inject_context", "notify_user"]),
        ("PromptSubmitted", "user", []),
        ("PromptSubmitted", "subagent", []),
        ("SessionStarted", None, []),
        ("Tea", None, []),
        ("invalid_payload", None, []),
    ] == [
        (record["event"], record["event_fields"].get("origin"), [effect["kind"] for effect in record["effects"]])
        for record in read_log(tmp_path)
    ]


def test_showing_a_workflow_starts_none(repo: Path, tmp_path: Path) -> None:
    """The tool that shows the workflow starts none; the other starts one, and refuses a second."""
    with Pipe(tmp_path) as pipe:
        pipe.answer("initialize", INITIALIZE)
        pipe.hook(**submitted(repo))

        def call(tool: str, **arguments: str) -> str:
            text: str = pipe.answer("tools/call", {"name": tool, "arguments": arguments})["content"][0]["text"]
            return text

        wanted = {"name": "single", "goal": "close the socket"}

        assert "no workflow is running" in call("workflow", start="single", **wanted)
        assert "close the socket" in call("start_workflow", **wanted)
        assert "close the socket" in call("workflow")
        assert "other goal" not in call("start_workflow", name="quick", goal="other goal")


def test_tools_search_where_the_session_is(repo: Path, tmp_path: Path) -> None:
    """A tool looks at the repository of the last hook, and rejects wrong arguments and paths outside with a code."""
    with Pipe(tmp_path) as pipe:
        assert "shop/retry.py" not in pipe.call("ci_search", query="send_with_retry")["content"][0]["text"]

        pipe.hook(hook_event_name="SessionStart", cwd=str(repo))

        assert "shop/retry.py" in pipe.call("ci_search", query="send_with_retry")["content"][0]["text"]
        for arguments in ({"query": 5}, {"query": "x", "files": ["../../etc/passwd"]}):
            refused = pipe.call("ci_search", **arguments)

            assert (True, True) == (
                refused["isError"],
                refused["content"][0]["text"].startswith("E_INVALID_ARGS: "),
            )


def test_a_client_that_does_not_wait(repo: Path, tmp_path: Path) -> None:
    """A client that cancels the hook which would have continued its turn is recorded; the next prompt says so."""
    with Pipe(repo, home=tmp_path) as pipe:
        pipe.answer("initialize", INITIALIZE)
        pipe.hook(**submitted(repo, "[workflow:single] add retries"))
        fields = {"session_id": "s", "cwd": str(repo), "last_assistant_message": "I have begun."}
        hooks = [{"hook_event_name": name, **fields} for name in ("PreCompact", "PreCompact", "Stop")]
        calls = [
            {"id": number, "method": "tools/call", "params": {"name": "hook", "arguments": hook}}
            for number, hook in enumerate(hooks, 100)
        ]
        cancelled = {"method": "notifications/cancelled", "params": {"requestId": 102, "reason": "timeout"}}
        pipe.send_bytes(b"".join(json.dumps({"jsonrpc": "2.0", **one}).encode() + b"\n" for one in (*calls, cancelled)))
        assert [100, 101, 102] == [pipe.read()["id"] for _ in calls]
        pipe.hook(hook_event_name="PreCompact", **fields)
        told = pipe.hook(**submitted(repo, "what now?"))["systemMessage"]

    records = [record for record in read_log(tmp_path) if record["event"] in ("TurnEnding", "AnswerLost")]
    assert ["turn_continued", "continuation_overridden"] == [record["facts"][0]["kind"] for record in records]
    assert "the client ended the turn before workflow single was complete" in told


def test_the_end_of_stdin_is_the_end(repo: Path, tmp_path: Path) -> None:
    """When the client closes stdin the server exits with 0, and takes its socket away."""
    with Pipe(repo, home=tmp_path) as pipe:
        pipe.answer("ping")

        assert socket_of().exists()

        assert 0 == pipe.close_stdin()
        assert not socket_of().exists()


def test_a_request_before_the_end_is_answered(repo: Path, tmp_path: Path) -> None:
    """What was asked just before stdin closed still gets its answer."""
    with Pipe(repo, home=tmp_path) as pipe:
        pipe.hook(**submitted(repo, "hello"))
        number = pipe.ask("tools/call", {"name": "ci_index_status", "arguments": {}})
        code = pipe.close_stdin()

        assert (0, number) == (code, pipe.read()["id"])


def test_a_client_that_goes_away_is_no_error(repo: Path, tmp_path: Path) -> None:
    """If the client closes its end, the server exits quietly."""
    with Pipe(repo, home=tmp_path) as pipe:
        pipe.answer("ping")
        assert pipe.process.stdout
        assert pipe.process.stderr
        pipe.process.stdout.close()
        pipe.ask("ping")
        pipe.ask("tools/call", {"name": "ci_index_status", "arguments": {}})
        code = pipe.close_stdin()
        complaint = pipe.process.stderr.read().decode()

    assert (0, "") == (code, complaint)


def test_a_second_server_does_not_take_the_socket(repo: Path, tmp_path: Path) -> None:
    """A client may start several servers: the first one's socket stays, also when the second one ends."""
    with Pipe(repo, home=tmp_path) as first:
        first.answer("ping")
        inode = socket_of().stat().st_ino
        with Pipe(repo, home=tmp_path) as second:
            second.answer("ping")

            assert inode == socket_of().stat().st_ino
            assert 0 == second.close_stdin()

        assert inode == socket_of().stat().st_ino


def test_a_slow_tool_does_not_delay_a_hook(repo: Path, tmp_path: Path) -> None:
    """While a tool is busy a hook is answered."""
    done = tmp_path / "done"
    command = [sys.executable, str(HANGING), str(done), "mcp", "--client", "claude-code"]
    with Pipe(repo, home=tmp_path, command=command) as pipe:
        slow = pipe.ask("tools/call", {"name": "ci_search", "arguments": {"query": "x"}})
        hook = pipe.ask("tools/call", {"name": "hook", "arguments": submitted(repo, "hello")})
        first = pipe.read()
        done.touch()
        second = pipe.read()

    assert [hook, slow] == [first["id"], second["id"]]
    assert "ci_search is done" == second["result"]["content"][0]["text"]


def test_a_hanging_tool_does_not_keep_the_server(repo: Path, tmp_path: Path) -> None:
    """A tool that never ends does not keep the server from ending soon after its client."""
    command = [sys.executable, str(HANGING), "/never", "mcp", "--client", "claude-code"]
    with Pipe(repo, home=tmp_path, command=command) as pipe:
        pipe.hook(**submitted(repo, "hello"))
        for _ in range(3):
            pipe.ask("tools/call", {"name": "ci_search", "arguments": {"query": "x"}})
        pipe.answer("ping")

        assert 0 == pipe.close_stdin(seconds=20)


def test_switched_off_there_is_nothing_for_the_model(repo: Path, tmp_path: Path) -> None:
    """With CI_AUTO_TOOLS=off the server has no instructions, no tools and no context, and still answers."""
    with Pipe(repo, home=tmp_path, CI_AUTO_TOOLS="off") as pipe:
        assert "instructions" not in pipe.answer("initialize", INITIALIZE)
        assert {"tools": []} == pipe.answer("tools/list")
        assert {} == pipe.hook(**submitted(repo))


def test_a_turn_keeps_the_settings_that_it_began_with(repo: Path, tmp_path: Path) -> None:
    """Settings that change during a turn apply from the user's next prompt on, with a notice."""
    fields = {"cwd": str(repo), "session_id": "s", "transcript_path": ""}
    call = {"tool_name": "Bash", "tool_use_id": "c", "tool_input": json.dumps({"command": "rm -rf ~"})}
    settings = tmp_path / ".config" / "upbeat" / "auto-tools.toml"

    with Pipe(repo, home=tmp_path) as pipe:
        pipe.answer("initialize", INITIALIZE)
        pipe.hook(**submitted(repo, "hello"))
        before = pipe.hook(hook_event_name="PreToolUse", **fields, **call)
        settings.parent.mkdir(parents=True, exist_ok=True)
        settings.write_text('[policies]\noff = ["block-destructive-commands", "protect-own-controls"]\n')
        during = pipe.hook(hook_event_name="PreToolUse", **fields, **call)
        told = pipe.hook(**submitted(repo, "hello"))
        after = pipe.hook(hook_event_name="PreToolUse", **fields, **call)

    assert ("deny", "deny", {}) == (
        before["hookSpecificOutput"]["permissionDecision"],
        during["hookSpecificOutput"]["permissionDecision"],
        after,
    )
    assert "in effect from now on: policies.off" in told["systemMessage"]
