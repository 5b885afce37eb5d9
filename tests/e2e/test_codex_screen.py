"""codex-auto on the real Codex as a user sees it: the screen, approvals, and every failure that the stub can make."""

from __future__ import annotations

import time
from typing import Any

import pytest
from fakes.codex.conversation import CHINESE, ENGLISH
from wcwidth import wcswidth

from upbeat.adapters.codex.transport.base import FailureReason
from upbeat.adapters.codex_auto.texts import Texts

from .runs import run
from .sandbox import STUB_URL, Sandbox
from .terminal import ENTER, Terminal

EVIL = "\x1b]0;title\x07\x1b[5mblink\x1b[0m\u202e"
LONG = "看 every file of the repository, one after the other, until nothing is left. " * 3
LANGUAGES = {40: ("en_GB.UTF-8", ENGLISH), 80: ("zh_CN.UTF-8", CHINESE), 160: ("en_GB.UTF-8", ENGLISH)}

ASKING = {"cmd": "touch marked", "sandbox_permissions": "require_escalated", "justification": "may I?"}

Script = list[dict[str, Any]]


def talk(sandbox: Sandbox, transport: str, script: Script, columns: int = 100, **env: str) -> Terminal:
    """codex-auto at a terminal that answers."""
    command = ["codex-auto", "--transport", transport]
    return Terminal(sandbox, command, script, columns=columns, answers=True, **env)


def ask(terminal: Terminal, prompt: str) -> None:
    """Send ``prompt`` as soon as there is a prompt, and the line below it."""
    terminal.wait_for("店 · ")
    terminal.submit(prompt)


@pytest.mark.parametrize("columns", LANGUAGES)
def test_a_turn_fits_the_screen(sandbox: Sandbox, transport: str, columns: int) -> None:
    """Work is cut to the width, nothing of the model acts on the terminal, and the line below is there."""
    language, texts = LANGUAGES[columns]
    script: Script = [
        {"reply": [{"tool": "exec_command", "input": {"cmd": f"printf '%s\\n' '{LONG}'; exit 3"}}]},
        {"reply": [{"text": f"The **answer** is {EVIL} 42. {LONG} End.", "every": 0.01}]},
    ]
    with talk(sandbox, transport, script, columns, LANG=language, CI_AUTO_TOOLS="off") as terminal:
        ask(terminal, "hello")
        terminal.wait_for("token")
        terminal.wait_for("店 · 0")  # the thread's id is there
        shown = terminal.shown
        terminal.leave()
    lines = shown.rstrip().split("\n")

    assert [line for line in lines if line.startswith("$ printf")]
    assert texts["exit_code"].format(code=3) in shown
    assert "End." in shown
    assert "title" not in shown
    assert [] == [line for line in lines if wcswidth(line) > columns]
    assert "店" in lines[-1]


def test_an_answer_appears_while_it_is_written(sandbox: Sandbox) -> None:
    """With the app-server transport; the context that is used stands below afterwards."""
    script: Script = [{"reply": [{"text": "one two three four five six", "every": 0.7}]}]
    with talk(sandbox, "app-server", script, CI_AUTO_TOOLS="off") as terminal:
        ask(terminal, "count")
        terminal.wait_for("one two")
        assert "six" not in terminal.shown
        terminal.wait_for("five six")
        terminal.wait_for("k/258k (")


@pytest.mark.parametrize(("key", "ran"), [("y", True), ("", False), ("n", False), ("a", False)])
def test_a_command_is_run_only_after_a_yes(sandbox: Sandbox, key: str, ran: bool) -> None:
    """The question shows the command; Enter alone is a no. After cancel the turn is over; the next one goes on."""
    mark = sandbox.repository / "marked"
    script: Script = [
        {"when": "and now?", "reply": [{"text": "The next turn."}]},
        {"reply": [{"tool": "exec_command", "input": ASKING}]},
        {"reply": [{"text": "It is over."}]},
    ]
    with talk(sandbox, "app-server", script, CI_AUTO_TOOLS="off") as terminal:
        ask(terminal, "mark it")
        terminal.wait_for("[y]es")
        assert "  $ touch marked" in terminal.shown
        assert "reason: may I?" in terminal.shown
        terminal.send(key)
        terminal.send(ENTER)
        terminal.wait_for("Turn interrupted" if key == "a" else "It is over.")
        ask(terminal, "and now?")
        terminal.wait_for("The next turn.")

    assert ran == mark.exists()


FAILURES: dict[str, tuple[dict[str, Any], FailureReason, float]] = {
    "400": ({"error": 400}, FailureReason.BAD_REQUEST, 10),
    "401": ({"error": 401}, FailureReason.UNAUTHORIZED, 20),
    "403": ({"error": 403}, FailureReason.UNAUTHORIZED, 20),
    "429": ({"error": 429}, FailureReason.RATE_LIMITED, 20),
    "429 with retry-after": ({"error": 429, "headers": {"retry-after": "1"}}, FailureReason.RATE_LIMITED, 20),
    "500": ({"error": 500}, FailureReason.PROVIDER_ERROR, 45),
    "503": ({"error": 503}, FailureReason.PROVIDER_ERROR, 45),
    "cut": ({"cut": True}, FailureReason.STREAM_DISCONNECTED, 20),
    "context": ({"failed": "context_length_exceeded"}, FailureReason.CONTEXT_FULL, 10),
    "quota": ({"failed": "insufficient_quota"}, FailureReason.QUOTA_EXCEEDED, 10),
}
"""What the stub does for ever, the reason, and the seconds in which the user knows."""


@pytest.mark.parametrize("failure", FAILURES)
def test_a_failure_is_one_sentence_in_time(sandbox: Sandbox, transport: str, failure: str) -> None:
    """It has the reason and how to fix it; upbeat does not send the prompt again."""
    action, why, seconds = FAILURES[failure]
    began = time.monotonic()
    done = run(
        sandbox,
        ["codex-auto", "--once", "--transport", transport, "hello"],
        script=[{"kind": "any", "times": 0, "reply": [action]}],
        env={"CI_AUTO_TOOLS": "off"},
    )

    assert (1, "") == (done.exit_code, done.stdout)
    assert ENGLISH["failed"].format(reason=ENGLISH.group("failure_reasons")[why]) in done.stderr
    assert time.monotonic() - began < seconds
    assert [["user"]] * len(done.turns) == [turn.roles_with("hello") for turn in done.turns]


def test_a_provider_that_cannot_be_reached_ends_the_turn(sandbox: Sandbox, transport: str) -> None:
    """Codex itself would try for ever; half a minute is enough."""
    path = sandbox.codex_home / "config.toml"
    path.write_text(path.read_text(encoding="utf-8").replace(STUB_URL, "http://127.0.0.1:9"), encoding="utf-8")
    began = time.monotonic()
    done = run(sandbox, ["codex-auto", "--once", "--transport", transport, "hello"], env={"CI_AUTO_TOOLS": "off"})

    assert ENGLISH.group("failure_reasons")[FailureReason.PROVIDER_UNREACHABLE] in done.stderr
    assert 30 < time.monotonic() - began < 45
    assert [] == done.launch.left_behind()


@pytest.mark.parametrize("texts", [ENGLISH, CHINESE], ids=["en", "zh"])
@pytest.mark.parametrize(
    ("settings", "why"),
    [("model = \n", FailureReason.CODEX_CONFIG), ("env_key", FailureReason.MISSING_KEY)],
    ids=["bad config", "missing key"],
)
def test_what_is_wrong_here_is_told_at_once(
    sandbox: Sandbox, transport: str, texts: Texts, settings: str, why: FailureReason
) -> None:
    """A configuration that Codex does not take, and a key that is not set."""
    path = sandbox.codex_home / "config.toml"
    text = path.read_text(encoding="utf-8")
    missing = text.replace("requires_openai_auth = false", 'requires_openai_auth = false\nenv_key = "NO_SUCH_KEY"')
    path.write_text(missing if settings == "env_key" else settings + text, encoding="utf-8")
    language = {"LANG": "zh_CN.UTF-8" if texts is CHINESE else "en_GB.UTF-8"}
    began = time.monotonic()
    done = run(
        sandbox, ["codex-auto", "--once", "--transport", transport, "hello"], env={"CI_AUTO_TOOLS": "off", **language}
    )

    assert done.exit_code in (1, 2)
    if transport == "exec" or why is FailureReason.MISSING_KEY:
        assert texts.group("failure_reasons")[why] in done.stderr
        assert why is FailureReason.CODEX_CONFIG or "NO_SUCH_KEY" in done.stderr
    else:
        assert "config.toml" in done.stderr
    assert time.monotonic() - began < 10
    assert [] == done.turns
