"""Both plugins in the real clients: what they cost a session that does not use them, and what a user can call."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import tomli

from .received import Request, main_requests
from .runs import Finished, run
from .sandbox import Sandbox

pytestmark = pytest.mark.e2e

ROOT = Path(__file__).parents[2]
PLUGIN = ROOT / "adapters" / "claude" / "plugin"
VERSIONS = ("claude", "claude-oldest")
REGISTRY = tomli.loads((ROOT / "config" / "workflows.toml").read_text(encoding="utf-8"))
AGENTS = [f"upbeat:{name}" for name in REGISTRY["agents"]]
COMMANDS = [f"upbeat:{path.stem}" for path in (PLUGIN / "commands").glob("*.md")]
TRUSTED = "--dangerously-bypass-hook-trust"
SMALL_TALK = "thanks, that is all"

MOST_TOKENS = 1500
CHARS_PER_TOKEN = 4
"""An estimate: the clients' own tokenizers are not to be had."""


def claude(sandbox: Sandbox, client: str, prompt: str, *flags: str, script: tuple = ()) -> Finished:
    """One headless turn with the plugin as it lies in the checkout."""
    return run(sandbox, [client, "-p", prompt, "--plugin-dir", str(PLUGIN), *flags], script=script)


def codex(sandbox: Sandbox, prompt: str, script: tuple = ()) -> Finished:
    """One headless turn."""
    return run(sandbox, ["codex", "exec", "--json", TRUSTED, "-"], stdin=prompt, script=script)


def install_codex(sandbox: Sandbox) -> None:
    """Install the plugin; the review of its hooks is left."""
    assert 0 == run(sandbox, ["upbeat", "install", "codex", "--yes"]).exit_code


def sent(request: Request) -> str:
    """All that the model gets with a request."""
    parts = ("system", "instructions", "tools", "messages", "input")
    return json.dumps({name: request.body[name] for name in parts if name in request.body}, ensure_ascii=False)


def named(names: list[str], text: str) -> list[str]:
    """Those of ``names`` that stand in ``text`` as whole words."""
    return [name for name in names if re.search(re.escape(name) + r"(?![\w-])", text)]


def first(finished: Finished) -> Request:
    return main_requests(finished.requests)[0]


@pytest.mark.parametrize("client", VERSIONS)
def test_plugin_is_valid(sandbox: Sandbox, client: str) -> None:
    """The client's own strict check has nothing against the plugin."""
    checked = run(sandbox, [client, "plugin", "validate", str(PLUGIN), "--strict"])

    assert 0 == checked.exit_code, checked.stdout


@pytest.mark.parametrize("client", VERSIONS)
def test_unused_plugin_costs_claude_little(sandbox: Sandbox, client: str) -> None:
    """A session that uses nothing of the plugin pays for its agents' one-line descriptions and two tools."""
    without = sent(first(run(sandbox, [client, "-p", SMALL_TALK])))
    finished = claude(sandbox, client, SMALL_TALK)
    having = sent(first(finished))

    assert (0, "Stub answer 1.\n", "") == (finished.exit_code, finished.stdout, finished.stderr)
    assert (len(having) - len(without)) / CHARS_PER_TOKEN < MOST_TOKENS
    assert AGENTS == [name for name in AGENTS if f"- {name}: " in having]
    assert [] == named(COMMANDS, having)


def test_unused_plugin_costs_codex_little(sandbox: Sandbox) -> None:
    """The same holds for Codex, which lists none of our commands to the model."""
    without = sent(first(codex(sandbox, SMALL_TALK)))
    install_codex(sandbox)
    finished = codex(sandbox, SMALL_TALK)
    having = sent(first(finished))

    assert 0 == finished.exit_code
    assert (len(having) - len(without)) / CHARS_PER_TOKEN < MOST_TOKENS
    assert [] == named(COMMANDS, having)


@pytest.mark.parametrize("client", VERSIONS)
def test_command_of_claude(sandbox: Sandbox, client: str) -> None:
    """A user's ``/upbeat:standard`` reaches the model with its words behind it."""
    request = first(claude(sandbox, client, "/upbeat:standard add retries"))

    [body] = request.texts_with("upbeat has started the workflow `standard`")
    assert "user" == body.role
    assert request.texts_with("add retries")


def test_command_of_codex(sandbox: Sandbox) -> None:
    """A user's ``$upbeat:standard`` reaches the model with its words and the command's text."""
    install_codex(sandbox)
    request = first(codex(sandbox, "$upbeat:standard add retries"))

    [body] = request.texts_with("upbeat has started the workflow `standard`")
    assert "user" == body.role
    assert ["$upbeat:standard add retries"] == [said.text for said in request.texts_with("add retries")][:1]


@pytest.mark.parametrize("client", VERSIONS)
def test_agent_of_claude_that_reads(sandbox: Sandbox, client: str) -> None:
    """A reviewer has its text and its skills, and no tool that writes or hands work on."""
    task = {"description": "review", "prompt": "LOOK at it", "subagent_type": "upbeat:code-reviewer"}
    script = ({"when": "begin", "reply": [{"tool": "Agent", "input": task | {"run_in_background": False}}]},)
    finished = claude(sandbox, client, "begin", script=script)

    [request] = [request for request in main_requests(finished.requests) if request.from_subagent]
    tools = {tool["name"] for tool in request.body["tools"]}
    assert {"Read", "Bash"} <= tools
    assert set() == tools & {"Write", "Edit", "NotebookEdit", "Agent", "Task"}
    assert "You are the code reviewer." in sent(request)
    assert "MUST and MUST NOT" in sent(request)
    assert r"<!-- VERDICT: {\"result\":\"REJECT\"} -->" in sent(request)


def test_role_of_codex(sandbox: Sandbox) -> None:
    """The role files are where Codex looks for them, and an agent of ours has its text and its effort."""
    install_codex(sandbox)
    spawn = {"message": "LOOK at it", "agent_type": "upbeat:code-reviewer"}
    write = {"cmd": "touch written.txt; echo ended-with-$?"}
    script = (
        {"when": "ended-with-", "reply": [{"text": "looked"}]},
        {"when": "LOOK at it", "reply": [{"tool": "exec_command", "input": write}]},
        {"when": "agent_id", "reply": [{"wait_for": "ended-with-"}, {"text": "waited"}]},
        {"when": "begin", "reply": [{"tool": "spawn_agent", "namespace": "multi_agent_v1", "input": spawn}]},
    )
    finished = codex(sandbox, "begin", script)

    asked, answered = [request for request in main_requests(finished.requests) if request.from_subagent][:2]
    assert ["developer"] == asked.roles_with("You are the code reviewer.")
    assert "high" == asked.body["reasoning"]["effort"]
    # The role says sandbox_mode = "read-only"; 0.169 does not heed it: https://github.com/openai/codex/issues/45482
    assert "ended-with-0" in sent(answered)
