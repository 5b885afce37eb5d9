"""Prompts through the plugins' hooks: what the model receives in each client, headless and in a terminal."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from processes import read_log

from .codex_trust import trust_all_hooks
from .received import OPENING, Request
from .runs import Finished, ScriptRules, run
from .sample_repository import SECRETS
from .sandbox import Sandbox
from .terminal import CTRL_C, CTRL_D, Terminal
from .workflow_sessions import CLAUDES, PLUGIN, command_of, install, prepare, set_up

QUESTION = "where does total_price apply the discount, and where is save_order?"
ROLE = {"claude": "system", "claude-oldest": "system", "codex": "developer"}
"""The role in which a client gives its model the context of a hook."""


def ask(sandbox: Sandbox, client: str, prompt: str, script: ScriptRules = (), **env: str) -> Finished:
    """One headless turn; Claude Code has the plugin as it is in the checkout."""
    return run(sandbox, command_of(client), stdin=prompt, script=script, env=env)


@pytest.mark.parametrize("route", ["checkout", "mcp", "command"])
def test_the_model_receives_the_context_once(sandbox: Sandbox, client: str, route: str) -> None:
    """It is in the first request, beside the prompt and not inside it, by both routes and from a checkout."""
    if route == "checkout":
        prepare(sandbox, client)
    else:
        install(sandbox, client, route)
    finished = run(sandbox, command_of(client, is_installed=route != "checkout"), stdin=QUESTION)

    first = finished.turns[0]
    [carrier] = first.injected()
    assert (ROLE[client], 1) == (carrier.role, carrier.text.count(OPENING))
    assert "shop/cart.py" in carrier.text
    assert "def total_price(cart):" in carrier.text
    assert [("user", QUESTION)] == [(said.role, said.text) for said in first.texts_with(QUESTION)]
    assert (0, 1) == (finished.exit_code, finished.stdout.count("Stub answer 1."))


def test_secrets_of_the_repository_are_not_sent(sandbox: Sandbox, client: str) -> None:
    """Secrets in searched files and in .env reach no request."""
    prepare(sandbox, client)
    finished = ask(sandbox, client, "why does save_order in shop/storage.py fail with PAYMENT_API_KEY from .env?")

    sent = json.dumps([request.body for request in finished.requests])
    assert "shop/storage.py" in sent
    assert [] == [secret for secret in SECRETS if secret in sent]


@pytest.mark.parametrize("client", CLAUDES)
@pytest.mark.parametrize("prompt", ["今天天气如何", "thanks, that is all", "continue"])
def test_a_prompt_that_is_not_about_code_gets_no_context(sandbox: Sandbox, client: str, prompt: str) -> None:
    """It reaches the model as it is."""
    finished = ask(sandbox, client, prompt)

    assert finished.turns
    assert [] == [said for turn in finished.turns for said in turn.injected()]


def test_switched_off_the_request_is_that_of_the_client_alone(sandbox: Sandbox, client: str) -> None:
    """With CI_AUTO_TOOLS=off it has nothing of upbeat's but what the client adds for any plugin or server."""
    command = ["codex", "exec", "--json", "-"] if client == "codex" else [client, "-p"]
    without = run(sandbox, command, stdin=QUESTION)
    prepare(sandbox, client)
    switched_off = ask(sandbox, client, QUESTION, CI_AUTO_TOOLS="off")

    assert comparable(without.turns[0]) == comparable(switched_off.turns[0])


CLAUDE_AGENT = re.compile(r"\\n- upbeat:[^\\]*")
"""A line of Claude Code's list of agents, in JSON: a plugin's agents are listed as long as it is enabled."""
CODEX_PLUGINS = re.compile(r"<plugins_instructions>\n.*?</plugins_instructions>\n?", re.DOTALL)
"""What Codex 0.169 tells the model as soon as there is any plugin."""
CODEX_TOOLS = {"list_mcp_resources", "list_mcp_resource_templates", "read_mcp_resource"}
"""What it offers as soon as there is any MCP server."""
VOLATILE = ("metadata", "prompt_cache_key", "client_metadata")


def comparable(request: Request) -> dict[str, Any]:
    """A request without what differs between any two runs, and without what a client adds for any plugin."""
    body = {name: value for name, value in request.body.items() if name not in VOLATILE}
    if request.api == "messages":
        messages = json.loads(CLAUDE_AGENT.sub("", json.dumps(body["messages"], ensure_ascii=False)))
        system = [block for block in body.get("system", []) if "x-anthropic-billing-header" not in block["text"]]
        return body | {"messages": messages, "system": system}
    said = [(said.role, said.kind, CODEX_PLUGINS.sub("", said.text).strip()) for said in request.conversation()]
    return body | {"input": said, "tools": [tool for tool in body["tools"] if tool.get("name") not in CODEX_TOOLS]}


@pytest.mark.parametrize("client", CLAUDES)
def test_a_task_notification_gets_no_context(sandbox: Sandbox, client: str) -> None:
    """A finished background agent comes back as a prompt; it is left alone, and its result arrives."""
    task = {"description": "look", "prompt": "find total_price in shop/cart.py", "subagent_type": "general-purpose"}
    script = (
        {"when": QUESTION, "reply": [{"tool": "Agent", "input": task | {"run_in_background": True}}]},
        {"when": "find total_price in shop/cart.py", "reply": [{"text": "It is in shop/cart.py, line 18."}]},
    )
    finished = ask(sandbox, client, QUESTION, script)

    last = [turn for turn in finished.turns if turn.texts_with("<task-notification>")][-1]
    assert last.texts_with("It is in shop/cart.py, line 18.")
    assert 1 == last.count(OPENING)


def test_a_prompt_for_a_subagent_is_looked_up_once(sandbox: Sandbox, client: str) -> None:
    """What the repository says about a subagent's prompt comes before it, when the call is made and not again."""
    prepare(sandbox, client)
    task = "where is total_price in shop/cart.py?"
    work = {"description": "look", "prompt": task, "subagent_type": "general-purpose"}
    spawn = {"tool": "spawn_agent", "namespace": "multi_agent_v1", "input": {"message": task}}
    script = (
        {"when": "agent_id", "reply": [{"wait_for": task}, {"text": "waited"}]},
        {"when": task, "reply": [{"text": "Line 18."}]},
        {"when": QUESTION, "reply": [spawn if client == "codex" else {"tool": "Agent", "input": work}]},
    )
    finished = ask(sandbox, client, QUESTION, script)

    [turn] = [turn for turn in finished.turns if turn.from_subagent]
    assert 1 == turn.count(OPENING)
    assert turn.texts_with("def total_price")
    if client == "codex":
        assert "subagent" in [record["event_fields"].get("origin") for record in read_log(sandbox.home)]


def test_a_terminal_program_gets_prepared_turns(sandbox: Sandbox, client: str) -> None:
    """Each turn is prepared, small talk is not, and no process is left behind; Codex's user has trusted the hooks."""
    prepare(sandbox, client)
    if client == "codex":
        assert {"trusted"} == set(trust_all_hooks(sandbox).values())
    command = ["codex", "--no-daemon"] if client == "codex" else [client, "--plugin-dir", str(PLUGIN)]
    with Terminal(sandbox, command) as terminal:
        terminal.wait_for("Ask Codex" if client == "codex" else "❯")
        terminal.submit(QUESTION)
        terminal.wait_for("Stub answer 1.")
        terminal.submit("thanks, that is all")
        terminal.wait_for("Stub answer 2.")
        for key in (CTRL_D,) if client == "codex" else (CTRL_C, CTRL_C):
            terminal.send(key)
        terminal.wait_for_exit()

    first, second = terminal.launch.turns()[:2]
    assert [(ROLE[client], 1)] == [(said.role, said.text.count(OPENING)) for said in first.injected()]
    assert 1 == len(second.injected())
    assert [] == terminal.launch.left_behind()


@pytest.mark.parametrize("client", CLAUDES)
def test_a_configuration_error_is_reported_at_the_start_of_the_session(sandbox: Sandbox, client: str) -> None:
    """A settings file with errors switches the context off, and the user sees the error."""
    set_up(sandbox, 'enabeld = "auto"\n')
    command = [*command_of(client), "--output-format", "stream-json", "--verbose"]
    finished = run(sandbox, command, stdin=QUESTION)

    records = read_log(sandbox.home)
    reported = {
        record["event"] for record in records if "notify_user" in [effect["kind"] for effect in record["effects"]]
    }
    assert {"SessionStarted", "PromptSubmitted", "TurnEnding", "SessionEnded"} == {
        record["event"] for record in records
    }
    assert {"SessionStarted", "PromptSubmitted"} == reported
    assert [] == [said for turn in finished.turns for said in turn.injected()]
    assert "unknown key 'enabeld'; did you mean 'enabled'?" in finished.stdout


def test_untrusted_hooks_of_codex_add_nothing(sandbox: Sandbox) -> None:
    """Without the user's trust Codex runs no hook of upbeat, and the turn goes on."""
    prepare(sandbox, "codex")
    finished = run(sandbox, ["codex", "exec", "--json", "-"], stdin=QUESTION)

    assert (0, []) == (finished.exit_code, finished.turns[0].injected())


def test_a_resumed_turn_gets_its_own_context(sandbox: Sandbox) -> None:
    """A second turn of the same thread is prepared for its own prompt; lines of the first turn are not repeated."""
    prepare(sandbox, "codex")
    thread = ask(sandbox, "codex", QUESTION).json_lines()[0]["thread_id"]
    second = run(sandbox, command_of("codex", thread), stdin="what does discount_for in shop/discounts.py return?")

    carriers = second.turns[0].injected()
    assert 2 == len(carriers)
    assert "shop/discounts.py" in carriers[-1].text
    assert 1 == sum(carrier.text.count("def discount_for(total):") for carrier in carriers)


@pytest.mark.parametrize(("transport", "role"), [("exec", "user"), ("app-server", "tool")])
def test_codex_auto_and_its_hook_never_both_add_context(sandbox: Sandbox, transport: str, role: str) -> None:
    """Under codex-auto the hook stays silent, though its user trusts it: the turn has one block."""
    prepare(sandbox, "codex")
    trust_all_hooks(sandbox)
    finished = run(sandbox, ["codex-auto", "--once", "--transport", transport, QUESTION])

    [carrier] = finished.turns[0].injected()
    assert (role, 1) == (carrier.role, carrier.text.count(OPENING))
