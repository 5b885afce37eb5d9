"""Codex's plugin: its hooks by either route, its marketplace, and the settings that enable it."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

from upbeat.adapters.codex.client import Codex
from upbeat.adapters.install.plugin import (
    HOOK_ARGUMENTS,
    NAME,
    PYTHON,
    SERVER_ARGUMENTS,
    DesiredInstallation,
    PluginLayout,
    Route,
    SettingsEdit,
    marketplace_files,
    to_json_text,
)
from upbeat.adapters.system.config.settings import DRY_RUN_VARIABLE
from upbeat.adapters.system.environment import FOLDER_VARIABLES, LANGUAGE_VARIABLES, WRAPPED_VARIABLE
from upbeat.adapters.system.files.settings_edit import SettingsEntry
from upbeat.core.doctor.findings import HookPoint
from upbeat.core.settings import KEYS

PLUGIN_SOURCE = Path(__file__).resolve().parent / "plugin"
HOOK_TIMEOUT_SECONDS = 10

FINAL_HOOK_TIMEOUT_SECONDS = 3
"""The longest time that Codex waits for a hook at an interrupt and at the end of a session."""

_COMMON_FIELDS = ("session_id", "transcript_path", "cwd")
_CALL_FIELDS = ("tool_name", "tool_input", "tool_use_id")
_STOP_FIELDS = ("stop_hook_active", "last_assistant_message")
_FIELDS = {
    "SessionStart": ("source",),
    "UserPromptSubmit": ("prompt",),
    "PreToolUse": _CALL_FIELDS,
    "PostToolUse": (*_CALL_FIELDS, "tool_response"),
    "SubagentStart": ("agent_id", "agent_type"),
    "SubagentStop": ("agent_id", "agent_type", *_STOP_FIELDS),
    "Stop": (*_STOP_FIELDS, "permission_mode"),
}
"""Only fields that the event always has, if only as null: Codex fails a hook that names a missing one. There is no
matcher for tools: Codex reads files with the shell, so there is no frequent tool to skip."""
_COMMAND_EVENTS = ("Interrupt", "SessionEnd")
"""Command hooks by either route: Codex no longer calls the server at these events. PreCompact is not registered:
no output of it reaches the model, and after a compaction Codex reports a session start anyway."""

_FORWARDED_VARIABLES = (
    *(key.env_var for key in KEYS if key.env_var),
    DRY_RUN_VARIABLE,
    WRAPPED_VARIABLE,
    *FOLDER_VARIABLES,
    *LANGUAGE_VARIABLES,
)
"""Variables that the server reads; Codex itself passes only HOME, PATH, LANG, TERM and TMPDIR."""

HOOK_POINT_BY_EVENT = {
    "SessionStart": HookPoint.START,
    "UserPromptSubmit": HookPoint.TURNS,
    "PreToolUse": HookPoint.CALLS,
    "PostToolUse": HookPoint.RESULTS,
    "SubagentStart": HookPoint.AGENTS,
    "SubagentStop": HookPoint.AGENTS,
    "Stop": HookPoint.END,
    "Interrupt": HookPoint.END,
    "SessionEnd": HookPoint.END,
}
"""Event -> the hook point that is inactive if its hooks do not fire."""


def plugin_layout(route: Route) -> PluginLayout:
    """Return the layout of the marketplace with the one plugin."""
    return PluginLayout(
        source=PLUGIN_SOURCE,
        manifest_path=".agents/plugins/marketplace.json",
        marketplace={
            "name": NAME,
            "plugins": [{"name": NAME, "source": {"source": "local", "path": f"./plugins/{NAME}"}}],
        },
        rendered_files={".mcp.json": _mcp_json(), "hooks/hooks.json": _hooks_json(route)},
    )


def desired_installation(data_home: Path, home: Path, route: Route) -> DesiredInstallation:
    """Return the marketplace in upbeat's data folder, the plugin in Codex's cache, the agents in the only folder that
    Codex loads them from, and two tables of its settings.

    This does not make the hooks trusted: Codex asks the user, and records the answer itself.
    """
    folder = data_home / NAME / "codex"
    marketplace = marketplace_files(plugin_layout(route))
    inner = f"plugins/{NAME}/"
    plugin = {name.removeprefix(inner): data for name, data in marketplace.items() if name.startswith(inner)}
    version = json.loads(plugin[".codex-plugin/plugin.json"])["version"]
    parts = (
        SettingsEntry(("marketplaces", NAME), {"source_type": "local", "source": str(folder)}),
        SettingsEntry(("plugins", f"{NAME}@{NAME}"), {"enabled": True}),
    )
    return DesiredInstallation(
        own_folders={
            folder: marketplace,
            home / "plugins" / "cache" / NAME: {f"{NAME}/{version}/{name}": data for name, data in plugin.items()},
        },
        files={home / "agents" / Path(name).name: data for name, data in plugin.items() if name.startswith("roles/")},
        edits=(
            SettingsEdit(
                home / "config.toml", "toml", parts, client_key_prefixes=(("hooks", "state", f"{NAME}@{NAME}:"),)
            ),
        ),
    )


def _mcp_json() -> str:
    server = {
        "command": PYTHON,
        "args": [*SERVER_ARGUMENTS, Codex.id],
        "env_vars": list(dict.fromkeys(_FORWARDED_VARIABLES)),
    }
    return to_json_text({"mcpServers": {NAME: server}})


def _hooks_json(route: Route) -> str:
    command = {"type": "command", "command": shlex.join([PYTHON, *HOOK_ARGUMENTS, Codex.id])}
    hooks: dict[str, Any] = {
        event: [{"hooks": [(_mcp_handler(event) if route == "mcp" else command) | {"timeout": HOOK_TIMEOUT_SECONDS}]}]
        for event in _FIELDS
    }
    hooks |= {event: [{"hooks": [command | {"timeout": FINAL_HOOK_TIMEOUT_SECONDS}]}] for event in _COMMAND_EVENTS}
    return to_json_text({"description": "upbeat prepares, guards and continues turns", "hooks": hooks})


def _mcp_handler(event: str) -> dict[str, Any]:
    passed = {"hook_event_name": event} | {name: "${" + name + "}" for name in (*_COMMON_FIELDS, *_FIELDS[event])}
    return {"type": "mcp_tool", "server": NAME, "tool": "hook", "input": passed}
