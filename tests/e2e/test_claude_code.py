"""Claude Code with the plugin: what the model receives, by each route, in the newest and the oldest version."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from processes import read_log

from .received import Request, Said, main_requests
from .runs import Finished, run
from .sample_repository import SECRETS
from .sandbox import Sandbox
from .terminal import CTRL_C, Terminal

pytestmark = pytest.mark.e2e

PLUGIN = Path(__file__).parents[2] / "adapters" / "claude" / "plugin"
VERSIONS = ("claude", "claude-oldest")
QUESTION = "where does total_price apply the discount, and where is save_order?"
OPENING = "<upbeat-data id="


def ask(sandbox: Sandbox, client: str, prompt: str, *flags: str, script: tuple = (), **env: str) -> Finished:
    """One headless turn with the plugin as it lies in the checkout."""
    return run(sandbox, [client, "-p", prompt, "--plugin-dir", str(PLUGIN), *flags], script=script, env=env)


def injected(request: Request) -> list[Said]:
    """The parts of the conversation that carry a block of ours."""
    return request.texts_with(OPENING)


@pytest.mark.parametrize("client", VERSIONS)
def test_model_receives_the_prepared_turn_once(sandbox: Sandbox, client: str) -> None:
    """The context is in the first request, once, beside the prompt and not inside it, before the answer."""
    finished = ask(sandbox, client, QUESTION)

    first = main_requests(finished.requests)[0]
    [carrier] = injected(first)
    assert (0, "Stub answer 1.") == (finished.exit_code, finished.stdout.strip())
    assert ("system", 1) == (carrier.role, carrier.text.count(OPENING))
    assert "shop/cart.py" in carrier.text
    assert "def total_price(cart):" in carrier.text
    assert [QUESTION] == [said.text for said in first.texts_with(QUESTION)]


@pytest.mark.parametrize("client", VERSIONS)
def test_secrets_of_the_repository_stay_there(sandbox: Sandbox, client: str) -> None:
    """Secrets that stand in searched files and in .env reach no request."""
    finished = ask(sandbox, client, "why does save_order in shop/storage.py fail with PAYMENT_API_KEY from .env?")

    sent = json.dumps([request.body for request in finished.requests])
    assert "shop/storage.py" in sent
    assert [] == [secret for secret in SECRETS if secret in sent]


@pytest.mark.parametrize("client", VERSIONS)
@pytest.mark.parametrize("prompt", ["今天天气如何", "thanks, that is all", "continue"])
def test_nothing_is_injected_when_there_is_nothing_to_say(sandbox: Sandbox, client: str, prompt: str) -> None:
    """A prompt that is not about code reaches the model without any context of ours."""
    finished = ask(sandbox, client, prompt)

    assert [] == [said for request in main_requests(finished.requests) for said in injected(request)]


@pytest.mark.parametrize("client", VERSIONS)
def test_switched_off_is_as_without(sandbox: Sandbox, client: str) -> None:
    """With CI_AUTO_TOOLS=off the model's request is the one that it gets without upbeat, but for the agents' names."""
    without = run(sandbox, [client, "-p", QUESTION])
    switched_off = ask(sandbox, client, QUESTION, CI_AUTO_TOOLS="off")

    assert comparable(main_requests(without.requests)[0]) == comparable(main_requests(switched_off.requests)[0])


OF_OUR_AGENTS = re.compile(r"\\n- upbeat:[^\\]*")
"""A line of the client's list of agents, in JSON. A plugin's agents are there as long as it is switched on."""


def comparable(request: Request) -> dict[str, object]:
    """A request without what differs between any two runs of the client, and without the lines of our agents."""
    body = {name: value for name, value in request.body.items() if name != "metadata"}
    body["messages"] = json.loads(OF_OUR_AGENTS.sub("", json.dumps(body["messages"], ensure_ascii=False)))
    system = [block for block in body.get("system", []) if "x-anthropic-billing-header" not in block.get("text", "")]
    return body | {"system": system}


@pytest.mark.parametrize("client", VERSIONS)
def test_task_notification_is_not_injected_into(sandbox: Sandbox, client: str) -> None:
    """A finished background agent comes back in the form of a prompt; it is left alone, and its result arrives."""
    launch = {"description": "look", "prompt": "find total_price in shop/cart.py", "subagent_type": "general-purpose"}
    script = (
        {"when": QUESTION, "reply": [{"tool": "Agent", "input": launch | {"run_in_background": True}}]},
        {"when": "find total_price in shop/cart.py", "reply": [{"text": "It is in shop/cart.py, line 18."}]},
    )
    finished = ask(sandbox, client, QUESTION, "--allowedTools", "Agent", "Task", script=script)

    notified = [request for request in main_requests(finished.requests) if request.texts_with("<task-notification>")]
    assert notified
    last = notified[-1]
    assert "It is in shop/cart.py, line 18." in "".join(said.text for said in last.conversation())
    assert 1 == sum(said.text.count(OPENING) for said in injected(last))


@pytest.mark.parametrize("client", VERSIONS)
def test_terminal_program_gets_prepared_turns(sandbox: Sandbox, client: str) -> None:
    """The interactive client has each turn prepared, and leaves no process of ours behind."""
    with Terminal(sandbox, [client, "--plugin-dir", str(PLUGIN)]) as terminal:
        terminal.wait_for("❯")
        terminal.submit(QUESTION)
        terminal.wait_for("Stub answer 1.")
        terminal.send(CTRL_C)
        terminal.send(CTRL_C)
        terminal.wait_for_exit()

    [first] = terminal.launch.turns()
    assert [("system", 1)] == [(said.role, said.text.count(OPENING)) for said in injected(first)]
    assert [] == terminal.launch.left_behind()


@pytest.mark.parametrize("client", VERSIONS)
@pytest.mark.parametrize("route", ["mcp", "command"])
def test_installed_plugin_prepares_turns(sandbox: Sandbox, client: str, route: str) -> None:
    """`upbeat install claude` gives prepared turns, by both routes; to the oldest version from its second start on."""
    assert 0 == run(sandbox, ["upbeat", "install", "claude", "--yes", "--route", route]).exit_code
    if client == "claude-oldest":
        run(sandbox, [client, "-p", "hello"])

    finished = run(sandbox, [client, "-p", QUESTION])

    [carrier] = injected(main_requests(finished.requests)[0])
    assert ("system", 1) == (carrier.role, carrier.text.count(OPENING))


@pytest.mark.parametrize("client", VERSIONS)
def test_configuration_error_is_told_at_session_start(sandbox: Sandbox, client: str) -> None:
    """A settings file with errors switches injection off, and the log has the session's start."""
    settings = sandbox.home / ".config" / "upbeat" / "auto-tools.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text('enabeld = "auto"\n', encoding="utf-8")
    finished = ask(sandbox, client, QUESTION, "--output-format", "stream-json", "--verbose")

    records = read_log(sandbox.home)
    told = {record["event"] for record in records if "notify_user" in [effect["kind"] for effect in record["effects"]]}
    assert {"SessionStarted", "PromptSubmitted", "TurnEnding", "SessionEnded"} == {
        record["event"] for record in records
    }
    assert {"SessionStarted", "PromptSubmitted"} == told
    assert [] == [said for request in main_requests(finished.requests) for said in injected(request)]
    assert "unknown key 'enabeld'; did you mean 'enabled'?" in finished.stdout
