"""Codex's plugin: its hooks by either route, its marketplace, and how its user switches it on."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

from ...core.doctor.findings import Guard
from ...core.settings import KEYS
from ..local.environment import FOLDERS, LANGUAGES, WRAPPED, Environment
from ..local.settings import DRY_RUN
from ..local.settings_edit import Part
from ..plugin import HOOK, NAME, PYTHON, SERVER, Edit, PluginLayout, Route, Wanted, as_json, files

PLUGIN = Path(__file__).resolve().parent / "plugin"
CLIENT = "codex-cli"
HOOK_SECONDS = 10

LAST_SECONDS = 3
"""All that Codex gives a hook at an interrupt and at the end of a session."""

_COMMON = ("session_id", "transcript_path", "cwd")
_CALL = ("tool_name", "tool_input", "tool_use_id")
_STOP = ("stop_hook_active", "last_assistant_message")
_FIELDS = {
    "SessionStart": ("source",),
    "UserPromptSubmit": ("prompt",),
    "PreToolUse": _CALL,
    "PostToolUse": (*_CALL, "tool_response"),
    "SubagentStart": ("agent_id", "agent_type"),
    "SubagentStop": ("agent_id", "agent_type", *_STOP),
    "Stop": (*_STOP, "permission_mode"),
}
"""Only fields that the event always has, if only as null: Codex fails a hook that names one it lacks. Tools have no
matcher, because reading is done by the shell here: there is no frequent tool that could be left alone."""
_COMMANDS = ("Interrupt", "SessionEnd")
"""Commands by every route: the server is not asked any more then. PreCompact is not registered: no answer to it
reaches the model, and a session that was compacted starts again, and tells so."""

_VARIABLES = (*(key.env for key in KEYS if key.env), DRY_RUN, WRAPPED, *FOLDERS, *LANGUAGES)
"""What the server reads; Codex passes only HOME, PATH, LANG, TERM and TMPDIR by itself."""

GUARDS = {
    "SessionStart": Guard.START,
    "UserPromptSubmit": Guard.TURNS,
    "PreToolUse": Guard.CALLS,
    "PostToolUse": Guard.ANSWERS,
    "SubagentStart": Guard.AGENTS,
    "SubagentStop": Guard.AGENTS,
    "Stop": Guard.END,
    "Interrupt": Guard.END,
    "SessionEnd": Guard.END,
}
"""Event -> what is not armed when its hooks do not come."""


def layout(route: Route) -> PluginLayout:
    """The marketplace that holds the one plugin."""
    return PluginLayout(
        source=PLUGIN,
        manifest=".agents/plugins/marketplace.json",
        marketplace={
            "name": NAME,
            "plugins": [{"name": NAME, "source": {"source": "local", "path": f"./plugins/{NAME}"}}],
        },
        rendered={".mcp.json": _mcp_json(), "hooks/hooks.json": _hooks_json(route)},
    )


def wanted(environment: Environment, route: Route) -> Wanted:
    """The marketplace in upbeat's data folder, the plugin where Codex keeps those that are installed, the agents in the
    only folder that it takes them from, and two tables of its settings.

    The hooks are not trusted by that: Codex asks its user, and writes the answer down itself.
    """
    folder, home = environment.data_home / "upbeat" / "codex", environment.codex_home
    every = files(layout(route))
    inner = f"plugins/{NAME}/"
    plugin = {name.removeprefix(inner): data for name, data in every.items() if name.startswith(inner)}
    version = json.loads(plugin[".codex-plugin/plugin.json"])["version"]
    parts = (
        Part(("marketplaces", NAME), {"source_type": "local", "source": str(folder)}),
        Part(("plugins", f"{NAME}@{NAME}"), {"enabled": True}),
    )
    return Wanted(
        own={
            folder: every,
            home / "plugins" / "cache" / NAME: {f"{NAME}/{version}/{name}": data for name, data in plugin.items()},
        },
        files={home / "agents" / Path(name).name: data for name, data in plugin.items() if name.startswith("roles/")},
        edits=(Edit(home / "config.toml", "toml", parts, traces=(("hooks", "state", f"{NAME}@{NAME}:"),)),),
    )


def next_steps() -> list[str]:
    """What is left to its user: trust in the hooks is theirs to give."""
    return ["open codex, and review and trust the hooks when it asks, or later with /hooks: until then it runs none"]


def last_steps() -> list[str]:
    """What Codex still knows afterwards."""
    return []


def _mcp_json() -> str:
    server = {"command": PYTHON, "args": [*SERVER, CLIENT], "env_vars": list(dict.fromkeys(_VARIABLES))}
    return as_json({"mcpServers": {NAME: server}})


def _hooks_json(route: Route) -> str:
    command = {"type": "command", "command": shlex.join([PYTHON, *HOOK, CLIENT])}
    hooks: dict[str, Any] = {
        event: [{"hooks": [(_over_mcp(event) if route == "mcp" else command) | {"timeout": HOOK_SECONDS}]}]
        for event in _FIELDS
    }
    hooks |= {event: [{"hooks": [command | {"timeout": LAST_SECONDS}]}] for event in _COMMANDS}
    return as_json({"description": "upbeat prepares, guards and continues turns", "hooks": hooks})


def _over_mcp(event: str) -> dict[str, Any]:
    passed = {"hook_event_name": event} | {name: "${" + name + "}" for name in (*_COMMON, *_FIELDS[event])}
    return {"type": "mcp_tool", "server": NAME, "tool": "hook", "input": passed}
