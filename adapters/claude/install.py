"""Claude Code's plugin: its hooks by either route, its marketplace, and how its user switches it on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ...core.doctor.findings import Guard
from ..local.environment import Environment
from ..local.settings_edit import Part
from ..plugin import HOOK, NAME, PYTHON, SERVER, Edit, PluginLayout, Route, Wanted, as_json, files

PLUGIN = Path(__file__).resolve().parent / "plugin"
CLIENT = "claude-code"
HOOK_SECONDS = 10
CALL_SECONDS = 5
"""For hooks that a tool waits for: a server that hangs must not hold up every call for long."""

_LAUNCHER = ("/bin/sh", "${CLAUDE_PLUGIN_ROOT}/bin/upbeat")
"""Starts upbeat when the plugin is used where it lies in a checkout."""

ANSWERED = "Agent|Task|Bash|Grep|Glob|WebFetch|WebSearch|TaskCreate|TaskUpdate|mcp__.*"
"""Calls whose answer counts: as evidence, for the number of a task, or because it may be too long for the model."""
DONE = "Read|Edit|MultiEdit|Write|NotebookEdit|TodoWrite"
"""Calls of which it is enough to know that they are done: over MCP a hook gets the whole answer, here a file."""

_COMMON = ("session_id", "transcript_path", "cwd", "agent_id")
_CALL = ("tool_name", "tool_input", "tool_use_id")
_FIELDS = {
    "UserPromptSubmit": ("prompt", "source"),
    "PreToolUse": _CALL,
    "PostToolUse": (*_CALL, "tool_response"),
    "PostToolUseFailure": (*_CALL, "error", "is_interrupt"),
    "PostToolBatch": ("tool_calls",),
    "SubagentStart": ("agent_type",),
    "SubagentStop": ("agent_type", "stop_hook_active", "last_assistant_message"),
    "Stop": ("stop_hook_active", "last_assistant_message", "background_tasks", "permission_mode"),
    "StopFailure": ("error", "last_assistant_message"),
}
"""Event -> what is passed of it. PreCompact is not among them: whatever a hook over MCP answers there, even nothing,
is shown to the user, and ``{}`` goes into the summary. A session that was compacted starts again, and tells so."""
_MATCHERS: dict[str, tuple[str, ...]] = {
    "PreToolUse": ("",),
    "PostToolUse": (ANSWERED, DONE),
    "PostToolUseFailure": ("",),
}
"""Every call may meet a rule of its user before it starts; a hook over MCP costs it 2-4 ms."""
_OVER_MCP_ONLY = ("PostToolBatch",)
"""Comes after every call, and tells only of calls that were refused before they began: too dear for a process."""
_COMMANDS = ("SessionStart", "SessionEnd")
"""Commands by every route: there is no MCP client yet at the start, and none any more at the end."""

GUARDS = {
    "SessionStart": Guard.START,
    "UserPromptSubmit": Guard.TURNS,
    "PreToolUse": Guard.CALLS,
    "PostToolUse": Guard.ANSWERS,
    "PostToolUseFailure": Guard.ANSWERS,
    "PostToolBatch": Guard.ANSWERS,
    "SubagentStart": Guard.AGENTS,
    "SubagentStop": Guard.AGENTS,
    "Stop": Guard.END,
    "StopFailure": Guard.END,
    "SessionEnd": Guard.END,
}
"""Event -> what is not armed when its hooks do not come."""


def in_place() -> dict[str, str]:
    """The files of the plugin as it lies in the package: everything goes through its launcher."""
    return _rendered("mcp", server=(*_LAUNCHER, "mcp", "--client"), hook=(*_LAUNCHER, "hook"))


def layout(route: Route) -> PluginLayout:
    """The marketplace that holds the one plugin."""
    return PluginLayout(
        source=PLUGIN,
        manifest=".claude-plugin/marketplace.json",
        marketplace={
            "name": NAME,
            "owner": {"name": "The upbeat authors"},
            "plugins": [{"name": NAME, "source": f"./plugins/{NAME}"}],
        },
        rendered=_rendered(route, server=(PYTHON, *SERVER), hook=(PYTHON, *HOOK)),
    )


def wanted(environment: Environment, route: Route) -> Wanted:
    """The marketplace in upbeat's data folder, run in place, and two lines of the user's settings.

    Claude Code 2.1.329 loads the plugin in the next session, 2.1.197 in the one after that; each writes what it needs
    besides (``plugins/known_marketplaces.json``, ``plugins/installed_plugins.json``) by itself.
    """
    folder = environment.data_home / "upbeat" / "claude"
    source = {"source": {"source": "directory", "path": str(folder)}}
    parts = (Part(("extraKnownMarketplaces", NAME), source), Part(("enabledPlugins", f"{NAME}@{NAME}"), True))
    settings = Edit(environment.claude_home / "settings.json", "json", parts)
    return Wanted(own={folder: files(layout(route))}, files={}, edits=(settings,))


def next_steps() -> list[str]:
    """What is left to its user."""
    setting = '"statusLine": {"type": "command", "command": "upbeat statusline"}'
    return [
        "start a new session of Claude Code; one as old as 2.1.197 has the plugin from its second session on",
        f"for a line with the workflow below the prompt, add to settings.json: {setting}",
    ]


def last_steps() -> list[str]:
    """What Claude Code still knows afterwards, and does not load."""
    return [f"to make Claude Code forget the name as well: claude plugin marketplace remove {NAME}"]


def _rendered(route: Route, server: tuple[str, ...], hook: tuple[str, ...]) -> dict[str, str]:
    """``.mcp.json`` and ``hooks/hooks.json``.

    Only events that the oldest supported client knows are registered: an unknown one would cost it all hooks of
    the plugin.
    """
    command: dict[str, Any] = {"type": "command", "command": hook[0], "args": [*hook[1:], CLIENT]}
    hooks: dict[str, Any] = {event: [{"hooks": [command | {"timeout": HOOK_SECONDS}]}] for event in _COMMANDS}
    for event in _FIELDS:
        seconds = CALL_SECONDS if event in _MATCHERS else HOOK_SECONDS
        if route == "command" and event in _OVER_MCP_ONLY:
            continue
        hooks[event] = []
        for matcher in _MATCHERS.get(event, ("",)):
            handler = (_over_mcp(event, matcher) if route == "mcp" else command) | {"timeout": seconds}
            hooks[event].append(({"matcher": matcher} if matcher else {}) | {"hooks": [handler]})
    servers = {NAME: {"command": server[0], "args": [*server[1:], CLIENT]}}
    return {
        ".mcp.json": as_json({"mcpServers": servers}),
        "hooks/hooks.json": as_json({"description": "upbeat prepares, guards and continues turns", "hooks": hooks}),
    }


def _over_mcp(event: str, matcher: str) -> dict[str, Any]:
    names = (name for name in (*_COMMON, *_FIELDS[event]) if matcher != DONE or name != "tool_response")
    passed = {"hook_event_name": event} | {name: "${" + name + "}" for name in names}
    return {"type": "mcp_tool", "server": f"plugin:{NAME}:{NAME}", "tool": "hook", "input": passed}
