"""Workflows from the prompt to their end on the real clients: every stage by an agent, the same journal everywhere."""

from __future__ import annotations

import pytest
from processes import read_log

from .received import Said
from .runs import Finished, run
from .sandbox import Sandbox
from .workflow_scripts import codex_script
from .workflow_sessions import (
    CLAUDES,
    Played,
    command_of,
    course,
    install,
    passed,
    rounds_of,
    said,
    script_of,
    shared_session,
    status,
    subagent_turns,
)

STANDARD = rounds_of("standard")

standard = shared_session("[workflow:standard] add retries to save_order", STANDARD)


secure = shared_session("[workflow:secure] add retries to save_order", rounds_of("secure"))


def test_standard_runs_to_its_end(standard: Played) -> None:
    """All eight steps pass in order, and the last turn ends at once."""

    steps = [*passed("PLAN"), *passed("ARCH"), *passed("TEST"), *passed("DEV"), *passed("REVIEW", "TEST:2")]
    steps += [*passed("RETRO"), *passed("DOCS")]
    assert ["run started standard", *steps, "run complete"] == course(standard.records)
    assert ["complete"] == said(standard.records, "loop")
    assert (0, 1) == (standard.done.exit_code, standard.done.stdout.count("All of it is done."))
    assert [] == standard.done.launch.left_behind()
    assert [] == [record for record in standard.records if record["event"] in NO_EVENTS]


NO_EVENTS = ("invalid_payload", "internal_error")


def test_status_says_complete(standard: Played) -> None:
    """`upbeat status --json` has the one session, its eight steps done."""
    [session] = status(standard.sandbox)

    assert ("complete", 8, 8) == tuple(session["workflow"][name] for name in ("status", "done", "steps"))


def test_each_agent_gets_the_context_of_its_step_once(standard: Played) -> None:
    """It is before the prompt, and names what earlier steps reported."""
    done = standard.done

    heads = {each.prompt: told(done, each.prompt) for this in STANDARD if not isinstance(this, str) for each in this}
    assert [1] * 8 == [len(head) for head in heads.values()]
    [tested] = heads["Test the code."]
    assert tested.text.startswith(
        "upbeat · workflow standard · step TEST:2 (verify)\nGoal: add retries to save_order\n"
    )
    assert '<!-- VERDICT: {"result": "PASS|FAIL", "call": "' in tested.text


def told(done: Finished, prompt: str) -> list[Said]:
    """What the agent with this prompt was told of its step, in its first request."""
    return subagent_turns(done, prompt)[0].texts_with("upbeat · workflow ")


def test_secure_has_three_in_one_group(secure: Played) -> None:
    """Review, test and security review belong together, and the retrospective comes after all three."""
    steps = [*passed("PLAN"), *passed("ARCH"), *passed("TEST"), *passed("DEV")]
    steps += [*passed("REVIEW", "SECURITY", "TEST:2"), *passed("RETRO"), *passed("DOCS")]
    assert ["run started secure", *steps, "run complete"] == course(secure.records)


@pytest.mark.parametrize(
    ("client", "prompt"),
    [
        ("claude", "/upbeat:tdd add retries"),
        ("claude-oldest", "/upbeat:tdd add retries"),
        ("codex", "$upbeat:tdd add retries"),
    ],
)
def test_command_starts_the_workflow(sandbox: Sandbox, client: str, prompt: str) -> None:
    """The client's own command, of the plugin as it is installed, starts it; the words behind it are the goal.

    Codex has the agents of the plugin, too.
    """
    install(sandbox, client)
    rounds = rounds_of("tdd")
    script = codex_script(rounds, "upbeat:{}".format) if client == "codex" else script_of(client, rounds)
    run(sandbox, command_of(client, is_installed=True), stdin=prompt, script=script)

    steps = [*passed("TEST"), *passed("DEV"), *passed("TEST:2")]
    assert ["run started tdd", *steps, "run complete"] == course(read_log(sandbox.home))
    assert "add retries" == status(sandbox)[0]["workflow"]["goal"]


@pytest.mark.parametrize("client", CLAUDES)
def test_agents_in_the_background(sandbox: Sandbox, client: str) -> None:
    """Agents that work while the turn ends, as all do in the newest terminal program: it is let go, and comes back."""
    script = script_of(client, rounds_of("background"))
    for action in (action for rule in script for action in rule["reply"] if action.get("tool") == "Agent"):
        action["input"]["run_in_background"] = True
    done = run(sandbox, command_of(client), stdin="[workflow:tdd] add retries", script=script)

    records = read_log(sandbox.home)
    steps = [*passed("TEST"), *passed("DEV"), *passed("TEST:2")]
    assert ["run started tdd", *steps, "run complete"] == course(records)
    assert ["allow_end", "allow_end", "allow_end", "complete"] == said(records, "loop")
    assert [1, 1, 1] == [
        len(told(done, prompt)) for prompt in ("Write the behaviour down.", "Write the code.", "Test the code.")
    ]
