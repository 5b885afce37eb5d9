"""codex-auto on the real Codex: effort for one turn, threads that are nearly full, too long, or refused."""

from __future__ import annotations

import json
from typing import Any

from .received import Request
from .runs import Finished, ScriptRules
from .sandbox import Sandbox, add_codex_settings
from .terminal import NO_CURSOR, Terminal
from .test_codex_auto import once, session

FULL = [{"failed": "context_length_exceeded", "message": "too long"}]
REFUSED = {"error": {"message": "No tool output found for function call call_9.", "type": "invalid_request_error"}}
SUMMARY = "CONTEXT CHECKPOINT COMPACTION"


def efforts(turns: list[Request]) -> list[str]:
    return [turn.body["reasoning"]["effort"] for turn in turns]


def compactions(done: Finished | Terminal) -> int:
    """Requests in which Codex asks for a summary."""
    return sum(SUMMARY in json.dumps(request.body) for request in done.launch.requests())


def talked(sandbox: Sandbox, prompts: list[tuple[str, str]], script: ScriptRules = (), **env: str) -> Terminal:
    """A conversation over the app-server: each prompt, and the words that are waited for behind it."""
    with Terminal(sandbox, ["codex-auto", "--transport", "app-server"], script, **NO_CURSOR, **env) as terminal:
        terminal.talk(*prompts)
    assert [] == terminal.launch.left_behind()
    return terminal


def test_thinking_hard_is_for_one_turn_by_exec(sandbox: Sandbox) -> None:
    """The turn of a prompt that asks for it has a high effort, and the next one the usual."""
    hard = once(sandbox, "think hard: question-one")
    usual = once(sandbox, "question-two")
    low = once(sandbox, "--effort", "low", "question-three")

    assert [["high"], ["medium"], ["low"]] == [efforts(done.turns) for done in (hard, usual, low)]
    assert [True, False] == [
        "raised the reasoning effort of this turn to high" in done.stderr for done in (hard, usual)
    ]


def test_thinking_hard_is_for_one_turn_by_app_server(sandbox: Sandbox) -> None:
    """Codex keeps an effort for the turns that follow; the next turn sets the usual one again."""
    prompts = [("question-one", "answer 1"), ("ultrathink question-two", "answer 2"), ("question-three", "answer 3")]
    talk = talked(sandbox, prompts)

    assert ["medium", "high", "medium"] == efforts(talk.launch.turns())


def test_a_thread_that_is_too_long_goes_on_by_exec(sandbox: Sandbox) -> None:
    """Codex summarises such a thread before its next turn; codex-auto sends that, with the request, and says so."""
    first = once(sandbox, "question-one")
    thread = session(sandbox)
    done = once(sandbox, "question-two", script=[{"when": "question-two", "reply": FULL}])

    assert (0, 0, 1) == (first.exit_code, done.exit_code, compactions(done))
    assert "retrying with a summary in 2 s (1 of 2)" in done.stderr
    assert thread == session(sandbox)
    assert "Continue with my last request: question-two" in json.dumps(done.turns[-1].body)


def test_a_thread_that_is_too_long_goes_on_by_app_server(sandbox: Sandbox) -> None:
    """The app-server is told to summarise, on the same thread."""
    script = [{"when": "question-two", "reply": FULL}]
    talk = talked(sandbox, [("question-one", "answer 1"), ("question-two", "answer 3")], script)

    assert 1 == compactions(talk)
    assert "Continue with my last request: question-two" in json.dumps(talk.launch.turns()[-1].body)


def test_recovery_is_tried_twice(sandbox: Sandbox) -> None:
    """A thread that does not fit after two attempts fails, with how to fix it."""
    once(sandbox, "question-one")
    done = once(sandbox, "question-two", script=[{"kind": "main", "times": 0, "reply": FULL}])

    assert (1, 3) == (done.exit_code, len(done.turns))
    assert "start another one with /new" in done.stderr


def test_a_refused_history_is_replaced(sandbox: Sandbox) -> None:
    """The prompt goes to a new thread, and the user is told."""
    once(sandbox, "question-one")
    former = session(sandbox)
    script: list[dict[str, Any]] = [{"when": "question-two", "reply": [{"error": 400, "body": REFUSED}]}]
    done = once(sandbox, "question-two", script=script)

    assert (0, "Stub answer 2.\n") == (done.exit_code, done.stdout)
    assert former != session(sandbox)
    assert "no longer accepts the history" in done.stderr
    assert (1, 0) == (done.turns[-1].count("question-two"), done.turns[-1].count("question-one"))


def test_a_nearly_full_thread_is_summarised_first(sandbox: Sandbox) -> None:
    """From 78 per cent of the window on, before the next turn, once."""
    add_codex_settings(sandbox, "model_context_window = 14000", "model_auto_compact_token_limit = 1000000")
    talk = talked(sandbox, [("question-one", "answer 1"), ("question-two", "answer 2"), ("question-three", "answer 3")])

    assert 1 <= compactions(talk)
    assert "Codex summarizes it before this turn" in talk.shown


def test_open_tasks_of_the_model_continue_a_turn(sandbox: Sandbox) -> None:
    """By codex-auto alone, without hooks: the model is reminded of its open tasks until they are done."""
    add_codex_settings(sandbox, "tools.update_plan.enabled = true")
    plan = {"plan": [{"step": "write tests", "status": "pending"}, {"step": "rename", "status": "completed"}]}
    done_plan = {"plan": [{"step": "write tests", "status": "completed"}, {"step": "rename", "status": "completed"}]}
    script = [
        {"when": "question-one", "reply": [{"tool": "update_plan", "input": plan}]},
        {"when": "Plan updated", "reply": [{"text": "I stop here."}]},
        {"when": "open items", "reply": [{"tool": "update_plan", "input": done_plan}]},
    ]
    talk = talked(sandbox, [("question-one", "upbeat continues")], script, CI_AUTO_TOOLS="auto")

    reminders = [turn.count("open items") for turn in talk.launch.turns()]
    assert [0, 0, 1] == reminders[:3]
