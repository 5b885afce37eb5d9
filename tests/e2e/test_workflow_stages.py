"""No stage is passed by saying so: what the main agent may claim, and what only an agent's work counts for."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from processes import read_log

from .runs import Finished, run
from .sandbox import Sandbox
from .workflow_sessions import (
    GREEN,
    TEST,
    TRUSTED,
    carry_out,
    command_of,
    effects,
    facts,
    install,
    part,
    play,
    prepare,
    rounds_of,
    said,
    script_of,
    shell_call,
    status,
    subagent_turns,
    verdict,
    write_test,
)

CLIENTS = ("claude", "codex")
SECURE = ("PLAN", "ARCH", "TEST", "DEV", "REVIEW", "TEST:2", "SECURITY", "RETRO", "DOCS")
QUICK = ("DEV", "REVIEW", "TEST", "RETRO")
EMPTY_TESTS = "mkdir -p /tmp/empty && cd /tmp/empty && python3 -m unittest"


def markers(*steps: str) -> str:
    """One message that claims a pass of each of ``steps``."""
    lines = [f'<!-- VERDICT: {{"stage": "{step}", "result": "PASS"}} -->' for step in steps]
    return "\n".join(["All of it is done.", *lines])


def claim(sandbox: Sandbox, client: str, workflow: str, *steps: str, run_first: str = "") -> Finished:
    """A session whose model delegates nothing and claims ``steps`` in each of its messages."""
    prepare(sandbox, client)
    first: list[dict[str, Any]] = [{"reply": [shell_call(client, run_first)]}] if run_first else []
    script = [*first, {"times": 0, "reply": [{"text": markers(*steps)}]}]
    return run(sandbox, command_of(client), stdin=f"[workflow:{workflow}] add login", script=script)


@pytest.mark.parametrize("client", CLIENTS)
def test_secure_is_not_passed_by_nine_markers(sandbox: Sandbox, client: str) -> None:
    """A message counts for one step that needs no agent; REVIEW, SECURITY, the tests and what follows stay open."""
    done = claim(sandbox, client, "secure", *SECURE, run_first=EMPTY_TESTS)
    [session] = status(sandbox)
    finished = [fact["step_key"] for fact in facts(read_log(sandbox.home), "step_finished")]

    assert ("running", ["PLAN", "ARCH", "TEST", "DEV"]) == (session["workflow"]["status"], finished)
    assert ["PLAN", "ARCH", "TEST", "DEV"] == session["workflow"]["self_declared"]
    refused = done.turns[2].texts_with("Only your verdict on PLAN counts")
    assert 1 == len(refused)
    assert "reported by the main agent itself" in " ".join(run(sandbox, ["upbeat", "status"]).stdout.split())


@pytest.mark.parametrize("client", CLIENTS)
def test_quick_is_not_passed_by_four_markers(sandbox: Sandbox, client: str) -> None:
    """DEV counts, and is shown as self-declared; REVIEW and TEST wait for their agents."""
    done = claim(sandbox, client, "quick", *QUICK)
    [session] = status(sandbox)

    assert ("running", ["DEV"]) == (session["workflow"]["status"], session["workflow"]["self_declared"])
    assert 1 <= done.turns[1].count("REVIEW, TEST, RETRO: only a subagent")


@pytest.mark.parametrize("client", CLIENTS)
def test_review_only_needs_an_agent(sandbox: Sandbox, client: str) -> None:
    """The main agent learns who reviews, not how to claim it."""
    done = claim(sandbox, client, "review-only", "REVIEW")
    [session] = status(sandbox)

    assert ("running", 0) == (session["workflow"]["status"], session["workflow"]["done"])
    assert [] == done.turns[0].texts_with("VERDICT")


@pytest.mark.parametrize("client", CLIENTS)
def test_the_next_step_comes_when_the_agent_returns(sandbox: Sandbox, client: str) -> None:
    """It costs no turn: after each agent the main agent reads once who is next, and the turn ends but once."""
    played = play(sandbox, client, "[workflow:tdd] add retries", rounds_of("tdd"))
    last = [turn for turn in played.done.turns if not turn.from_subagent][-1]

    assert ["complete"] == said(played.records, "loop")
    assert [1, 1, 0] == [last.count(f"upbeat · workflow tdd: {done}/3 done.") for done in (1, 2, 3)]
    assert 1 == last.count("1/3 done.\nNext step: delegate DEV to the subagent upbeat:developer.")


def test_the_next_step_comes_with_the_notification(sandbox: Sandbox) -> None:
    """Of an agent in the background the client tells in a prompt of its own, and upbeat with it."""
    script = script_of("claude", rounds_of("background"))
    for action in (action for rule in script for action in rule["reply"] if action.get("tool") == "Agent"):
        action["input"]["run_in_background"] = True
    done = run(sandbox, command_of("claude"), stdin="[workflow:tdd] add retries", script=script)
    last = [turn for turn in done.turns if not turn.from_subagent][-1]

    assert [] == effects(read_log(sandbox.home), "continue_turn")
    assert 1 == last.count("1/3 done.\nNext step: delegate DEV")
    assert 1 == last.count("2/3 done.\nNext step: delegate TEST:2")


def test_the_next_step_comes_with_the_result_of_waiting(sandbox: Sandbox) -> None:
    """Codex's own tool that waits for agents returns when one has ended; upbeat adds the next step to its result."""
    install(sandbox, "codex")
    spawn = {"tool": "spawn_agent", "input": {"message": "Do your step.", "task_name": "upbeat_developer"}}
    wait = {"tool": "wait_agent", "input": {"timeout_ms": 10_000}}
    script = [
        {"said": ["workflow quick · step DEV\n"], "times": 0, "reply": [{"wait": 1}, {"text": "It is written."}]},
        {"reply": [spawn | {"namespace": "collaboration"}]},
        {"reply": [wait | {"namespace": "collaboration"}]},
        {"times": 0, "reply": [{"text": "Which of the two shall review it?"}]},
    ]
    command = ["codex", "exec", "--json", "--model", "gpt-6.1-sol", TRUSTED, "-"]
    done = run(sandbox, command, stdin="[workflow:quick] add retries", script=script)
    last = [turn for turn in done.turns if not turn.from_subagent][-1]

    assert 1 == last.count("1/4 done.\nNext steps, to delegate in parallel")


@pytest.mark.parametrize(
    ("command", "result"), [("ls", "unclear"), ("cat README.md", "unclear"), ("cat checks/test_it.py", "pass")]
)
@pytest.mark.parametrize("client", CLIENTS)
def test_a_review_counts_if_it_read_the_change(sandbox: Sandbox, client: str, command: str, result: str) -> None:
    """The reviewer's own calls show what it read before its verdict; it is told once what would count."""
    rounds = [
        [part("developer", "Write the code.", "PASS", write_test(GREEN))],
        [part("code-reviewer", "Review the code.", "PASS", command), part("tester", "Test the code.", "PASS", TEST)],
        "Which team shall review it?",
    ]
    played = play(sandbox, client, "[workflow:quick] add retries", rounds)
    verdicts = {fact["step_key"]: fact["verdict"] for fact in facts(played.records, "step_finished")}

    assert {"DEV": "pass", "REVIEW": result, "TEST": "pass"} == verdicts
    asked = [text for text in effects(played.records, "continue_turn") if "has read no part of the change" in text]
    assert (result == "unclear") == bool(asked)


@pytest.mark.parametrize(("offset", "result"), [(900, "unclear"), (1, "pass")])
def test_a_read_past_the_end_is_none(sandbox: Sandbox, offset: int, result: str) -> None:
    """A reviewer that asks for lines which the changed file does not have has not read it."""
    rounds = [
        [part("developer", "Write the code.", "PASS", write_test(GREEN))],
        [part("code-reviewer", "Review the code."), part("tester", "Test the code.", "PASS", TEST)],
        "Which team shall review it?",
    ]
    file = str(sandbox.repository / "checks" / "test_it.py")
    look = {"tool": "Read", "input": {"file_path": file, "offset": offset}}
    played = play(
        sandbox, "claude", "[workflow:quick] add retries", rounds, [{"said": ["Review the code."], "reply": [look]}]
    )
    verdicts = {fact["step_key"]: fact["verdict"] for fact in facts(played.records, "step_finished")}

    assert result == verdicts["REVIEW"]


@pytest.mark.parametrize("client", CLIENTS)
def test_a_handoff_that_is_cut_can_be_read_whole(sandbox: Sandbox, client: str) -> None:
    """The next agent is told goal, progress, the handoff and its file; no user is asked before it reads that."""
    prepare(sandbox, client)
    findings = "\n".join(f"- finding {number}: retries belong around the call that saves" for number in range(40))
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    report = verdict("PASS", f"## Findings\n{findings}\n- the token {token} is in the log")
    found = [[replace(part("debugger", "Find the cause."), answer=report)], "Which of the two hosts is meant?"]
    run(sandbox, command_of(client), stdin="[workflow:debug] fix the order", script=script_of(client, found))
    [file] = sandbox.home.glob(".local/state/upbeat/handoffs/*/DEBUG.md")
    read: dict[str, Any] = {"tool": "Read", "input": {"file_path": str(file)}}
    look = shell_call(client, f"cat '{file}'") if client == "codex" else read
    fixed = [[part("developer", "Fix it.")], "Which host is it?"]
    done = carry_out(
        sandbox,
        client,
        "go on then",
        fixed,
        session=status(sandbox)[0]["session_id"],
        first=[{"said": ["Fix it."], "reply": [look]}],
    )
    last = subagent_turns(done, "Fix it.")[-1]

    assert 1 == last.count("Goal: fix the order\nProgress: 1/3 steps done.")
    assert 1 == last.count("From DEBUG (cut, whole in DEBUG.md):")
    assert 1 == last.count(f"Whole handoffs: {file.parent}")
    assert (1, 0) == (last.count("finding 39: retries"), last.count(token))


@pytest.mark.parametrize("client", CLIENTS)
def test_one_of_three_developers_fails(sandbox: Sandbox, client: str) -> None:
    """Three calls in one message are one step: its worst result counts, the tester waits, and the step is repeated."""
    developers = [
        part("developer", "Write the first half.", "PASS", write_test(GREEN)),
        part("developer", "Write the second half.", "FAIL"),
        part("developer", "Write the rest of it."),
    ]
    rounds = [
        developers,
        [part("tester", "[stage:TEST] Test what is there.", refused=True)],
        [part("developer", "Write it again.")],
        "Which of these files shall the tester use?",
    ]
    played = play(sandbox, client, "[workflow:quick] add retries", rounds)
    finished = [(fact["step_key"], fact["verdict"]) for fact in facts(played.records, "step_finished")]

    assert [("DEV", "fail"), ("DEV", "pass")] == finished
    assert 1 == len(effects(played.records, "deny"))


@pytest.mark.parametrize("client", CLIENTS)
def test_a_model_does_not_leave_its_workflow(sandbox: Sandbox, client: str) -> None:
    """It may not replace its workflow with a shorter one from the shell."""
    prepare(sandbox, client)
    script: list[dict[str, Any]] = [
        {"reply": [shell_call(client, "upbeat workflow start single all done")]},
        {"times": 0, "reply": [{"text": markers("DEV", "REVIEW")}]},
    ]
    run(sandbox, command_of(client), stdin="[workflow:review-only] look at it", script=script)
    [session] = status(sandbox)

    assert ("review-only", 0) == (session["workflow"]["name"], session["workflow"]["done"])
    assert 1 == len(effects(read_log(sandbox.home), "deny"))
