"""Claude Code's plugin: its hooks by either route, its marketplace, and the settings that enable it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from upbeat.adapters.claude.client import ClaudeCode
from upbeat.adapters.claude.tools import READ_FIELDS
from upbeat.adapters.install import plugin
from upbeat.adapters.system.files.settings_edit import SettingsEntry

PLUGIN_SOURCE = Path(__file__).resolve().parent / "plugin"
CALL_HOOK_TIMEOUT_SECONDS = 5
"""For hooks that block a tool: a hanging server must not delay every call for long."""

_LAUNCHER = ("/bin/sh", "${CLAUDE_PLUGIN_ROOT}/bin/upbeat")
"""Starts upbeat if the plugin is loaded from a checkout."""

OUTPUT_MATCHER = "Agent|Task|Bash|Grep|Glob|WebFetch|WebSearch|TaskCreate|TaskUpdate|mcp__.*"
"""Tools whose response is needed: as evidence, for a task's number, or because it may be too long for the model."""
COMPLETION_MATCHER = "Read|Edit|MultiEdit|Write|NotebookEdit|TodoWrite"
"""Tools of which only the completion matters: over MCP the hook would receive the whole response, such as a file."""

_COMMON_FIELDS = ("session_id", "transcript_path", "cwd", "agent_id")
_CALL_FIELDS = ("tool_name", "tool_input", "tool_use_id")
_FIELDS = {
    "UserPromptSubmit": ("prompt", "source"),
    "PreToolUse": _CALL_FIELDS,
    "PostToolUse": (*_CALL_FIELDS, "tool_response"),
    "PostToolUseFailure": (*_CALL_FIELDS, "error", "is_interrupt"),
    "PostToolBatch": ("tool_calls",),
    "SubagentStart": ("agent_type",),
    "SubagentStop": ("agent_type", "stop_hook_active", "last_assistant_message"),
    "Stop": ("stop_hook_active", "last_assistant_message", "background_tasks", "permission_mode"),
    "StopFailure": ("error", "last_assistant_message"),
}
"""Event -> the fields to pass. PreCompact is missing: whatever an MCP hook returns there, even nothing, is shown to the
user, and ``{}`` goes into the summary. After a compaction Claude Code reports a session start anyway."""
_MATCHERS: dict[str, tuple[str, ...]] = {
    "PreToolUse": ("",),
    "PostToolUse": (OUTPUT_MATCHER, COMPLETION_MATCHER),
    "PostToolUseFailure": ("",),
}
"""A user's rule may apply to any call; a hook over MCP adds 2-4 ms to it."""
_MCP_ONLY_EVENTS = ("PostToolBatch",)
"""Fires after every call, but only reports calls that were rejected before they started: too costly for a process."""
_COMMAND_EVENTS = ("SessionStart", "SessionEnd")
"""Command hooks by either route: there is no MCP client before the start and after the end of a session."""


def in_place_files() -> dict[str, str]:
    """Return the generated files of the plugin in the package, which starts everything through its launcher."""
    return _rendered_files("mcp", server=(*_LAUNCHER, "mcp", "--client"), hook=(*_LAUNCHER, "hook"))


def plugin_layout(route: plugin.Route) -> plugin.PluginLayout:
    """Return the layout of the marketplace with the one plugin."""
    return plugin.PluginLayout(
        source=PLUGIN_SOURCE,
        manifest_path=".claude-plugin/marketplace.json",
        marketplace={
            "name": plugin.NAME,
            "owner": {"name": "The upbeat authors"},
            "plugins": [{"name": plugin.NAME, "source": f"./plugins/{plugin.NAME}"}],
        },
        rendered_files=_rendered_files(
            route, server=(plugin.PYTHON, *plugin.SERVER_ARGUMENTS), hook=(plugin.PYTHON, *plugin.HOOK_ARGUMENTS)
        ),
    )


def desired_installation(data_home: Path, home: Path, route: plugin.Route) -> plugin.DesiredInstallation:
    """Return the marketplace in upbeat's data folder, used in place, and two entries of the user's settings.

    Claude Code 2.1.329 loads the plugin in the next session, 2.1.197 in the one after that. Both write
    ``plugins/known_marketplaces.json`` and ``plugins/installed_plugins.json`` themselves.
    """
    folder = data_home / plugin.NAME / "claude"
    source = {"source": {"source": "directory", "path": str(folder)}}
    parts = (
        SettingsEntry(("extraKnownMarketplaces", plugin.NAME), source),
        SettingsEntry(("enabledPlugins", plugin.PLUGIN_ID), True),
    )
    settings = plugin.SettingsEdit(home / "settings.json", "json", parts)
    return plugin.DesiredInstallation(
        own_folders={folder: plugin_layout(route).marketplace_files()}, files={}, edits=(settings,)
    )


def _rendered_files(route: plugin.Route, server: tuple[str, ...], hook: tuple[str, ...]) -> dict[str, str]:
    """Return ``.mcp.json`` and ``hooks/hooks.json``.

    Only events of the oldest supported version are registered: an unknown one disables all hooks of the plugin.
    """
    command = plugin.command_hook((*hook, ClaudeCode.id))
    hooks: dict[str, Any] = {
        event: [{"hooks": [command | {"timeout": plugin.HOOK_TIMEOUT_SECONDS}]}] for event in _COMMAND_EVENTS
    }
    for event in _FIELDS:
        seconds = CALL_HOOK_TIMEOUT_SECONDS if event in _MATCHERS else plugin.HOOK_TIMEOUT_SECONDS
        if route == "command" and event in _MCP_ONLY_EVENTS:
            continue
        hooks[event] = []
        for matcher in _MATCHERS.get(event, ("",)):
            fields = [*_COMMON_FIELDS, *_FIELDS[event]]
            if matcher == COMPLETION_MATCHER:
                fields.remove("tool_response")
                fields += READ_FIELDS
            handler = (
                plugin.mcp_hook(f"plugin:{plugin.NAME}:{plugin.NAME}", event, fields) if route == "mcp" else command
            )
            hooks[event].append(({"matcher": matcher} if matcher else {}) | {"hooks": [handler | {"timeout": seconds}]})
    return plugin.rendered_files({"command": server[0], "args": [*server[1:], ClaudeCode.id]}, hooks)
