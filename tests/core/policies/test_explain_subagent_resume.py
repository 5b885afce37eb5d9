"""When the main agent is told how to resume a subagent."""

from __future__ import annotations

from dataclasses import replace

import pytest
from policy_play import HERE, IN_CODEX, call, said_by, silent

from upbeat.core.contract.event import SubagentReturned, ToolKind
from upbeat.core.policies.explain_subagent_resume import POLICY

SPAWN = call("spawn_agent", ToolKind.DELEGATE)
STARTED = SubagentReturned(IN_CODEX, SPAWN, "a1", resume_call='send_input with target "a1"')

SAYS_NOTHING = {
    "an answer of Claude Code, which says so itself": SubagentReturned(
        HERE, call("Agent", ToolKind.DELEGATE), "a1", "Done: x."
    ),
    "a launch in the background there": SubagentReturned(HERE, call("Agent", ToolKind.DELEGATE), "a1"),
    "an agent whose name nobody told": replace(STARTED, resume_call=""),
    "a call of which no agent came": replace(STARTED, has_failed=True),
}

test_says_nothing_for = silent(SAYS_NOTHING, lambda event: said_by(POLICY, event))


@pytest.mark.parametrize("language", ["en", "zh"])
def test_says(language: str) -> None:
    """The text names the call of the client, in both languages."""
    [effect] = said_by(POLICY, STARTED, language=language)

    assert 'send_input with target "a1"' in effect.text
    assert said_by(POLICY, STARTED, language="zh") != said_by(POLICY, STARTED, language="en")
