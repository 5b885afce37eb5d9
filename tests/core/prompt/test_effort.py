"""Which prompts ask to think hard, and what effort that comes to."""

from __future__ import annotations

import pytest

from upbeat.core.prompt.effort import choose_effort, requests_hard_thinking

ASKS_NOT = [
    "",
    "I think hard-coded limits are bad",
    "we think hard drives fail here",
    "you think hard work pays",
    "do not think hard about it",
    "no need to think hard, rename it",
    "don't reason carefully, just do it",
    "the thinking is hard to follow",
    "think about it",
    "think hard-link semantics through the lens of git",
    "what does `think hard` do?",
    '"think harder" is a keyword of another tool',
    "```\nultrathink\n```\nwhat is this?",
    "> ultrathink\nwhat does that line mean?",
    "rethink harder limits",
    "why is the function think_hard slow?",
    "你想想",
    "考虑一下用队列",
    "不用仔细思考，直接改名",
    "無需認真思考",
    "这个思考题很难",
    "“仔细思考”是什么意思",
]
ASKS = [
    "think hard about the retry limit",
    "Think harder!",
    "ultrathink: why does it deadlock?",
    "ultra-think this",
    "please think very carefully: which lock is first?",
    "think about it deeply",
    "think it through carefully",
    "I want you to think really hard",
    "reason thoroughly about the lock order",
    "think long and hard",
    "好好想想为什么会死锁",
    "请仔细思考锁的顺序",
    "认真地想一想",
    "深入思考一下",
    "深思熟虑后再改",
    "請認真思考鎖的順序",
    "仔細想清楚",
    "深入考慮",
]


@pytest.mark.parametrize("prompt", ASKS_NOT)
def test_asks_for_nothing(prompt: str) -> None:
    """Words in code and quotes, denied ones, and words about something else ask for nothing."""
    assert not requests_hard_thinking(prompt)


@pytest.mark.parametrize("prompt", ASKS)
def test_asks(prompt: str) -> None:
    """In three scripts, wherever in the prompt."""
    assert requests_hard_thinking(prompt)


@pytest.mark.parametrize(
    ("usual", "is_on", "effort"),
    [
        ("", True, "high"),
        ("low", True, "high"),
        ("high", True, "high"),
        ("xhigh", True, "xhigh"),
        ("ultra", True, "ultra"),
        ("new-word", True, "new-word"),
        ("", False, ""),
        ("low", False, "low"),
    ],
)
def test_an_effort_is_never_lowered(usual: str, is_on: bool, effort: str) -> None:
    """High at least; more, and words that are not known here, stay; switched off nothing changes."""
    assert (effort, usual) == (
        choose_effort("ultrathink", usual, is_enabled=is_on),
        choose_effort("go on", usual, is_enabled=is_on),
    )
