"""Both plugins in the real clients: what they cost a session that does not use them, and what a user can call."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import tomli

from .received import Request
from .runs import run
from .sandbox import Sandbox
from .workflow_sessions import CLAUDES, PLUGIN, command_of, prepare

ROOT = Path(__file__).parents[2]
REGISTRY = tomli.loads((ROOT / "config" / "workflows.toml").read_text(encoding="utf-8"))
AGENTS = [f"upbeat:{name}" for name in REGISTRY["agents"]]
COMMANDS = [f"upbeat:{path.stem}" for path in (PLUGIN / "commands").glob("*.md")]
SMALL_TALK = "thanks, that is all"

MAX_TOKENS = 1500
CHARS_PER_TOKEN = 4
"""An estimate: the clients' own tokenizers are not public."""


def sent(request: Request) -> str:
    """All that the model gets with a request."""
    parts = ("system", "instructions", "tools", "messages", "input")
    return json.dumps({name: request.body[name] for name in parts if name in request.body}, ensure_ascii=False)


def named(names: list[str], text: str) -> list[str]:
    """Those of ``names`` that stand in ``text`` as whole words."""
    return [name for name in names if re.search(re.escape(name) + r"(?![\w-])", text)]


@pytest.mark.parametrize("client", CLAUDES)
def test_claude_finds_the_plugin_valid(sandbox: Sandbox, client: str) -> None:
    """The client's own strict check passes."""
    checked = run(sandbox, [client, "plugin", "validate", str(PLUGIN), "--strict"])

    assert 0 == checked.exit_code, checked.stdout


def test_an_unused_plugin_costs_little(sandbox: Sandbox, client: str) -> None:
    """A session that uses nothing of it pays for its agents' one-line descriptions and two tools, if anything."""
    command = ["codex", "exec", "--json", "-"] if client == "codex" else [client, "-p"]
    without = sent(run(sandbox, command, stdin=SMALL_TALK).turns[0])
    prepare(sandbox, client)
    finished = run(sandbox, command_of(client), stdin=SMALL_TALK)
    request = sent(finished.turns[0])

    assert 0 == finished.exit_code
    assert (len(request) - len(without)) / CHARS_PER_TOKEN < MAX_TOKENS
    assert ([] if client == "codex" else AGENTS) == [name for name in AGENTS if f"- {name}: " in request]
    assert [] == named(COMMANDS, request)


def test_a_command_reaches_the_model_with_its_words(sandbox: Sandbox, client: str) -> None:
    """A user's ``/upbeat:standard`` (``$upbeat:standard`` in Codex) arrives with the command's text."""
    prepare(sandbox, client)
    mark = "$" if client == "codex" else "/"
    request = run(sandbox, command_of(client), stdin=f"{mark}upbeat:standard add retries").turns[0]

    [body] = request.texts_with("upbeat has started the workflow `standard`")
    assert "user" == body.role
    assert request.texts_with("add retries")


@pytest.mark.parametrize("client", CLAUDES)
def test_an_agent_of_claude_that_reads_cannot_write(sandbox: Sandbox, client: str) -> None:
    """A reviewer has its text and its skills, and no tool that writes or delegates."""
    task = {"description": "review", "prompt": "LOOK at it", "subagent_type": "upbeat:code-reviewer"}
    script = ({"when": "begin", "reply": [{"tool": "Agent", "input": task | {"run_in_background": False}}]},)
    finished = run(sandbox, command_of(client), stdin="begin", script=script)

    [request] = [turn for turn in finished.turns if turn.from_subagent]
    tools = {tool["name"] for tool in request.body["tools"]}
    assert {"Read", "Bash"} <= tools
    assert set() == tools & {"Write", "Edit", "NotebookEdit", "Agent", "Task"}
    assert "You are the code reviewer." in sent(request)
    assert "MUST and MUST NOT" in sent(request)
    assert r"<!-- VERDICT: {\"result\":\"REJECT\"} -->" in sent(request)


def test_a_role_of_codex_has_its_text_and_effort(sandbox: Sandbox) -> None:
    """The role files are where Codex looks for them."""
    prepare(sandbox, "codex")
    spawn = {"message": "LOOK at it", "agent_type": "upbeat:code-reviewer"}
    write = {"cmd": "touch written.txt; echo ended-with-$?"}
    script = (
        {"when": "ended-with-", "reply": [{"text": "looked"}]},
        {"when": "LOOK at it", "reply": [{"tool": "exec_command", "input": write}]},
        {"when": "agent_id", "reply": [{"wait_for": "ended-with-"}, {"text": "waited"}]},
        {"when": "begin", "reply": [{"tool": "spawn_agent", "namespace": "multi_agent_v1", "input": spawn}]},
    )
    finished = run(sandbox, command_of("codex"), stdin="begin", script=script)

    asked, answered = [turn for turn in finished.turns if turn.from_subagent][:2]
    assert ["developer"] == asked.roles_with("You are the code reviewer.")
    assert "high" == asked.body["reasoning"]["effort"]
    # The role says sandbox_mode = "read-only"; 0.169 does not heed it: https://github.com/openai/codex/issues/45482
    assert "ended-with-0" in sent(answered)
