"""When the answer of a subagent counts as empty."""

from __future__ import annotations

from dataclasses import replace

import pytest
from policy_play import HERE, IN_CODEX, call, said_by, silent

from upbeat.core.contract.effect import ContinueTurn, InjectContext
from upbeat.core.contract.event import SubagentEnding, SubagentReturned, ToolKind
from upbeat.core.policies.flag_empty_answer import MAX_EMPTY_ANSWER_CHARS, POLICY, is_empty_answer

AGENT = call("Agent", ToolKind.DELEGATE)
STOPPED = SubagentEnding(HERE, "a1", "general-purpose", "")
BACK = SubagentReturned(HERE, AGENT, "a1", "")

SAYS_NOTHING = {
    "an agent that still works": replace(BACK, message=None),
    "a call of which no agent came": replace(BACK, has_failed=True),
    "an answer": replace(BACK, message="Three files use it."),
    "a verdict": replace(STOPPED, message='<!-- VERDICT: {"result": "PASS"} -->'),
    "a verdict in one word": replace(STOPPED, message="PASS"),
    "a number": replace(STOPPED, message="42"),
    "a yes": replace(BACK, message="Yes."),
    "a short answer with a file": replace(STOPPED, message="Done: core/a.py"),
    "a short Chinese answer": replace(BACK, message="已修复超时"),
    "an agent that was asked already": replace(STOPPED, was_continued=True),
}

EMPTY = ["", " \n\t", "Done.", "**Done!**", "OK", "…", "Task completed.", "I'm done.", "任务已完成。", "完成", "---\n✓"]

test_says_nothing_for = silent(SAYS_NOTHING, lambda event: said_by(POLICY, event))


@pytest.mark.parametrize("message", EMPTY)
@pytest.mark.parametrize("source", [HERE, IN_CODEX], ids=lambda source: source.client.value)
def test_says(message: str, source: object) -> None:
    """The subagent is asked for a report and its caller is warned, in both languages."""
    stopped, back = replace(STOPPED, message=message, source=source), replace(BACK, message=message, source=source)

    assert [type(effect) for effect in said_by(POLICY, stopped)] == [ContinueTurn]
    assert [type(effect) for effect in said_by(POLICY, back)] == [InjectContext]
    for event in (stopped, back):
        assert said_by(POLICY, event, language="zh") != said_by(POLICY, event)


@pytest.mark.parametrize(
    ("blanks", "is_empty"), [(MAX_EMPTY_ANSWER_CHARS - 4, True), (MAX_EMPTY_ANSWER_CHARS - 3, False)]
)
def test_only_short_answers_are_read(blanks: int, is_empty: bool) -> None:
    """An answer longer than the limit is empty only if it is blank."""
    assert is_empty == is_empty_answer("done" + " " * blanks)
    assert is_empty_answer(" " * 10 * MAX_EMPTY_ANSWER_CHARS)
