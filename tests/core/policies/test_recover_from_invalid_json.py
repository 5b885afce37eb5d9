"""When invalid JSON arguments are explained."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from case_files import read_groups
from policy_play import HERE, Talk, call, finished, finished_row, said_by, silent

from upbeat.core.contract.event import SubagentReturned, ToolFinished, ToolKind
from upbeat.core.policies.recover_from_invalid_json import MAX_ERROR_CHARS, MAX_HEAD_CHARS, POLICY

MCP = call("mcp__a__b", ToolKind.OTHER)
AGENT = call("Agent", ToolKind.DELEGATE)
BROKEN = "Invalid arguments: Unexpected token } in JSON at position 41"
FAILED = finished(MCP, BROKEN, failed=True)

CASES = read_groups(Path(__file__).with_name("invalid_arguments.tsv"))
SAYS_NOTHING = {name: finished_row(*row) for name, *row in CASES["none"]} | {
    "a text that quotes it behind the bound": finished(MCP, "x" * MAX_HEAD_CHARS + BROKEN),
    "a long answer that begins with it": finished(MCP, BROKEN + " " * MAX_ERROR_CHARS),
    "a call that its user broke off": replace(FAILED, was_interrupted=True),
    "an agent that answers so": SubagentReturned(HERE, AGENT, "a1", BROKEN),
    "an agent that failed otherwise": SubagentReturned(HERE, AGENT, has_failed=True, error="Agent type 'x' not found"),
}
SAYS = {name: finished_row(*row) for name, *row in CASES["says"]} | {
    "just short enough": finished(MCP, BROKEN.ljust(MAX_ERROR_CHARS)),
    "an agent's call": SubagentReturned(HERE, AGENT, has_failed=True, error="tool input could not be parsed as JSON"),
}

test_says_nothing_for = silent(SAYS_NOTHING, lambda event: said_by(POLICY, event))


@pytest.mark.parametrize("event", SAYS.values(), ids=SAYS)
def test_says(event: ToolFinished | SubagentReturned) -> None:
    """The text says what to fix, and at which position if known, in both languages."""
    [effect] = said_by(POLICY, event)

    assert f"The arguments of {event.call.tool} were not valid JSON" in effect.text
    assert ("not valid JSON (at position 41), so" in effect.text) == ("position 41" in getattr(event, "output", ""))
    assert said_by(POLICY, event, language="zh") != (effect,)


def test_explains_an_error_once() -> None:
    """The same error of the same tool is explained once."""
    talk = Talk(POLICY)
    other = replace(FAILED, call=call("mcp__a__c", ToolKind.OTHER))
    said = [len(talk.say(event)) for event in (FAILED, FAILED, other, FAILED, replace(FAILED, output=f"{BROKEN}2"))]

    assert said == [1, 0, 1, 0, 1]


def test_notes_are_limited() -> None:
    """The number of notes is limited."""
    talk = Talk(POLICY)
    for number in range(60):
        talk.say(replace(FAILED, output=f"Invalid arguments: Unexpected token {number} in JSON"))

    assert len(talk.state.notes_of(POLICY.name)) == 20
