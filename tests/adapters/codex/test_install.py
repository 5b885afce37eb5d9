"""Codex's hooks: how each event is handled, and fields that every recorded payload has."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, get_args

import pytest

from upbeat.adapters.codex.install import REGISTERED_EVENTS, plugin_layout
from upbeat.adapters.install.plugin import HOOK_POINT_BY_EVENT, Route
from upbeat.core.doctor.findings import HookPoint

RECORDED = Path(__file__).parents[2] / "recorded/codex/hooks"


def registered(route: Route) -> dict[str, dict[str, Any]]:
    """Event -> its only handler, without a matcher."""
    hooks = json.loads(plugin_layout(route).rendered_files["hooks/hooks.json"])["hooks"]
    assert all(list(group) == ["hooks"] for groups in hooks.values() for group in groups)
    return {event: handler for event, groups in hooks.items() for group in groups for handler in group["hooks"]}


@pytest.mark.parametrize("route", get_args(Route))
def test_events(route: Route) -> None:
    """Every hook point has an event; the last events are commands, within the time that Codex gives them."""
    hooks = registered(route)
    commands = {event for event, handler in hooks.items() if handler["type"] == "command"}

    assert set(REGISTERED_EVENTS) == set(hooks)
    assert set(HookPoint) == {HOOK_POINT_BY_EVENT[event] for event in hooks}
    assert commands == ({"Interrupt", "SessionEnd"} if route == "mcp" else set(hooks))
    assert {3} == {hooks[event]["timeout"] for event in ("Interrupt", "SessionEnd")}


@pytest.mark.parametrize("event", [name for name, hook in registered("mcp").items() if hook["type"] == "mcp_tool"])
def test_a_hook_names_only_fields_that_the_event_has(event: str) -> None:
    """Codex fails a hook that names a field which the event lacks; every recorded payload has all of them."""
    passed = registered("mcp")[event]["input"]
    names = {name for name in passed if name != "hook_event_name"}
    lines = (RECORDED / f"{event}.jsonl").read_text(encoding="utf-8").split("\n")
    payloads = [json.loads(line)["stdin"] for line in lines if line]

    assert payloads
    assert [set()] * len(payloads) == [names - set(payload) for payload in payloads]
    assert passed == {"hook_event_name": event} | {name: "${" + name + "}" for name in names}


def test_a_command_hook_starts_nothing_by_a_relative_path() -> None:
    """A command hook is the interpreter without site packages, and the shim, both by absolute paths."""
    commands = [handler["command"] for handler in registered("command").values()]

    assert commands
    assert all(
        command.startswith("/") and " -I -S /" in command and command.endswith("shim.py codex-cli")
        for command in commands
    )
