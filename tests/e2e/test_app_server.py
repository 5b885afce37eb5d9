"""The app-server transport on the real Codex: what the model receives, and how turns end."""

from __future__ import annotations

import json
import signal
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from .received import Request, Said
from .runs import Finished, ScriptRules, run
from .sandbox import Sandbox, add_codex_settings

DRIVER = Path(__file__).with_name("app_server_driver.py")
BLOCK = '<upbeat-data id="ab12" source="search">'
CONTEXT = f'{BLOCK} Data.\n1. shop/cart.py:18 — total_price\n</upbeat-data id="ab12">'
ASKING = {"cmd": "touch made-by-codex.txt", "sandbox_permissions": "require_escalated", "justification": "may I?"}
COMMAND = {"tool": "exec_command", "input": ASKING}
SLOW = [{"text": "half a sen"}, {"wait": 30}, {"text": "tence"}]

Steps = list[dict[str, Any]]


@dataclass(frozen=True)
class Played:
    """The lines of the driver, and what the model received."""

    finished: Finished

    @property
    def lines(self) -> list[dict[str, Any]]:
        return self.finished.json_lines()

    @property
    def turns(self) -> list[Request]:
        return self.finished.turns

    def of(self, step: int, *names: str) -> list[dict[str, Any]]:
        """The lines of one step that are called one of ``names``; of all names when there are none."""
        return [line for line in self.lines if line["step"] == step and (not names or line["event"] in names)]

    def ending(self, step: int) -> dict[str, Any]:
        """The last line of one step."""
        return [line for line in self.of(step) if line["event"] != "Closed"][-1]

    def seconds(self, step: int) -> float:
        """How long a step took, from its first line to its last."""
        first, last = self.of(step)[0]["at"], self.ending(step)["at"]
        return float(last - first)


def play(sandbox: Sandbox, steps: Steps, script: ScriptRules = (), exit_code: int = 0) -> Played:
    """Run ``steps`` to their end; nothing may be left behind."""
    path = sandbox.root / "steps.json"
    path.write_text(json.dumps(steps), encoding="utf-8")
    finished = run(sandbox, [sys.executable, str(DRIVER), str(path)], script=script)
    assert (exit_code, "") == (finished.exit_code, finished.stderr)
    assert [] == finished.launch.left_behind()
    return Played(finished)


def kinds(said: list[Said], *markers: str) -> list[tuple[str, str]]:
    """Who said what contains one of ``markers``, and in which kind of item, in order."""
    return [(one.role, one.kind) for one in said if any(marker in one.text for marker in markers)]


CARRIED = ("tool", "function_call_output")
USER = ("user", "message")


def test_three_turns_on_one_process(sandbox: Sandbox) -> None:
    """Each turn's context is untrusted tool output right before the words, once; the thread and the process stay."""
    prompts = ("question-one", "question-two", "question-three")
    played = play(sandbox, [{"prompt": prompt, "context": CONTEXT} for prompt in prompts])

    assert [1, 1] == [line["servers"] for line in played.lines if line["event"] == "Open"] * 2
    assert 1 == len({line["thread_id"] for line in played.lines if line["event"] == "ThreadStarted"})
    last = played.turns[-1]
    assert [CARRIED, USER] * 3 == kinds(last.conversation(), BLOCK, *prompts)
    assert [f"prepared for turn {number}" in said.text for number, said in enumerate(last.texts_with(BLOCK), 1)]
    assert [(1, 1), (2, 2), (3, 3)] == [(turn.count(BLOCK), turn.count("question-")) for turn in played.turns]
    carriers = [item for item in last.body["input"] if item.get("type") == "function_call_output"]
    assert {("upbeat_context", "agent")} == {(item["name"], item["namespace"]) for item in carriers}


def test_a_large_context_arrives_whole(sandbox: Sandbox) -> None:
    """No entry is cut by Codex, in no language, and the order stays."""
    items = [f"{number}. shop/cart.py:{number} — 折扣在这里计算 {'价' * 60} total" for number in range(1, 1001)]
    context = "\n".join([f"{BLOCK} Data.", *items, '</upbeat-data id="ab12">'])
    played = play(sandbox, [{"prompt": "hello", "context": context}])

    carried = [said.text for said in played.turns[0].texts_with(BLOCK)]
    assert 60 < len(carried)
    assert items == [line for text in carried for line in text.split("\n") if line in set(items)]
    assert [] == [text for text in carried if "truncated" in text]


def test_context_survives_a_compaction(sandbox: Sandbox) -> None:
    """Codex drops contexts when it compacts; the next turn has its own, though it is worded the same."""
    steps: Steps = [
        {"prompt": "prompt-one", "context": CONTEXT},
        {"compact": True},
        {"prompt": "prompt-two", "context": CONTEXT},
    ]
    played = play(sandbox, steps)

    assert ["ThreadCompacted"] == [line["event"] for line in played.of(1, "ThreadCompacted")]
    assert "Completed" == played.ending(1)["event"]
    assert [CARRIED, USER] == kinds(played.turns[-1].conversation(), BLOCK, "prompt-two")


def test_commands_are_declined_where_nobody_can_be_asked(sandbox: Sandbox) -> None:
    """The turn goes on, and the decision is reported."""
    played = play(sandbox, [{"prompt": "make the file"}], [{"when": "make the file", "reply": [COMMAND]}])

    [answered] = played.of(0, "ApprovalDecided")
    assert ("decline", False) == (answered["decision"], answered["is_by_person"])
    assert not (sandbox.repository / "made-by-codex.txt").exists()
    assert "Completed" == played.ending(0)["event"]


def test_changes_are_asked_about_with_their_diff(sandbox: Sandbox) -> None:
    """The user sees what would be written where."""
    patch = "*** Begin Patch\n*** Add File: made-by-codex.txt\n+hello\n*** End Patch\n"
    script = [{"when": "make the file", "reply": [{"tool": "apply_patch", "input": patch}]}]
    read_only: Steps = [{"open": {"flags": ["-s", "read-only"]}}]
    played = play(sandbox, [*read_only, {"prompt": "make the file", "answers": ["accept"]}], script)

    [asked] = played.of(0, "ApprovalRequest")
    path = str(sandbox.repository / "made-by-codex.txt")
    change = {"kind": "add", "path": path, "diff": "hello\n", "new_path": ""}
    assert ("files", [change]) == (asked["kind"], asked["diffs"])
    assert "hello\n" == (sandbox.repository / "made-by-codex.txt").read_text()


def test_tools_of_servers_are_asked_about(sandbox: Sandbox) -> None:
    """A tool that is not read-only is asked about, once a session if the user wants it so."""
    server = sandbox.root / "server.py"
    server.write_text(MCP_SERVER)
    add_codex_settings(sandbox, f'mcp_servers.mem = {{command = "python3", args = ["{server}"]}}')
    call = {"tool": "save", "namespace": "mcp__mem", "input": {"x": "1"}}
    script = [{"when": f"save {number}", "reply": [call]} for number in (1, 2)]
    steps: Steps = [{"prompt": "save 1", "answers": ["accept_session"]}, {"prompt": "save 2", "answers": []}]
    played = play(sandbox, steps, script)

    [asked] = played.of(0, "ApprovalRequest")
    assert "tool" == asked["kind"]
    assert {"serverName": '"mem"', "tool_name": '"save"', "tool_params": '{\n "x": "1"\n}'} == dict(asked["details"])
    tools = [(line["tool"], line["error"]) for step in (0, 1) for line in played.of(step, "ToolCall")]
    assert [("mem.save", "")] * 2 == tools
    assert [] == played.of(1, "ApprovalRequest")


def test_a_server_that_dies_fails_the_turn(sandbox: Sandbox) -> None:
    """The turn is not sent again, and the next one continues the thread in a new process."""
    steps: Steps = [
        {"prompt": "prompt-one", "context": CONTEXT},
        {"prompt": "doomed", "on": {"Delta": "kill"}},
        {"prompt": "prompt-two", "context": CONTEXT},
    ]
    played = play(sandbox, steps, [{"when": "doomed", "reply": SLOW}])

    assert ("Failed", "exited_mid_turn") == (played.ending(1)["event"], played.ending(1)["reason"])
    assert ["restarted"] == [line["kind"] for line in played.of(2, "TransportNotice")]
    assert "Completed" == played.ending(2)["event"]
    assert 1 == len({line["thread_id"] for line in played.lines if line["event"] == "ThreadStarted"})
    last = played.turns[-1]
    assert [1, 1, 1] == [last.count(prompt) for prompt in ("prompt-one", "doomed", "prompt-two")]
    assert [CARRIED, USER] == kinds(last.conversation(), BLOCK, "prompt-two")[-2:]


@pytest.mark.parametrize("end", ["kill", "close", "SIGKILL"])
def test_a_command_does_not_outlive_its_turn(sandbox: Sandbox, end: str) -> None:
    """It ends with the server, with a reader that closes the turn, and with codex-auto itself."""
    sleeping = {"tool": "exec_command", "input": {"cmd": "sleep 1000"}}
    steps: Steps = [{"prompt": "sleep now", "on": {"ItemStarted": end}}, {"prompt": "after"}]
    code = 128 + signal.SIGKILL if end == "SIGKILL" else 0
    played = play(sandbox, steps, [{"when": "sleep now", "reply": [sleeping]}], exit_code=code)

    assert code or "Completed" == played.ending(1)["event"]


def test_a_thread_of_codex_exec_is_continued_and_forked(sandbox: Sandbox) -> None:
    """It is listed with its first prompt."""
    done = run(sandbox, ["codex", "exec", "--json", "-"], stdin="from exec")
    thread = done.json_lines()[0]["thread_id"]
    steps: Steps = [{"threads": True}, {"prompt": "from here", "thread": thread}, {"fork": True}, {"prompt": "forked"}]
    played = play(sandbox, steps)

    [listed] = played.of(0, "Threads")[0]["threads"]
    assert (thread, "from exec") == (listed["thread_id"], listed["preview"])
    assert [thread] == [line["thread_id"] for line in played.of(1, "ThreadStarted")]
    [forked] = [line["thread_id"] for line in played.of(3, "ThreadStarted")]
    assert forked != thread
    assert [USER] * 3 == kinds(played.turns[-1].conversation(), "from exec", "from here", "forked")


def test_threads_that_cannot_be_resumed(sandbox: Sandbox) -> None:
    """Each has its reason, nothing is sent, and no new thread replaces it."""
    missing = "01a1fbb9-4f32-7d63-9e7f-2b9d3fbd401a"
    archived = run(sandbox, ["codex", "exec", "--json", "-"], stdin="one").json_lines()[0]["thread_id"]
    assert 0 == run(sandbox, ["codex", "archive", archived]).exit_code
    steps: Steps = [{"prompt": "two", "thread": thread} for thread in (missing, "not-an-id", archived)]
    played = play(sandbox, steps)

    assert ["no_rollout", "no_rollout", "archived"] == [played.ending(step)["reason"] for step in range(3)]
    assert [] == played.turns


@pytest.mark.parametrize(
    ("reply", "reason", "seconds"),
    [({"failed": "server_is_overloaded"}, "provider_error", 60), ({"cut": True}, "stream_disconnected", 30)],
)
def test_after_a_failed_turn_the_next_one_works(
    sandbox: Sandbox, reply: dict[str, Any], reason: str, seconds: float
) -> None:
    """A failed turn has a typed reason within its time; ``test_codex_screen.py`` tries all of them."""
    script = [{"when": "and-then", "reply": [{"text": "fine"}]}, {"when": "will it", "times": 0, "reply": [reply]}]
    played = play(sandbox, [{"prompt": "will it fail?"}, {"prompt": "and-then"}], script)

    ending = played.ending(0)
    assert ("Failed", reason) == (ending["event"], ending.get("reason"))
    assert played.seconds(0) < seconds
    assert "Completed" == played.ending(1)["event"]


def test_bad_configuration(sandbox: Sandbox) -> None:
    """Codex names the file and the line; nothing is sent, and the server stays for when it is fixed."""
    add_codex_settings(sandbox, "model = [")
    played = play(sandbox, [{"prompt": "hello"}, {"prompt": "again"}])

    assert ["codex_config"] * 2 == [played.ending(step)["reason"] for step in (0, 1)]
    assert "config.toml:" in played.ending(0)["text"]
    assert [] == played.turns


def test_unreachable_provider(sandbox: Sandbox) -> None:
    """Codex tries for ever; the turn is given up after the idle time, and the server goes on."""
    path = sandbox.codex_home / "config.toml"
    path.write_text(path.read_text(encoding="utf-8").replace(":8765/", ":9/"), encoding="utf-8")
    steps: Steps = [{"open": {"idle_seconds": 3}}, {"prompt": "hello"}, {"prompt": "again"}]
    played = play(sandbox, steps)

    assert [("idle_timeout", "3")] * 2 == [
        (played.ending(step)["reason"], played.ending(step)["text"]) for step in (0, 1)
    ]
    assert [] == played.of(1, "TransportNotice")


MCP_SERVER = """
import json, sys

for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    result = {}
    if message["method"] == "initialize":
        version = message["params"]["protocolVersion"]
        about = {"name": "m", "version": "1"}
        result = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": about}
    elif message["method"] == "tools/list":
        schema = {"type": "object", "properties": {"x": {"type": "string"}}}
        result = {"tools": [{"name": "save", "inputSchema": schema}]}
    elif message["method"] == "tools/call":
        result = {"content": [{"type": "text", "text": "saved"}]}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"""
