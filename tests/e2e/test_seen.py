"""What a user sees of upbeat in the real clients: the line of a turn, the first session, and ``context``."""

from __future__ import annotations

import json

import pytest

from .runs import run
from .sandbox import Sandbox
from .terminal import Terminal
from .workflow_sessions import TRUSTED, command_of, install, prepare, set_up

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
