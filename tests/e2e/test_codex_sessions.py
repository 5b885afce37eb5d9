"""codex-auto's sessions, JSON lines and transports on the real Codex."""

from __future__ import annotations

import os
import time
from typing import Any

import pytest

from upbeat.adapters.codex_auto.sessions.store import SessionStore, StoredSession

from .received import OPENING
from .runs import run
from .sandbox import Sandbox
from .terminal import NO_CURSOR, Terminal

ABOUT_CODE = "where does total_price of the Cart take the discount off?"
OFF = {"CI_AUTO_TOOLS": "off"}


def threads(sandbox: Sandbox) -> dict[str, str]:
    """The stored threads by the names of their sessions."""
    return {row.name: row.session.thread_id for row in rows(sandbox) if row.session and row.name}


def rows(sandbox: Sandbox) -> tuple[StoredSession, ...]:
    """What codex-auto stored for the repository."""
    return SessionStore(sandbox.home / ".local/state", os.path.realpath(sandbox.repository)).read(0)


def test_json_is_ours_around_codex_own_lines(sandbox: Sandbox) -> None:
    """What stands between is what bare ``codex exec --json`` prints, but for ids and counts."""
    script = [{"reply": [{"text": "Found."}], "times": 0}]
    bare = run(sandbox, ["codex", "exec", "--json", "-"], stdin=ABOUT_CODE, script=script)
    wrapped = run(sandbox, ["codex-auto", "--json"], stdin=ABOUT_CODE, script=script)
    first, *codex, last = wrapped.json_lines()

    assert "def total_price(cart):" in first["report"]["fused_context"]["for_model"]["additional_context"]
    assert [_without_ids(line) for line in bare.json_lines()] == [_without_ids(line) for line in codex]
    assert codex[0]["thread_id"] == last["thread_id"] == threads(sandbox)["default"]
    assert ("upbeat.ended", "completed", 0, "codex-auto --session default") == tuple(
        last[name] for name in ("type", "status", "exit_code", "resume_command")
    )
    assert [] == wrapped.launch.left_behind()


def _without_ids(line: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in line.items() if name not in ("thread_id", "usage")}


def test_a_terminal_gets_the_app_server_and_a_script_goes_on_with_exec(sandbox: Sandbox) -> None:
    """It is said which; the context is no part of the user's message; the thread is the same on both ways."""
    with Terminal(sandbox, ["codex-auto"], **NO_CURSOR) as terminal:
        terminal.talk((ABOUT_CODE, "Stub answer 1."))
        assert "connected to codex app-server" in terminal.shown
    [asked] = terminal.launch.turns()
    thread_id = threads(sandbox)["default"]
    later = run(sandbox, ["codex-auto", "--once", "thank you"], env=OFF)

    assert ABOUT_CODE == asked.texts_with(ABOUT_CODE)[-1].text
    assert {"tool"} == set(asked.roles_with(OPENING))
    assert (0, {"default": thread_id}) == (later.exit_code, threads(sandbox))
    assert 1 == len([said for said in later.turns[0].conversation() if said.text == ABOUT_CODE])
    assert ([], []) == (terminal.launch.left_behind(), later.launch.left_behind())


def test_a_fork_knows_what_was_said_and_its_origin_goes_on(sandbox: Sandbox, transport: str) -> None:
    """/fork, then /resume back: two threads, each with its own next message."""
    with Terminal(sandbox, ["codex-auto", "--transport", transport], **NO_CURSOR, **OFF) as terminal:
        terminal.talk(
            *(("primo words", "Stub answer 1."), ("/fork ", "now session default-2")),
            *(("secundo words", "Stub answer 2."), ("/resume default", "continuing session default,")),
            ("tertio words", "Stub answer 3."),
        )
    _, forked, last = terminal.launch.turns()

    assert {"default", "default-2"} == set(threads(sandbox))
    assert (1, 1) == tuple(len(forked.texts_with(words)) for words in ("primo words", "secundo words"))
    assert (1, 0, 1) == tuple(len(last.texts_with(words)) for words in ("primo words", "secundo words", "tertio words"))
    assert [] == terminal.launch.left_behind()


def test_a_second_codex_auto_has_its_own_thread(sandbox: Sandbox) -> None:
    """While one sits at a terminal, a script in the same repository works beside it and says so."""
    script = [{"when": "primo-words", "reply": [{"text": "half"}, {"wait": 4}, {"text": "late"}]}]
    both = "codex-auto --once primo-words & sleep 2.5; codex-auto --once secundo-words; wait"
    done = run(sandbox, ["sh", "-c", both], script=script, env=OFF)

    assert "so this is session default-2" in done.stderr
    assert {"default", "default-2"} == set(threads(sandbox))
    assert 2 == len(set(threads(sandbox).values()))
    assert [1, 1] == [
        sum(len(turn.texts_with(words)) for turn in done.turns) for words in ("primo-words", "secundo-words")
    ]


@pytest.mark.parametrize(("name", "code"), [("INT", "130"), ("TERM", "143")])
def test_a_signal_leaves_nothing_and_says_how_to_go_on(sandbox: Sandbox, transport: str, name: str, code: str) -> None:
    """Codex, its server and its commands end; the named command goes on with the thread."""
    call = {"tool": "exec_command", "input": {"cmd": "sleep 345", "yield_time_ms": 29000}}
    # a shell lets what it starts in the background ignore Ctrl-C
    wrapped = f"exec env --default-signal=INT codex-auto --once --session s --transport {transport} primo-words"
    stopped = (
        f"setsid sh -c 'echo $$ > \"$TMPDIR/pid\"; {wrapped}' &"
        f' sleep 4; kill -{name} "$(cat "$TMPDIR/pid")"; wait $!; echo $?'
    )
    done = run(sandbox, ["bash", "-c", stopped], script=[{"when": "primo-words", "reply": [call]}], env=OFF)
    later = run(sandbox, ["codex-auto", "--once", "--session", "s", "go on"], env=OFF)

    assert code == done.stdout.strip().split("\n")[-1]
    assert f"codex-auto --session s in this folder, or codex resume {threads(sandbox)['s']}" in done.stderr
    assert [] == done.launch.left_behind()
    assert (0, [1]) == (later.exit_code, [len(turn.texts_with("primo-words")) for turn in later.turns])


def test_a_lease_of_the_killed_is_taken_over(sandbox: Sandbox) -> None:
    """After kill -9 the session goes on under its own name, and that is told."""
    killed = "codex-auto --once primo-words & p=$!; sleep 2.5; kill -9 $p; sleep 1; codex-auto --once secundo-words"
    script = [{"when": "primo-words", "reply": [{"text": "half"}, {"wait": 30}]}]
    began = time.monotonic()
    done = run(sandbox, ["bash", "-c", killed], script=script, env=OFF)

    assert "which is no longer running; this codex-auto continues it" in done.stderr
    assert ({"default"}, []) == (set(threads(sandbox)), done.launch.left_behind())
    assert [1, 1] == [len(done.turns[-1].texts_with(words)) for words in ("primo-words", "secundo-words")]
    assert time.monotonic() - began < 20


def test_a_terminal_that_is_told_to_end_leaves_no_server(sandbox: Sandbox) -> None:
    """SIGTERM while the user thinks: the app-server ends too, and the session is free."""
    with Terminal(sandbox, ["codex-auto"], **NO_CURSOR, **OFF) as terminal:
        terminal.wait_for("›")
        terminal.submit("hello")
        terminal.wait_for("Stub answer 1.")
        terminal.end()

    assert ([], [0]) == (terminal.launch.left_behind(), [row.lease.pid for row in rows(sandbox)])
