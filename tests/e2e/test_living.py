"""upbeat beside others: switched off in one repository, and with another plugin's hooks on the same events."""

from __future__ import annotations

import json

import pytest
from processes import read_log

from .received import OPENING
from .runs import run
from .sandbox import Sandbox
from .test_hooks import QUESTION, ask, comparable
from .workflow_sessions import CLAUDES, command_of, prepare, shell_call

HARMLESS, DESTRUCTIVE = "echo done", "rm -rf ~"
NOTE, REFUSAL = "note of another plugin", "another plugin refuses this"


def add_hooks(sandbox: Sandbox, verdict: str) -> None:
    """Give Claude Code another plugin's hooks: a note with each prompt, and one verdict on each shell line."""
    answers = {
        "UserPromptSubmit": {"additionalContext": NOTE},
        "PreToolUse": {"permissionDecision": verdict, "permissionDecisionReason": REFUSAL},
    }
    hooks = {}
    for name, answer in answers.items():
        text = json.dumps({"hookSpecificOutput": {"hookEventName": name, **answer}})
        hooks[name] = [{"hooks": [{"type": "command", "command": f"echo '{text}'"}]}]
    (sandbox.home / ".claude/settings.json").write_text(json.dumps({"hooks": hooks}), encoding="utf-8")


def test_off_here_the_request_is_that_of_the_client_alone(sandbox: Sandbox, client: str) -> None:
    """After ``upbeat off`` it has nothing of upbeat's, and after ``upbeat on`` the context is back."""
    command = ["codex", "exec", "--json", "-"] if client == "codex" else [client, "-p"]
    without = run(sandbox, command, stdin=QUESTION)
    prepare(sandbox, client)
    switched = [run(sandbox, ["upbeat", "off"])]
    off = ask(sandbox, client, QUESTION)
    switched.append(run(sandbox, ["upbeat", "on"]))
    on = ask(sandbox, client, QUESTION)

    assert [0, 0] == [each.exit_code for each in switched]
    assert comparable(without.turns[0]) == comparable(off.turns[0])
    assert on.turns[0].injected()


@pytest.mark.parametrize("client", CLAUDES)
@pytest.mark.parametrize("verdict", ["allow", "deny"])
def test_hooks_of_another_plugin(sandbox: Sandbox, client: str, verdict: str) -> None:
    """The model gets both contexts; a denial of either holds against the other, and the log has only our own."""
    add_hooks(sandbox, verdict)
    prepare(sandbox, client)
    script = [{"reply": [shell_call(client, command)]} for command in (HARMLESS, DESTRUCTIVE)]
    script += [{"reply": [{"text": "All is done."}]}]
    done = run(sandbox, command_of(client), stdin=QUESTION, script=script)
    effects = [(record["event"], effect["kind"]) for record in read_log(sandbox.home) for effect in record["effects"]]
    sent = json.dumps(done.turns[-1].body, ensure_ascii=False)

    first = json.dumps(done.turns[0].body, ensure_ascii=False)
    assert (1, True) == (first.count(OPENING), NOTE in first)
    assert 1 == effects.count(("ToolStarting", "deny"))
    assert "rm -rf" in sent
    assert (verdict == "deny") is (REFUSAL in sent)
    assert sandbox.home.is_dir()
