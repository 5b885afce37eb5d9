"""Claude Code's hooks: events that its oldest supported version knows, and fields that cost nothing without use."""

from __future__ import annotations

import json
import os
import shlex
import sys
from typing import Any, get_args

import pytest

from upbeat.adapters.claude.install import in_place_files, plugin_layout
from upbeat.adapters.install.plugin import HOOK_POINT_BY_EVENT, PYTHON, Route
from upbeat.core.doctor.findings import HookPoint

OLDEST_EVENTS = {
    *("PreToolUse", "PostToolUse", "PostToolUseFailure", "UserPromptSubmit", "SessionStart", "SessionEnd"),
    *("Stop", "StopFailure", "SubagentStart", "SubagentStop"),
}
"""The events of 2.1.197 that are of use. One that it does not know would disable all hooks of the plugin."""


def registered(route: Route) -> dict[str, list[dict[str, Any]]]:
    """Event -> its handlers, each with its matcher."""
    hooks = json.loads(plugin_layout(route).rendered_files["hooks/hooks.json"])["hooks"]
    return {
        event: [handler | {"matcher": group.get("matcher", "")} for group in groups for handler in group["hooks"]]
        for event, groups in hooks.items()
    }


@pytest.mark.parametrize("route", get_args(Route))
def test_events(route: Route) -> None:
    """The events are those that the oldest version knows, for every hook point; the first and last are commands."""
    hooks = registered(route)
    types = {event: {handler["type"] for handler in handlers} for event, handlers in hooks.items()}

    assert OLDEST_EVENTS | ({"PostToolBatch"} if route == "mcp" else set()) == set(hooks)
    assert set(HookPoint) == {HOOK_POINT_BY_EVENT[event] for event in hooks}
    assert {"command"} == types.pop("SessionStart") == types.pop("SessionEnd")
    assert {"mcp_tool" if route == "mcp" else "command"} == set.union(*types.values())


@pytest.mark.parametrize(
    "files", [plugin_layout("command").rendered_files, in_place_files()], ids=["installed", "source"]
)
def test_a_command_is_one_line(files: dict[str, str]) -> None:
    """A client that ignores ``args`` would start the program alone, which runs the payload if it is a shell."""
    commands = [
        handler
        for groups in json.loads(files["hooks/hooks.json"])["hooks"].values()
        for group in groups
        for handler in group["hooks"]
        if handler["type"] == "command"
    ]

    assert commands
    assert not any("args" in handler for handler in commands)
    assert {"claude-code"} == {shlex.split(handler["command"])[-1] for handler in commands}


def test_hooks_of_calls_fire_for_every_tool() -> None:
    """Before a call and after a failed one there is one hook for all tools; afterwards one handler for each tool."""
    hooks = registered("mcp")
    tools = [tool for handler in hooks["PostToolUse"] for tool in handler["matcher"].split("|")]

    assert [""] == [handler["matcher"] for handler in hooks["PreToolUse"]]
    assert [""] == [handler["matcher"] for handler in hooks["PostToolUseFailure"]]
    assert len(tools) == len(set(tools))


def test_responses_that_contain_files_are_not_passed() -> None:
    """Of tools that read and write files the hook gets the call without the response; of others with it."""
    with_response, without = (
        {
            tool
            for handler in registered("mcp")["PostToolUse"]
            if ("tool_response" in handler["input"]) is is_passed
            for tool in handler["matcher"].split("|")
        }
        for is_passed in (True, False)
    )

    assert "Bash" in with_response
    assert {"Read", "Write", "Edit"} <= without


def test_the_plugin_in_a_checkout_has_the_same_hooks() -> None:
    """In a checkout and installed the plugin has the same hooks, except for how upbeat is started."""
    in_place = json.loads(in_place_files()["hooks/hooks.json"])["hooks"]
    installed = json.loads(plugin_layout("mcp").rendered_files["hooks/hooks.json"])["hooks"]

    assert list(in_place) == list(installed)
    for hooks in (in_place, installed):
        del hooks["SessionStart"], hooks["SessionEnd"]
    assert in_place == installed


def test_the_name_of_python_is_the_same_whoever_starts_it() -> None:
    """Codex trusts hooks by their text, so a launcher that starts ``python3`` must not change them."""
    assert os.path.samefile(PYTHON, sys.executable)
    assert "python" == os.path.basename(PYTHON)
