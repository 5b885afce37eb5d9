"""Each client's hooks: events that it knows, fields that they have, and nothing that costs without use."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from upbeat.adapters.claude import install as claude
from upbeat.adapters.codex import install as codex

RECORDED = Path(__file__).parents[2] / "recorded"
OLDEST_CLAUDE = {
    *("PreToolUse", "PostToolUse", "PostToolUseFailure", "UserPromptSubmit", "SessionStart", "SessionEnd"),
    *("Stop", "StopFailure", "SubagentStart", "SubagentStop"),
}
"""Of the events of 2.1.197 those that are of use. One that it does not know would cost it all hooks of the plugin."""
ROUTES = ("mcp", "command")


def handlers(client: Any, route: Any) -> list[tuple[str, dict[str, Any]]]:
    """(event, handler) of each entry, with the matcher in the handler."""
    table = json.loads(client.plugin_layout(route).rendered_files["hooks/hooks.json"])["hooks"]
    return [
        (event, handler | {"matcher": entry.get("matcher", "")})
        for event, entries in table.items()
        for entry in entries
        for handler in entry["hooks"]
    ]


def hooks(client: Any, route: Any) -> dict[str, dict[str, Any]]:
    """Event -> its handler; the first one of several."""
    return dict(reversed(handlers(client, route)))


def recorded(event: str) -> list[dict[str, Any]]:
    lines = (RECORDED / "codex/hooks" / f"{event}.jsonl").read_text(encoding="utf-8").split("\n")
    return [json.loads(line)["stdin"] for line in lines if line]


@pytest.mark.parametrize("route", ROUTES)
def test_events_of_claude(route: str) -> None:
    """The events are those that the oldest supported version knows; the first and the last are commands."""
    found = hooks(claude, route)

    assert OLDEST_CLAUDE | ({"PostToolBatch"} if route == "mcp" else set()) == set(found)
    assert {"SessionStart", "SessionEnd"} <= {event for event in found if found[event]["type"] == "command"}
    assert {"command", "mcp_tool" if route == "mcp" else "command"} == {found[event]["type"] for event in found}


@pytest.mark.parametrize("route", ROUTES)
def test_events_of_codex(route: str) -> None:
    """What the server cannot be asked any more is a command, and no longer than Codex lets it take."""
    found = hooks(codex, route)
    commands = {event for event, handler in found.items() if handler["type"] == "command"}

    assert {"Interrupt", "SessionEnd"} == commands if route == "mcp" else set(found) == commands
    assert {3} == {found[event]["timeout"] for event in ("Interrupt", "SessionEnd")}
    assert {""} == {handler["matcher"] for handler in found.values()}


@pytest.mark.parametrize("event", [event for event, hook in hooks(codex, "mcp").items() if hook["type"] == "mcp_tool"])
def test_codex_names_only_fields_that_are_there(event: str) -> None:
    """Codex fails a hook that names a field which the event lacks; every recorded payload has all of ours."""
    passed = hooks(codex, "mcp")[event]["input"]
    names = {name for name in passed if name != "hook_event_name"}

    assert recorded(event)
    assert [set()] * len(recorded(event)) == [names - set(payload) for payload in recorded(event)]
    assert passed == {"hook_event_name": event} | {name: "${" + name + "}" for name in names}


def test_every_call_of_claude_meets_the_rules_of_its_user() -> None:
    """Before a call and after a failed one there is one hook for all tools; an event has one handler for each tool."""
    found = handlers(claude, "mcp")
    matchers = [handler["matcher"] for event, handler in found if event == "PostToolUse"]
    tools = [tool for matcher in matchers for tool in matcher.split("|")]

    assert [""] == [handler["matcher"] for event, handler in found if event == "PreToolUse"]
    assert [""] == [handler["matcher"] for event, handler in found if event == "PostToolUseFailure"]
    assert len(tools) == len(set(tools))


def test_answers_that_are_files_are_not_passed() -> None:
    """Of tools that read and write files the hook gets the call, and not the file; of others their answer."""
    passed = {h["matcher"]: "tool_response" in h["input"] for e, h in handlers(claude, "mcp") if e == "PostToolUse"}

    assert {True: True, False: False} == {"Bash" in matcher.split("|"): told for matcher, told in passed.items()}
    assert {"Read", "Write", "Edit"} <= {
        tool for matcher, told in passed.items() if not told for tool in matcher.split("|")
    }


def test_the_plugin_in_the_checkout_is_the_same() -> None:
    """In the checkout and installed the plugin has the same hooks, but for how upbeat is started."""
    in_place = json.loads(claude.in_place_files()["hooks/hooks.json"])["hooks"]
    installed = json.loads(claude.plugin_layout("mcp").rendered_files["hooks/hooks.json"])["hooks"]

    assert list(in_place) == list(installed)
    assert [hook for event, hook in in_place.items() if event not in ("SessionStart", "SessionEnd")] == [
        hook for event, hook in installed.items() if event not in ("SessionStart", "SessionEnd")
    ]
