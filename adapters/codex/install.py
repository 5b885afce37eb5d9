"""Codex's plugin: its hooks by either route, its marketplace, and the settings that enable it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from upbeat.adapters.codex.client import Codex
from upbeat.adapters.install.plugin import (
    HOOK_ARGUMENTS,
    HOOK_TIMEOUT_SECONDS,
    NAME,
    PLUGIN_ID,
    PYTHON,
    SERVER_ARGUMENTS,
    DesiredInstallation,
    PluginLayout,
    Route,
    SettingsEdit,
    command_hook,
    mcp_hook,
    rendered_files,
)
from upbeat.adapters.system.config.settings import DRY_RUN_VARIABLE
from upbeat.adapters.system.environment import FOLDER_VARIABLES, LANGUAGE_VARIABLES, WRAPPED_VARIABLE
from upbeat.adapters.system.files.settings_edit import SettingsEntry
from upbeat.core.settings import KEYS

PLUGIN_SOURCE = Path(__file__).resolve().parent / "plugin"
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
REGISTERED_EVENTS = (*_FIELDS, *_COMMAND_EVENTS)

_FORWARDED_VARIABLES = (
    *(key.env_var for key in KEYS if key.env_var),
    DRY_RUN_VARIABLE,
    WRAPPED_VARIABLE,
    *FOLDER_VARIABLES,
    *LANGUAGE_VARIABLES,
)
"""Variables that the server reads; Codex itself passes only HOME, PATH, LANG, TERM and TMPDIR."""


def plugin_layout(route: Route) -> PluginLayout:
    """Return the layout of the marketplace with the one plugin."""
    return PluginLayout(
        source=PLUGIN_SOURCE,
        manifest_path=".agents/plugins/marketplace.json",
        marketplace={
            "name": NAME,
            "plugins": [{"name": NAME, "source": {"source": "local", "path": f"./plugins/{NAME}"}}],
        },
        rendered_files=_rendered_files(route),
    )


def desired_installation(data_home: Path, home: Path, route: Route) -> DesiredInstallation:
    """Return the marketplace in upbeat's data folder, the plugin in Codex's cache, the agents in the only folder that
    Codex loads them from, and two tables of its settings.

    This does not make the hooks trusted: Codex asks the user, and records the answer itself.
    """
    folder = data_home / NAME / "codex"
    layout = plugin_layout(route)
    plugin = layout.plugin_files()
    version = json.loads(plugin[".codex-plugin/plugin.json"])["version"]
    parts = (
        SettingsEntry(("marketplaces", NAME), {"source_type": "local", "source": str(folder)}),
        SettingsEntry(("plugins", PLUGIN_ID), {"enabled": True}),
    )
    return DesiredInstallation(
        own_folders={
            folder: layout.marketplace_files(),
            home / "plugins" / "cache" / NAME: {f"{NAME}/{version}/{name}": data for name, data in plugin.items()},
        },
        files={home / "agents" / Path(name).name: data for name, data in plugin.items() if name.startswith("roles/")},
        edits=(
            SettingsEdit(
                home / "config.toml", "toml", parts, client_key_prefixes=(("hooks", "state", f"{PLUGIN_ID}:"),)
            ),
        ),
    )


def _rendered_files(route: Route) -> dict[str, str]:
    command = command_hook((PYTHON, *HOOK_ARGUMENTS, Codex.id))
    hooks: dict[str, Any] = {}
    for event, fields in _FIELDS.items():
        handler = mcp_hook(NAME, event, (*_COMMON_FIELDS, *fields)) if route == "mcp" else command
        hooks[event] = [{"hooks": [handler | {"timeout": HOOK_TIMEOUT_SECONDS}]}]
    hooks |= {event: [{"hooks": [command | {"timeout": FINAL_HOOK_TIMEOUT_SECONDS}]}] for event in _COMMAND_EVENTS}
    server = {
        "command": PYTHON,
        "args": [*SERVER_ARGUMENTS, Codex.id],
        "env_vars": list(dict.fromkeys(_FORWARDED_VARIABLES)),
    }
    return rendered_files(server, hooks)
