"""Codex with the plugin, without the wrapper: what the model receives in exec and in the terminal program."""

from __future__ import annotations

import json
import re

import pytest
from processes import read_log

from .codex_trust import trust_all_hooks
from .received import Request, Said, main_requests
from .runs import Finished, run
from .sample_repository import SECRETS
from .sandbox import Sandbox
from .terminal import CTRL_D, Terminal

pytestmark = pytest.mark.e2e

QUESTION = "where does total_price apply the discount, and where is save_order?"
OPENING = "<upbeat-data id="
TRUSTED = "--dangerously-bypass-hook-trust"


def injected(request: Request) -> list[Said]:
    """The parts of the conversation that carry a block of ours."""
    return request.texts_with(OPENING)


def install(sandbox: Sandbox, route: str = "mcp") -> None:
    """Install the plugin; the review of its hooks is left."""
    installed = run(sandbox, ["upbeat", "install", "codex", "--yes", "--route", route])
    assert (0, "") == (installed.exit_code, installed.stderr)


def ask(sandbox: Sandbox, prompt: str, *flags: str, script: tuple = (), **env: str) -> Finished:
    """One headless turn."""
    return run(sandbox, ["codex", "exec", "--json", TRUSTED, *flags, "-"], stdin=prompt, script=script, env=env)


@pytest.mark.parametrize("route", ["mcp", "command"])
def test_model_receives_the_prepared_turn_once(sandbox: Sandbox, route: str) -> None:
    """The context is a developer message behind the prompt, once, before the answer."""
    install(sandbox, route)
    finished = ask(sandbox, QUESTION)

    first = main_requests(finished.requests)[0]
    [carrier] = injected(first)
    assert ("developer", 1) == (carrier.role, carrier.text.count(OPENING))
    assert "def total_price(cart):" in carrier.text
    assert [("user", QUESTION)] == [(said.role, said.text) for said in first.texts_with(QUESTION)]
    assert "Stub answer 1." in finished.stdout


def test_secrets_of_the_repository_stay_there(sandbox: Sandbox) -> None:
    """Secrets that stand in searched files and in .env reach no request."""
    install(sandbox)
    finished = ask(sandbox, "why does save_order in shop/storage.py fail with PAYMENT_API_KEY from .env?")

    sent = json.dumps([request.body for request in finished.requests])
    assert "shop/storage.py" in sent
    assert [] == [secret for secret in SECRETS if secret in sent]


def test_untrusted_hooks_inject_nothing(sandbox: Sandbox) -> None:
    """Without the user's trust Codex runs no hook of ours, and the turn goes on."""
    install(sandbox)
    finished = run(sandbox, ["codex", "exec", "--json", "-"], stdin=QUESTION)

    assert 0 == finished.exit_code
    assert [] == injected(main_requests(finished.requests)[0])


OF_CODEX_ITSELF = re.compile(r"<plugins_instructions>\n.*?</plugins_instructions>\n?", re.DOTALL)
"""What Codex 0.169 tells the model as soon as any plugin is there, whatever is in it."""
TOOLS_OF_CODEX_ITSELF = {"list_mcp_resources", "list_mcp_resource_templates", "read_mcp_resource"}
"""What it offers as soon as any MCP server is there."""


def test_switched_off_is_as_without(sandbox: Sandbox) -> None:
    """With CI_AUTO_TOOLS=off the request has nothing of ours: only what Codex says of any plugin and any server."""
    without = ask(sandbox, QUESTION)
    install(sandbox)
    switched_off = ask(sandbox, QUESTION, CI_AUTO_TOOLS="off")

    assert comparable(main_requests(without.requests)[0]) == comparable(main_requests(switched_off.requests)[0])


def comparable(request: Request) -> dict[str, object]:
    """A request without what differs between any two runs, and without what Codex adds for any plugin."""
    volatile = ("prompt_cache_key", "client_metadata")
    body = {name: value for name, value in request.body.items() if name not in volatile}
    said = [(said.role, said.kind, OF_CODEX_ITSELF.sub("", said.text).strip()) for said in request.conversation()]
    tools = [tool for tool in body["tools"] if tool.get("name") not in TOOLS_OF_CODEX_ITSELF]
    return body | {"input": said, "tools": tools}


def test_resumed_turn_gets_its_own_context(sandbox: Sandbox) -> None:
    """A second turn of the same thread is prepared for its own prompt; lines of the first turn are not repeated."""
    install(sandbox)
    first = ask(sandbox, QUESTION)
    thread = first.json_lines()[0]["thread_id"]
    command = ["codex", "exec", "--json", "resume", TRUSTED, thread, "-"]
    second = run(sandbox, command, stdin="what does discount_for in shop/discounts.py return?")

    carriers = injected(main_requests(second.requests)[0])
    assert 2 == len(carriers)
    assert "shop/discounts.py" in carriers[-1].text
    assert 1 == sum(carrier.text.count("def discount_for(total):") for carrier in carriers)


def test_wrapper_and_hook_never_both_inject(sandbox: Sandbox) -> None:
    """Under codex-auto the hook stays silent: the turn has one block, in the user's message."""
    install(sandbox)
    command = ["codex-auto", "--once", QUESTION, "--", TRUSTED]
    finished = run(sandbox, command)

    [carrier] = injected(main_requests(finished.requests)[0])
    assert ("user", 1) == (carrier.role, carrier.text.count(OPENING))


def test_terminal_program_gets_prepared_turns(sandbox: Sandbox) -> None:
    """Codex's own terminal program, its hooks trusted by the user, has each turn prepared without the wrapper."""
    install(sandbox)
    assert {"trusted"} == set(trust_all_hooks(sandbox).values())
    with Terminal(sandbox, ["codex", "--no-daemon"]) as terminal:
        terminal.wait_for("Ask Codex")
        terminal.submit(QUESTION)
        terminal.wait_for("Stub answer 1.")
        terminal.submit("thanks, that is all")
        terminal.wait_for("Stub answer 2.")
        terminal.send(CTRL_D)
        terminal.wait_for_exit()

    first, second = terminal.launch.turns()[:2]
    assert [("developer", 1)] == [(said.role, said.text.count(OPENING)) for said in injected(first)]
    assert 1 == len(injected(second))
    assert [] == terminal.launch.left_behind()


def test_subagent_prompt_is_not_injected_into(sandbox: Sandbox) -> None:
    """A prompt that one agent gives to another is left alone, though it is about code."""
    install(sandbox)
    task = "where is total_price in shop/cart.py?"
    spawn = {"tool": "spawn_agent", "namespace": "multi_agent_v1", "input": {"message": task}}
    script = (
        {"when": "agent_id", "reply": [{"wait_for": task}, {"text": "waited"}]},
        {"when": task, "reply": [{"text": "Line 18."}]},
        {"when": QUESTION, "reply": [spawn]},
    )
    finished = ask(sandbox, QUESTION, script=script)

    assert [[]] == [injected(turn) for turn in main_requests(finished.requests) if turn.from_subagent]
    origins = [record["event_fields"].get("origin") for record in read_log(sandbox.home)]
    assert "subagent" in origins
