"""Prompts that stop or pause the work. ``benchmarks/dialogue`` has some thousand more."""

from __future__ import annotations

import pytest

from upbeat.core.dialogue.stops import MAX_STOP_CHARS, StopKind, asks_to_continue, find_stop

STOPS = (
    *("stop", "Stop!", "please stop", "ok stop.", "cancel the workflow", "enough, stop here", "never mind", "quit"),
    *("stop please", "I'll take it from here", "forget it", "that's all, thanks", "stoppp", "no more please"),
    *("停", "请停止", "不要再继续了", "剩下的我自己写", "算了", "取消任務", "到此為止"),
)
PAUSES = (
    *(
        "wait",
        "hold on",
        "pause please",
        "give me a minute",
        "stop, do something else",
        "let me look at the diff first",
    ),
    *("brb", "put this on hold", "等一下", "先停一下，我看看", "暂停", "先別動"),
)
GOES = (
    *("", "go on", "don't stop", "fix the stop button", "stop the server when the test ends", "why did you stop?"),
    *("stop adding comments", "also update the README", "cancel the order when the payment fails"),
    *("stop the container before you migrate, then continue", 'change the label "Stop" to "Halt"', "never mind, go on"),
    *("if the tests fail, stop and tell me", "wait for the server before the tests", "the cancel button is broken"),
    *("```\nstop\n```", "别停", "取消按钮不见了", "停掉容器，然后继续", "用户点击停止后保存", "修復停止按鈕"),
)


@pytest.mark.parametrize("prompt", STOPS)
def test_stops(prompt: str) -> None:
    """A short demand to end the work stops it, in whatever words."""
    assert StopKind.STOP is find_stop(prompt)


@pytest.mark.parametrize("prompt", PAUSES)
def test_pauses(prompt: str) -> None:
    """A demand to wait, or to do something else first, pauses."""
    assert StopKind.PAUSE is find_stop(prompt)


@pytest.mark.parametrize("prompt", GOES)
def test_goes_on(prompt: str) -> None:
    """What negates a stop, or stops something of the program, is none."""
    assert StopKind.NONE is find_stop(prompt)


def test_a_long_prompt_is_no_stop() -> None:
    """A prompt over the limit describes work, whatever its words."""
    assert StopKind.NONE is find_stop("stop " * MAX_STOP_CHARS)


@pytest.mark.parametrize(
    ("prompt", "continues"),
    [
        *(("ok, please continue", True), ("I'm back. Go on", True), ("我回来了，继续", True), ("繼續吧", True)),
        *(
            ("don't continue", False),
            ("shall we continue?", False),
            ("continue the parser in b.py", False),
            ("", False),
        ),
    ],
)
def test_continues(prompt: str, continues: bool) -> None:
    """A clause that says nothing but to go on resumes paused work."""
    assert continues is asks_to_continue(prompt)
