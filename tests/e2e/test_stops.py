"""Prompts that stop, pause or go on, and turns that end lazily or wait, on the real clients."""

from __future__ import annotations

import pytest
from processes import read_log

from .sandbox import Sandbox
from .workflow_scripts import Round
from .workflow_sessions import carry_out, prepare, said

SINGLE = "[workflow:single] add retries to save_order"
ASKS: list[Round] = ["Which of the two databases is meant?"]
IDLE: list[Round] = ["That would be all from me."]
STOPS = ("ok stop.", "cancel the workflow", "请停止")
PAUSES = ("stop, do something else", "wait, stop!")
GOES = ("don't stop", "fix the stop button")


def decided(sandbox: Sandbox, client: str, prompt: str, answer: list[Round]) -> list[str]:
    """What the loop decided in the turn of ``prompt``, in a session whose workflow has its only step open."""
    carry_out(sandbox, client, SINGLE, ASKS)
    before = read_log(sandbox.home)
    carry_out(sandbox, client, prompt, answer, session=before[-1]["session_id"])
    return said(read_log(sandbox.home)[len(before) :], "loop")


@pytest.mark.parametrize("prompt", [*STOPS, *PAUSES])
def test_a_stop_ends_the_turn(sandbox: Sandbox, client: str, prompt: str) -> None:
    """However it is said, the turn is not continued."""
    prepare(sandbox, client)

    assert "continue_turn" not in decided(sandbox, client, prompt, IDLE)


@pytest.mark.parametrize("prompt", GOES)
def test_what_is_no_stop_goes_on(sandbox: Sandbox, client: str, prompt: str) -> None:
    """The loop continues the turn."""
    prepare(sandbox, client)

    assert "continue_turn" in decided(sandbox, client, prompt, IDLE)


LAZY = ("Would you like me to continue with the review?", "Anything else?", "需要我继续吗？")
WAITS = (
    "Which database shall I use? I will wait for your decision.",
    "Before I delete the S3 bucket: are you sure? This can't be undone.",
)


@pytest.mark.parametrize("message", LAZY)
def test_a_lazy_ending_goes_on(sandbox: Sandbox, client: str, message: str) -> None:
    """It is continued, and then waits for the user when it is said again."""
    prepare(sandbox, client)
    carry_out(sandbox, client, SINGLE, [message])

    assert ["continue_turn", "allow_end"] == said(read_log(sandbox.home), "loop")


@pytest.mark.parametrize("message", WAITS)
def test_a_real_question_waits(sandbox: Sandbox, client: str, message: str) -> None:
    """The turn ends at once."""
    prepare(sandbox, client)
    carry_out(sandbox, client, SINGLE, [message])

    assert ["allow_end"] == said(read_log(sandbox.home), "loop")


def test_a_pause_keeps_the_workflow_until_the_user_continues(sandbox: Sandbox, client: str) -> None:
    """Neither the paused turn nor the next one is continued; "ok, go on" resumes the workflow."""
    prepare(sandbox, client)
    assert ["pause", "allow_end"] == decided(sandbox, client, "wait, stop!", IDLE)
    for prompt, decision in (("add a line to the README", "allow_end"), ("ok, please go on", "continue_turn")):
        before = read_log(sandbox.home)
        carry_out(sandbox, client, prompt, IDLE, session=before[-1]["session_id"])

        assert decision in said(read_log(sandbox.home)[len(before) :], "loop")
