"""What a user sees of upbeat in the real clients: the line of a turn, the first session, and ``context``."""

from __future__ import annotations

import json

import pytest

from .runs import run
from .sandbox import Sandbox
from .terminal import ENTER, Terminal
from .workflow_sessions import CLAUDES, TRUSTED, command_of, install, prepare, set_up

QUESTION = "where does total_price apply the discount?"
LINE = "· cart.py:"
SAYS = {"claude": "UserPromptSubmit says: ", "claude-oldest": "UserPromptSubmit says: ", "codex": "↳ Hook · "}
GREY = ("949494", "999999", "brightblack")


def terminal_of(sandbox: Sandbox, client: str, **env: str) -> Terminal:
    """The client's terminal program with upbeat installed."""
    install(sandbox, client)
    command = ["codex", "--no-daemon", TRUSTED] if client == "codex" else [client]
    return Terminal(sandbox, command, columns=120, **env)


def ready(terminal: Terminal) -> None:
    """Wait until a prompt can be typed."""
    terminal.wait_until(lambda: "Ask Codex" in terminal.shown or "❯" in terminal.shown, "prompt")
    terminal.read(1.5)


def color_of(terminal: Terminal, text: str) -> str:
    """The foreground of the first character of ``text``."""
    row = next(number for number, line in enumerate(terminal.screen.display) if text in line)
    color: str = terminal.screen.buffer[row][terminal.screen.display[row].index(text)].fg
    return color


@pytest.mark.parametrize("language", ["en_US.UTF-8", "zh_CN.UTF-8"])
def test_a_turn_says_what_it_got(sandbox: Sandbox, client: str, language: str) -> None:
    """One grey line after the prompt names the files and the first place; no model gets it."""
    with terminal_of(sandbox, client, LANG=language) as terminal:
        ready(terminal)
        terminal.submit(QUESTION)
        terminal.wait_for("Stub answer")
        terminal.read(1)
        shown, turns = terminal.shown, terminal.launch.turns()
        grey = color_of(terminal, LINE)

    [line] = [line for line in shown.split("\n") if LINE in line]
    assert (SAYS[client] + ("upbeat：" if language.startswith("zh") else "upbeat: ")) in line
    assert grey in GREY
    assert 1 == len(turns)
    assert LINE not in json.dumps(turns[0].body, ensure_ascii=False)


def test_the_line_can_be_switched_off(sandbox: Sandbox, client: str) -> None:
    """With ``display.turn_line = "off"`` the context arrives, and nothing is said."""
    set_up(sandbox, '[display]\nturn_line = "off"\n')
    with terminal_of(sandbox, client) as terminal:
        ready(terminal)
        terminal.submit(QUESTION)
        terminal.wait_for("Stub answer")
        terminal.read(1)
        shown, turns = terminal.shown, terminal.launch.turns()

    assert LINE not in shown
    assert turns[0].injected()


def test_a_run_without_a_terminal_prints_the_answer_only(sandbox: Sandbox, client: str) -> None:
    """``claude -p`` and ``codex exec`` print what they printed before."""
    prepare(sandbox, client)
    done = run(sandbox, command_of(client), stdin=QUESTION)

    assert 0 == done.exit_code
    assert LINE not in done.stdout
    assert done.turns[0].injected()


def test_the_last_turns_context_is_shown_without_the_model(sandbox: Sandbox, client: str) -> None:
    """``/upbeat:context`` shows what the turn before got, exactly; the model hears nothing of it, then or later."""
    mark = "$" if client == "codex" else "/"
    with terminal_of(sandbox, client) as terminal:
        ready(terminal)
        terminal.submit(QUESTION)
        terminal.wait_for("Stub answer")
        terminal.read(1)
        terminal.submit(f"{mark}upbeat:context")
        if client == "codex":
            terminal.send(ENTER)  # the first one chooses the command from Codex's list
        terminal.wait_for("got ")
        terminal.read(1)
        shown, asked = terminal.shown, len(terminal.launch.turns())
        terminal.submit("and where is save_order?")
        terminal.wait_until(lambda: len(terminal.launch.turns()) > asked, "request")
        turns = terminal.launch.turns()

    assert 1 == asked
    assert f"The prompt “{QUESTION}” got " in shown.replace("\n  ", " ")
    assert "def total_price(cart):" in shown
    assert "upbeat:context" not in json.dumps(turns[-1].body["messages" if client != "codex" else "input"])


def test_without_a_screen_the_answer_is_printed_or_left_to_the_model(sandbox: Sandbox, client: str) -> None:
    """``claude -p`` prints the answer; ``codex exec`` would hide it, so there the model runs the command."""
    install(sandbox, client)
    mark = "$" if client == "codex" else "/"
    done = run(sandbox, command_of(client, is_installed=True), stdin=f"{mark}upbeat:context")

    if client == "codex":
        assert done.turns[0].texts_with("Run `upbeat context`")
    else:
        assert "no prompt is recorded here yet" in done.stdout
        assert [] == done.turns


def test_a_first_session_names_three_commands_once(sandbox: Sandbox, client: str) -> None:
    """The first session that has a screen says it; a run without one does not use it up."""
    install(sandbox, client)
    mark, shown = "$" if client == "codex" else "/", []
    run(sandbox, command_of(client, is_installed=True), stdin="thanks")
    for _ in range(2):
        with Terminal(sandbox, ["codex", "--no-daemon", TRUSTED] if client == "codex" else [client]) as terminal:
            ready(terminal)
            terminal.submit("thanks")
            terminal.wait_for("Stub answer")
            terminal.read(1)
            shown.append(terminal.shown)

    assert [True, False] == [
        f"{mark}upbeat:context (what the last turn got)" in each.replace("\n", " ") for each in shown
    ]


@pytest.mark.parametrize("client", CLAUDES)
def test_the_status_line_that_install_offers(sandbox: Sandbox, client: str) -> None:
    """Claude Code shows upbeat's line below the prompt once it is agreed to; after uninstall it does not."""
    run(sandbox, ["upbeat", "install", "claude", "--yes", "--status-line"])
    with Terminal(sandbox, [client]) as terminal:
        ready(terminal)
        terminal.submit("thanks")
        terminal.wait_for("Stub answer")
        shown = terminal.wait_until(lambda: "\n  upbeat" in terminal.shown, "status line")
    removed = run(sandbox, ["upbeat", "uninstall", "claude", "--yes"])

    assert "❯" in shown
    assert 0 == removed.exit_code
    assert "upbeat" not in (sandbox.home / ".claude/settings.json").read_text(encoding="utf-8")
