"""Workflows in codex-auto on the real Codex, both ways, from the command to the end; with hooks and without."""

from __future__ import annotations

from typing import Any

import pytest
from processes import read_log

from .codex_trust import trust_all_hooks
from .received import Request
from .runs import Finished, run
from .sandbox import Sandbox
from .terminal import CTRL_C, Terminal
from .test_codex_auto import assert_clean_end
from .workflow_sessions import TEST, course, effects, facts, install, passed, rounds_of, said, script_of

SINGLE = "/upbeat:single add retries to save_order"
DEV_PASSED = 'Retries are in.\n<!-- VERDICT: {"stage": "DEV", "result": "PASS"} -->'
PASSED = [
    *("run started quick", "run adopted quick", "run handed_over thread"),
    *(*passed("DEV"), *passed("REVIEW", "TEST"), *passed("RETRO"), "run complete"),
]


def once(sandbox: Sandbox, transport: str, prompt: str, script: Any, *arguments: str) -> Finished:
    return run(sandbox, ["codex-auto", "--once", "--transport", transport, prompt, *arguments], script=script)


def prompts(requests: list[Request]) -> list[str]:
    """The newest words of a user in each request of the root agent."""
    return [
        [said.text for said in turn.conversation() if said.role == "user"][-1]
        for turn in requests
        if not turn.from_subagent
    ]


def course_of(sandbox: Sandbox) -> list[str]:
    """What happened, the thread's id taken out."""
    steps = course(read_log(sandbox.home))
    return ["run handed_over thread" if one.startswith("run handed_over") else one for one in steps]


def test_a_single_step_is_done_by_the_agent_itself(sandbox: Sandbox, transport: str) -> None:
    """The turn that ends too early is continued; the one that says PASS ends it."""
    done = once(sandbox, transport, SINGLE, [{"reply": [{"text": "I have begun."}]}, {"reply": [{"text": DEV_PASSED}]}])
    first, second = done.turns

    assert (0, f"I have begun.\n{DEV_PASSED}\n") == (done.exit_code, done.stdout)
    assert SINGLE in prompts([first])[0]
    assert prompts([second])[0].startswith("[upbeat 1/30] workflow single: DEV\n")
    assert ["continue_turn", "complete"] == said(read_log(sandbox.home), "loop")
    assert "upbeat: workflow single is complete: DEV ✓" in done.stderr
    assert_clean_end(done)


@pytest.mark.parametrize(("transport", "role"), [("exec", "user"), ("app-server", "developer")])
def test_instructions_of_the_workflow_are_no_data(sandbox: Sandbox, transport: str, role: str) -> None:
    """They are in the prompt or in a developer's message, and untrusted findings are framed apart."""
    done = once(sandbox, transport, SINGLE, [{"reply": [{"text": DEV_PASSED}]}])
    [carrier] = done.turns[0].texts_with("Run this workflow now")

    assert role == carrier.role
    assert "Next step: delegate DEV to the subagent upbeat:developer." in carrier.text.partition("<upbeat-data")[0]


def test_quick_is_driven_to_its_end_without_hooks(sandbox: Sandbox, transport: str) -> None:
    """Agents, their verdicts and the tests that ran are observed without hooks; each step starts once."""
    done = once(sandbox, transport, "/upbeat:quick add retries to save_order", script_of("codex", rounds_of("quick")))
    records = read_log(sandbox.home)
    seen = [fact["evidence"] for fact in facts(records, "command_ran")]

    assert (0, 1) == (done.exit_code, done.stdout.count("All of it is done."))
    assert PASSED == course_of(sandbox)
    assert [("tests", TEST, 0)] == [(one["kind"], one["command"], one["exit_code"]) for one in seen]
    assert ["continue_turn", "continue_turn", "complete"] == said(records, "loop")
    assert [] == effects(records, "deny")
    assert_clean_end(done)


def test_trusted_hooks_change_nothing(sandbox: Sandbox, transport: str) -> None:
    """Every call is then reported twice, under one id: the course is the same, and each step starts once."""
    install(sandbox, "codex")
    trust_all_hooks(sandbox)
    done = once(sandbox, transport, "/upbeat:quick add retries to save_order", script_of("codex", rounds_of("quick")))
    records = read_log(sandbox.home)

    assert "SubagentEnding" in {record["event"] for record in records}  # which only hooks tell
    assert PASSED == course_of(sandbox)
    assert ["DEV", "REVIEW", "TEST", "RETRO"] == [fact["step_key"] for fact in facts(records, "step_started")]
    assert 1 == len(facts(records, "command_ran"))
    assert 0 == done.exit_code


def test_a_pass_with_failed_tests_is_unclear(sandbox: Sandbox, transport: str) -> None:
    """The tester says PASS, and its command ended with 1: the step does not pass, and the turn is continued."""
    once(sandbox, transport, "/upbeat:debug the total", script_of("codex", rounds_of("debug")))
    records = read_log(sandbox.home)

    assert ["pass", "pass", "unclear"] == [fact["verdict"] for fact in facts(records, "step_finished")]
    assert [1] == [fact["evidence"]["exit_code"] for fact in facts(records, "command_ran")]


def test_a_loop_without_progress_ends(sandbox: Sandbox, transport: str) -> None:
    """Four turns that change nothing; the user is told how to go on, by one more turn and by the exit code."""
    done = once(sandbox, transport, SINGLE, ())

    assert (3, 5) == (done.exit_code, len(done.turns))
    assert "Tell the user this now" in prompts(done.turns)[-1]
    assert "upbeat: paused workflow single (no progress in 3 turns). Remaining: DEV" in done.stderr


def test_a_step_out_of_attempts(sandbox: Sandbox, transport: str) -> None:
    """After the third failed TEST one more turn lets the model say so, and the exit code is one of its own."""
    done = once(sandbox, transport, "/upbeat:debug the total", script_of("codex", rounds_of("exhausted")))
    last = prompts(done.turns)[-1]

    assert (3, "run needs_human TEST") == (done.exit_code, course_of(sandbox)[-1])
    assert last.startswith("Tell the user this now")
    assert "\nupbeat: workflow debug waits for you: TEST has failed 3 times." in last
    assert 1 == done.stderr.count("Say continue to try it again, or stop to end the workflow.\n")


def test_an_agent_that_outlives_its_turn(sandbox: Sandbox, transport: str) -> None:
    """codex exec drops agents that still work when a turn ends, so their step is repeated; the server keeps them."""
    spawn = {"tool": "spawn_agent", "namespace": "multi_agent_v1", "input": {"message": "[stage:DEV] Take your time."}}
    script = [
        {"said": ["Take your time."], "times": 0, "reply": [{"wait": 3}, {"text": "That took long."}]},
        {"reply": [{"text": "Handed over."}, spawn]},
        {"times": 0, "reply": [{"wait": 2}, {"text": "Waiting."}]},
    ]
    once(sandbox, transport, SINGLE, script)
    lost = len(facts(read_log(sandbox.home), "call_lost"))

    assert {"exec": 1, "app-server": 0}[transport] == lost


def test_stop_and_ctrl_c_at_the_terminal(sandbox: Sandbox, transport: str) -> None:
    """Ctrl-C ends the turn and what would follow; /workflow shows where it stands, and stops it."""
    script = [
        {"reply": [{"text": "I have begun."}]},
        {"when": "[upbeat 1/30]", "reply": [{"text": "Still"}, {"wait": 60}, {"text": "there"}]},
        {"when": "go on with it", "reply": [{"text": "Per host or in all?"}]},
    ]
    with Terminal(sandbox, ["codex-auto", "--transport", transport], script, answers=True) as terminal:
        terminal.wait_for("›")
        terminal.submit("/workflow start single add retries to save_order")
        terminal.wait_for("upbeat continues: [upbeat 1/30]")
        terminal.wait_until(lambda: len(terminal.launch.turns()) == 2, "the request of the continuation")
        terminal.send(CTRL_C)
        terminal.wait_for("Turn interrupted")
        terminal.wait_for("stage: DEV")
        terminal.submit("go on with it")
        terminal.wait_for("Per host or in all?")
        terminal.submit("/workflow")
        terminal.wait_for("next       DEV")
        terminal.submit("/workflow stop")
        terminal.wait_for("stopped workflow")
        rest = ("lookup: auto · context:", "lookup: auto · budget:")  # no stage between them
        terminal.wait_until(lambda: any(text in terminal.shown for text in rest), "status line without a stage")
        terminal.leave()

    assert ["continue_turn", "listen", "allow_end", "stop"] == said(read_log(sandbox.home), "loop")
    assert ["stopped"] == [fact["status"] for fact in facts(read_log(sandbox.home), "workflow_ended")][-1:]
    assert_clean_end(terminal)


def test_another_run_continues_the_workflow(sandbox: Sandbox, transport: str) -> None:
    """The workflow belongs to the thread: after a restart the next prompt finds it."""
    once(sandbox, transport, SINGLE, [{"reply": [{"text": "Per host or in all?"}]}])
    done = once(sandbox, transport, "implement it per host", [{"reply": [{"text": DEV_PASSED}]}])

    assert ["allow_end", "listen", "complete"] == said(read_log(sandbox.home), "loop")
    assert "upbeat · workflow single: DEV" in "".join(one.text for one in done.turns[0].conversation())
