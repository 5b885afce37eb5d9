"""When invalid JSON arguments are explained."""

from __future__ import annotations

from dataclasses import replace

import pytest
from policy_play import HERE, Talk, call, finished, said_by, silent

from upbeat.core.contract.event import SubagentReturned, ToolFinished, ToolKind
from upbeat.core.policies.recover_from_invalid_json import MAX_ERROR_CHARS, MAX_HEAD_CHARS, POLICY

MCP = call("mcp__a__b", ToolKind.OTHER)
AGENT = call("Agent", ToolKind.DELEGATE)
BROKEN = "Invalid arguments: Unexpected token } in JSON at position 41"
FAILED = finished(MCP, BROKEN, failed=True)
EDIT_FAILED = finished(
    call("Edit", ToolKind.EDIT), f"String to replace not found in file.\nString: throw Error('{BROKEN}')", failed=True
)

SAYS_NOTHING = {
    "a call that went well": finished(MCP, "3 results"),
    "an answer without text": finished(MCP),
    "a command that prints it": finished(call("Bash", ToolKind.SHELL), BROKEN, failed=True),
    "a file that holds it": finished(call("Read", ToolKind.READ), BROKEN),
    "a search that finds it": finished(call("Grep", ToolKind.SEARCH), f"a.py:1: {BROKEN}"),
    "a log that quotes it further below": finished(MCP, f"12:01 started\n12:02 {BROKEN}"),
    "a text that quotes it behind the bound": finished(MCP, "x" * MAX_HEAD_CHARS + BROKEN),
    "a long answer that begins with it": finished(MCP, BROKEN + " " * MAX_ERROR_CHARS),
    "an edit whose old text holds it": EDIT_FAILED,
    "a call that its user broke off": replace(FAILED, was_interrupted=True),
    "a server that got HTML": finished(MCP, "Unexpected token '<', \"<!DOCTYPE \"... is not valid JSON", failed=True),
    "a server whose own input was no good": finished(MCP, "Invalid input: response was not valid JSON", failed=True),
    "JSON that another program broke": finished(MCP, "package.json: Unexpected token } in JSON", failed=True),
    "arguments that lack a field": finished(MCP, "Invalid arguments: missing field `q`", failed=True),
    "another failure": finished(MCP, "connection refused", failed=True),
    "an agent that answers so": SubagentReturned(HERE, AGENT, "a1", BROKEN),
    "an agent that failed otherwise": SubagentReturned(HERE, AGENT, has_failed=True, error="Agent type 'x' not found"),
}

SAYS = {
    "a tool that failed": FAILED,
    "a tool that answers so": finished(MCP, BROKEN),
    "just short enough": finished(MCP, BROKEN.ljust(MAX_ERROR_CHARS)),
    "the protocol's own code": finished(MCP, "MCP error -32700: Parse error", failed=True),
    "serde's words": finished(MCP, "failed to parse function arguments: EOF while parsing a string", failed=True),
    "Python's words": finished(MCP, "bad tool call: Expecting property name enclosed in double quotes", failed=True),
    "an object that came as text": finished(
        call("Write", ToolKind.WRITE),
        "InputValidationError: Write failed due to the following issue:\n"
        "The parameter `edits` type is expected as `array` but provided as `string`",
        failed=True,
    ),
    "input that is no JSON": finished(
        call("NotebookEdit", ToolKind.EDIT), "The tool input is not valid JSON: Bad control character", failed=True
    ),
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
