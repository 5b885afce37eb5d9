"""codex-auto on the real Codex by ``codex exec``: what the model gets over turns, restarts and lost threads."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from upbeat.adapters.codex_auto.sessions.store import SessionStore

from .clients import CLIENTS
from .received import OPENING, Request, Said
from .runs import Finished, run
from .sample_repository import SECRETS
from .sandbox import Sandbox
from .terminal import CTRL_C, NO_CURSOR, Terminal

ABOUT_CODE = "where does total_price of the Cart take the discount off?"
ALSO_ABOUT_CODE = "who calls save_order in shop/storage.py?"
FOUND = "def total_price(cart):"
EXEC = ("codex-auto", "--transport", "exec")
OFF = {"CI_AUTO_TOOLS": "off"}

Body = dict[str, Any]


def session(sandbox: Sandbox, name: str = "default") -> str:
    """The thread that codex-auto would go on with."""
    rows = SessionStore(sandbox.home / ".local/state", os.path.realpath(sandbox.repository)).read(0)
    return next(row.session.thread_id for row in rows if row.session and row.name == name)


def rollouts(sandbox: Sandbox) -> list[Path]:
    """Codex's own files of threads."""
    return sorted((sandbox.codex_home / "sessions").rglob("rollout-*.jsonl"))


def the_one_with(request: Request, words: str) -> Said:
    """The only part of the conversation that contains ``words``."""
    [said] = request.texts_with(words)
    return said


def assert_clean_end(done: Finished | Terminal) -> None:
    """No secret of the repository was sent, nothing but loopback was there, and nothing outlived the command."""
    for request in done.launch.requests():
        assert [secret for secret in SECRETS if secret in json.dumps(request.body)] == []
    assert (done.launch.interfaces(), done.launch.left_behind()) == (["lo"], [])


def once(sandbox: Sandbox, *arguments: str, script: Any = (), cwd: Path | None = None, **env: str) -> Finished:
    """``codex-auto --once`` with ``arguments``."""
    return run(sandbox, ["codex-auto", "--once", *arguments], script=script, env=env, cwd=cwd)


def test_three_turns_and_a_restart_are_one_thread(sandbox: Sandbox) -> None:
    """AC-001, AC-002: the context stands once, in the user's message, before the prompt; the history grows."""
    prompts = (ABOUT_CODE, ALSO_ABOUT_CODE, "thank you")
    with Terminal(sandbox, [*EXEC], **NO_CURSOR) as terminal:
        terminal.talk(*((prompt, f"Stub answer {number}.") for number, prompt in enumerate(prompts, start=1)))
    first, second, third = terminal.launch.turns()
    thread_id = session(sandbox)
    with Terminal(sandbox, [*EXEC], **NO_CURSOR) as later:
        later.talk(("thanks a lot", "Stub answer 1."))
    [fourth] = later.launch.turns()
    asked = the_one_with(first, ABOUT_CODE)

    assert ("user", 1) == (asked.role, asked.text.count(OPENING))
    assert asked.text.startswith(OPENING)
    assert asked.text.endswith(f"\n\n{ABOUT_CODE}")
    assert [FOUND in said.text for said in first.texts_with(FOUND)] == [True]
    assert [1, 2, 2, 2] == [len(request.texts_with(OPENING)) for request in (first, second, third, fourth)]
    assert "thank you" == the_one_with(third, "thank you").text
    assert ["user", "assistant", "user", "assistant", "user", "assistant", "user"] == [
        said.role
        for said in fourth.conversation()
        if any(
            words in said.text for words in (ABOUT_CODE, ALSO_ABOUT_CODE, "thank you", "thanks a lot", "Stub answer")
        )
    ]
    assert (thread_id, 1) == (session(sandbox), len(rollouts(sandbox)))
    assert thread_id in rollouts(sandbox)[0].name
    assert_clean_end(terminal)
    assert_clean_end(later)


@pytest.mark.parametrize("prompt", [ABOUT_CODE, "  two\nlines\t店 \n"])
def test_switched_off_the_model_gets_what_bare_codex_sends(sandbox: Sandbox, prompt: str) -> None:
    """AC-013: with CI_AUTO_TOOLS=off the request is that of ``codex exec`` with the same prompt."""
    bare = run(sandbox, ["codex", "exec", "--json", "-"], stdin=prompt)
    wrapped = run(sandbox, ["codex-auto", "--once"], stdin=prompt, env=OFF)
    [theirs], [ours] = bare.turns, wrapped.turns

    assert _without_ids(theirs.body) == _without_ids(ours.body)
    assert prompt == the_one_with(ours, prompt).text
    assert (0, "Stub answer 1.\n") == (wrapped.exit_code, wrapped.stdout)
    assert_clean_end(wrapped)


def _without_ids(body: Body) -> Body:
    """The body but for the names of threads, turns and items."""
    items = [{name: value for name, value in item.items() if name != "id"} for item in body["input"]]
    rest = {name: value for name, value in body.items() if name not in ("prompt_cache_key", "client_metadata")}
    return {**rest, "input": items}


@pytest.mark.parametrize("way", ["exec", "exec by npm's launcher", "app-server"])
def test_ctrl_c_stops_a_turn_and_the_next_one_goes_on(sandbox: Sandbox, way: str) -> None:
    """Codex hangs up on its model at once, and the thread goes on with what was asked before."""
    command = ["codex-auto", "--transport", way.partition(" ")[0]]
    if "npm" in way:  # a script of Node that starts the native program as its child
        if shutil.which("node") is None:
            pytest.skip("the npm launcher needs node")
        command += ["--codex", str(CLIENTS["codex"].folder / "node_modules/@openai/codex/bin/codex.js")]
    script = [{"when": "wait for it", "reply": [{"text": "half"}, {"wait": 60}, {"text": "late"}]}]
    with Terminal(sandbox, command, script, **NO_CURSOR, **OFF) as terminal:
        terminal.wait_for("›")
        terminal.submit("wait for it")
        terminal.wait_until(lambda: len(terminal.launch.turns()) == 1, "request")
        terminal.send(CTRL_C)
        terminal.wait_for("Turn interrupted")
        terminal.wait_until(lambda: terminal.launch.turns()[0].hung_up_at is not None, "hang-up", 3)
        terminal.talk(("go on", "Stub answer 2."))
    second = terminal.launch.turns()[1]

    assert [1, 1] == [len(second.texts_with(words)) for words in ("wait for it", "go on")]
    assert 1 == len(rollouts(sandbox))
    assert_clean_end(terminal)


def test_ctrl_c_ends_a_command_of_codex(sandbox: Sandbox, transport: str) -> None:
    """A shell command that Codex runs ends with the turn, by either transport."""
    call = {"tool": "exec_command", "input": {"cmd": "sleep 345", "yield_time_ms": 29000}}
    command = ["codex-auto", "--transport", transport]
    with Terminal(sandbox, command, [{"reply": [call]}], **NO_CURSOR, **OFF) as terminal:
        terminal.wait_for("›")
        terminal.submit("run it")
        terminal.wait_for("$ sleep 345")
        terminal.wait_until(lambda: _runs("sleep 345"), "command")
        terminal.send(CTRL_C)
        terminal.wait_for("Turn interrupted")
        terminal.wait_until(lambda: not _runs("sleep 345"), "end of the command", 3)
        terminal.leave()

    assert_clean_end(terminal)


def _runs(command: str) -> bool:
    """Whether any process of this machine has this command line."""
    return not subprocess.run(["pgrep", "-f", f"^{command}$"], capture_output=True).returncode


def test_a_lost_thread_is_reported_and_replaced(sandbox: Sandbox) -> None:
    """AC-002: when Codex has no rollout any more, nothing was sent to the old thread, and the new one is stored."""
    once(sandbox, "first", **OFF)
    lost = session(sandbox)
    shutil.rmtree(sandbox.codex_home / "sessions")
    done = once(sandbox, "later words", **OFF)

    assert (0, "Stub answer 1.\n") == (done.exit_code, done.stdout)
    assert "[Limits] session continuity unavailable; fallback to stateless exec: " in done.stderr
    assert lost in done.stderr
    assert lost != session(sandbox)
    assert [[Said("user", "message", "later words")]] == [request.texts_with("later words") for request in done.turns]


def test_a_thread_that_another_codex_holds_is_left_alone(sandbox: Sandbox, transport: str) -> None:
    """AC-002: the second writer is told, its prompt is not sent, and the first is not disturbed."""
    once(sandbox, "first", **OFF)
    thread_id = session(sandbox)
    theirs = f"printf 'held words' | codex exec --json resume {thread_id} - >/dev/null"
    held = f"{theirs} & sleep 2; codex-auto --once --transport {transport} 'later words'; echo $?; wait"
    script = [{"when": "held words", "reply": [{"wait": 5}, {"text": "done"}]}]
    done = run(sandbox, ["sh", "-c", held], script=script, env=OFF)

    assert "1\n" == done.stdout
    assert "another program has this session open" in done.stderr
    assert ([], thread_id) == ([r for r in done.turns if r.texts_with("later words")], session(sandbox))


GREY_DOT = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg=="
"""A picture of one pixel, as PNG."""


def test_flags_reach_codex_on_new_and_on_resumed_threads(sandbox: Sandbox) -> None:
    """Flags behind -- work before ``resume`` too, a greedy one among them."""
    image = sandbox.root / "dot.png"
    image.write_bytes(base64.b64decode(GREY_DOT))
    flags = ("--", "-m", "gpt-5.4", "-s", "read-only", "-c", 'model_reasoning_effort="low"', "-i", str(image))
    first, second = once(sandbox, "first", *flags, **OFF), once(sandbox, "second", *flags, **OFF)
    main = [request.body for done in (first, second) for request in done.turns]

    assert [(0, 0), (0, 0)] == [(done.exit_code, len(done.launch.left_behind())) for done in (first, second)]
    assert {"gpt-5.4"} == {body["model"] for body in main}
    assert {"low"} == {body["reasoning"]["effort"] for body in main}
    assert "first" in json.dumps(main[-1]["input"])
    assert [1, 2] == [json.dumps(body["input"]).count("data:image/png") for body in (main[0], main[-1])]


def test_outside_git_it_works_and_says_so(sandbox: Sandbox) -> None:
    """AC-005: Codex refuses such folders unless told; codex-auto tells it, and the user."""
    folder = sandbox.root / "no repository"
    folder.mkdir()
    done = once(sandbox, "hello", cwd=folder, **OFF)

    assert (0, "Stub answer 1.\n") == (done.exit_code, done.stdout)
    assert "--skip-git-repo-check" in done.stderr


def test_a_failed_turn_has_an_exit_code_and_a_message(sandbox: Sandbox) -> None:
    """AC-012: what the provider refused is exit code 1 and a sentence, and the prompt was sent once."""
    error = {"error": {"type": "invalid_request_error", "message": "no such thing"}}
    done = once(sandbox, "hello", script=[{"reply": [{"error": 400, "body": error}]}], **OFF)

    assert (1, "") == (done.exit_code, done.stdout)
    assert "turn failed" in done.stderr
    assert "no such thing" in done.stderr
    assert 1 == len(done.turns)


def test_a_plan_reaches_no_model_and_leaves_no_trace(sandbox: Sandbox) -> None:
    """AC-003: no request, no file, and the command that would run."""
    before = _files(sandbox)
    done = run(sandbox, ["codex-auto", "--plan", ABOUT_CODE])

    assert "codex exec --json -" == json.loads(done.stdout)["tool_plan"]["planned_codex_command"]
    assert (0, [], before) == (done.exit_code, done.requests, _files(sandbox))


def _files(sandbox: Sandbox) -> dict[str, bytes]:
    folders = (sandbox.home, sandbox.codex_home, sandbox.repository)
    return {str(path): path.read_bytes() for folder in folders for path in folder.rglob("*") if path.is_file()}
