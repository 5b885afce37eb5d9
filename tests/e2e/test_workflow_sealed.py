"""A workflow on a model of Codex that hides from hooks what one agent tells another (multi_agent v2)."""

from __future__ import annotations

from typing import Any

from processes import read_log

from .runs import run
from .sandbox import Sandbox
from .workflow_sessions import GREEN, TEST, TRUSTED, course, facts, install, passed, verdict, write_test

MODEL = "gpt-6.1-sol"
STEPS = (
    ("TEST (spec)", "upbeat_tester", "The behaviour is written down.", ()),
    ("DEV", "upbeat_developer", "The code is there.", (write_test(GREEN),)),
    ("TEST:2 (verify)", "upbeat_tester_2", "The tests are green.", (TEST,)),
)
"""Step, the name of the task (Codex takes each only once), answer, commands."""


def script() -> list[dict[str, Any]]:
    """The agents are told apart by what they are told of their step, because the stub cannot read their task either."""
    rules: list[dict[str, Any]] = []
    for step, _, answer, commands in STEPS:
        mine = [f"workflow tdd · step {step}\n"]
        rules += [{"said": mine, "reply": [call("exec_command", cmd=command)]} for command in commands]
        rules.append({"said": mine, "times": 0, "reply": [{"text": verdict("PASS", answer)}]})
    rules.append({"said": [STEPS[-1][2]], "times": 0, "reply": [{"text": "All of it is done."}]})
    for number, (_, task, _, _) in reversed(list(enumerate(STEPS))):
        before = STEPS[number - 1][2] if number else ""
        heading = f"Now for {task}."
        spawn = call("spawn_agent", message="Do your step.", task_name=task) | {"namespace": "collaboration"}
        look = [{"wait": 0.2}, call("exec_command", cmd="true")]
        rules.append({"said": [heading], "times": 100, "reply": look})
        rules.append({"said": [before] if before else [], "reply": [{"text": heading}, spawn]})
    return rules


def call(tool: str, **arguments: Any) -> dict[str, Any]:
    """A tool call of the model."""
    return {"tool": tool, "input": arguments}


def test_hidden_tasks_are_known_by_their_names(sandbox: Sandbox) -> None:
    """The name of the task says whose it is; the agent is told its step when it starts, and its verdict counts."""
    install(sandbox, "codex")
    command = ["codex", "exec", "--json", "--model", MODEL, TRUSTED, "-"]
    done = run(sandbox, command, stdin="[workflow:tdd] add retries to save_order", script=script())

    records = read_log(sandbox.home)
    steps = [*passed("TEST"), *passed("DEV"), *passed("TEST:2")]
    assert ["run started tdd", *steps, "run complete"] == course(records)
    assert 3 == len(facts(records, "subagent_instructed"))
    first = next(turn for turn in done.turns if turn.from_subagent)
    assert ["developer"] == first.roles_with("upbeat · workflow tdd · step TEST (spec)")
    assert [] == done.launch.left_behind()
