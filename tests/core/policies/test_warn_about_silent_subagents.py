"""When the main agent is reminded of a silent subagent."""

from __future__ import annotations

from dataclasses import replace

import pytest
from policy_play import HERE, IN_AGENT, Talk, call, finished, silent

from upbeat.core.contract.event import (
    Event,
    PromptOrigin,
    PromptSubmitted,
    SessionStarted,
    SubagentEnding,
    SubagentReturned,
    SubagentStarted,
    ToolKind,
)
from upbeat.core.policies.warn_about_silent_subagents import COOLDOWN_SECONDS, POLICY, SILENT_SECONDS

WORKS = finished(call("Read", ToolKind.READ))
CALLED = call("Agent", ToolKind.DELEGATE)


def begun(language: str = "en") -> Talk:
    """A session in which a subagent started two minutes ago."""
    talk = Talk(POLICY, language=language)
    talk.say(SubagentStarted(HERE, "a1", "upbeat:tester"))
    talk.at += SILENT_SECONDS
    return talk


SAYS_NOTHING: dict[str, list[Event]] = {
    "an agent that has ended": [SubagentEnding(HERE, "a1", "upbeat:tester", "Done."), WORKS],
    "a call that has returned": [SubagentReturned(HERE, CALLED, "a1", "Done."), WORKS],
    "a call that came to nothing": [SubagentReturned(HERE, CALLED, "a1", has_failed=True), WORKS],
    "what the agent itself does": [replace(WORKS, source=IN_AGENT)],
    "what a client reports": [PromptSubmitted(HERE, "done", PromptOrigin.TASK_NOTIFICATION)],
    "a session that began again": [SessionStarted(HERE, "resume"), WORKS],
}

test_says_nothing_for = silent(SAYS_NOTHING, lambda events: begun().say_all(events))


@pytest.mark.parametrize("event", [WORKS, PromptSubmitted(HERE, "and now?")], ids=["a call", "a prompt"])
def test_reminds(event: Event) -> None:
    """The main agent is reminded at its next event after two minutes, in both languages."""
    talk = begun()
    talk.say(SubagentReturned(HERE, CALLED, "a1"))
    talk.say(SessionStarted(HERE, "compact"))
    [effect], [chinese] = talk.say(event), begun("zh").say(event)

    assert ("`upbeat:tester` (a1)" in effect.text, "尚未看到它结束" in chinese.text) == (True, True)


def test_waits_and_cools_down() -> None:
    """There is no reminder before two minutes, and no second one within five."""
    early = begun()
    early.at -= 1
    talk = begun()
    said = [len(early.say(WORKS)), len(talk.say(WORKS))]
    for seconds in (COOLDOWN_SECONDS - 1, 1):
        talk.at += seconds
        said.append(len(talk.say(WORKS)))

    assert ([0, 1, 0, 1], False) == (said, POLICY.is_enabled_by_default)
