"""Inspect what Codex reports about upbeat's hooks: which ones it has loaded and which are trusted.

Invariant: nothing is written. Users trust hooks in Codex after a review; upbeat never writes a trust hash. Codex skips
untrusted hooks silently.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from concurrent.futures import TimeoutError as Late
from dataclasses import replace
from pathlib import Path
from typing import Any

from upbeat import __version__
from upbeat.adapters.clients.session_files import HEAD_BYTES, list_recordings
from upbeat.adapters.clients.snapshot import absent_snapshot, installed_snapshot
from upbeat.adapters.codex.client import Codex
from upbeat.adapters.codex.install import REGISTERED_EVENTS, plugin_layout
from upbeat.adapters.codex.transport.app_server.connection import AppServerConnection, ConnectionLost, RpcError
from upbeat.adapters.codex.version import MIN_CODEX_VERSION, NEWEST_CODEX_VERSION
from upbeat.adapters.doctor import journal_evidence
from upbeat.adapters.doctor.handshake import server_faults
from upbeat.adapters.install.plugin import HOOK_POINT_BY_EVENT, NAME
from upbeat.adapters.install.plugin_state import (
    PluginState,
    client_program,
    conflict_faults,
    inspect_plugin,
    is_our_hook,
    is_our_plugin,
    plugin_faults,
)
from upbeat.adapters.system.environment import WRAPPED_VARIABLE, Environment, child_variables
from upbeat.adapters.system.files.tail import Bookmark, parse_json_object, read_new_lines
from upbeat.adapters.system.files.toml_file import read_toml
from upbeat.adapters.system.journal.store import SqliteJournal
from upbeat.adapters.system.process.find_program import get_version
from upbeat.adapters.system.process.run import run_program
from upbeat.core.doctor.findings import ClientSnapshot, Fault, HookPoint, Reason, UnrecordedSession

WRAPPER = "codex-auto"
HOOKS_TIMEOUT_SECONDS = 20.0
"""How long Codex may take to list its hooks."""
_TURN_MARKERS = (b'"task_started"', b'"turn_context"', b'"user_message"')
"""Present in a rollout line that belongs to a turn."""
WRAPPER_HOOK_POINTS = frozenset({HookPoint.START, HookPoint.TURNS, HookPoint.END})
"""The hook points that codex-auto handles without a hook."""


def inspect_codex(client: Codex, environment: Environment, root: str, journal: SqliteJournal) -> ClientSnapshot:
    """Inspect Codex as it would start in the project at ``root`` (empty for none)."""
    own, home = environment.data_home / NAME / client.cli_name, client.home(environment)
    program = client_program(client.cli_name, root, environment)
    settings = home / "config.toml"
    config = read_toml(settings).values
    tables = config.get("plugins")
    plugins = {
        name: (not (isinstance(table, Mapping) and table.get("enabled") is False), settings)
        for name, table in (tables.items() if isinstance(tables, Mapping) else ())
    }
    ours = [is_enabled for name, (is_enabled, _settings) in plugins.items() if is_our_plugin(name)]
    is_known = bool(ours) or own.is_dir()
    if not program or not is_known:
        return absent_snapshot(client, program, has_plugin=is_known)
    variables = child_variables({client.home_variable: str(home)}, excluded_prefixes=(WRAPPED_VARIABLE,))
    state = inspect_plugin(_installed_copy(home, own), plugin_layout) if ours else PluginState()
    faults = []
    features = config.get("features")
    if isinstance(features, Mapping) and features.get("hooks") is False:
        faults.append(Fault(Reason.HOOKS_DISABLED, f"features.hooks in {settings}"))
    faults += plugin_faults(plugins, settings)
    faults += conflict_faults(name for name, (is_enabled, _settings) in plugins.items() if is_enabled)
    faults += state.faults
    if state.server_command:
        faults += _disabled_server_faults(program, variables, root)
    faults += server_faults(state.server_command, variables)
    if any(ours):
        faults += _hook_faults(list_hooks(program, variables, root or str(home)))
    version, unrecorded = get_version(program, variables), _unrecorded_sessions(home, root, journal)
    return installed_snapshot(
        client, program, version, (MIN_CODEX_VERSION, NEWEST_CODEX_VERSION), state, faults, journal, unrecorded
    )


def inspect_wrapper(codex: ClientSnapshot) -> ClientSnapshot:
    """Return the snapshot of codex-auto, which prepares and continues turns itself and needs hooks for the rest."""
    faults = []
    for fault in codex.faults:
        if fault.reason in (Reason.CLIENT_BROKEN, Reason.CLIENT_TOO_OLD):
            faults.append(fault)
        elif points := fault.hook_points - WRAPPER_HOOK_POINTS:
            faults.append(replace(fault, hook_points=points))
    return ClientSnapshot(
        WRAPPER,
        WRAPPER,
        codex.cli_name,
        codex.install_status,
        program=codex.program,
        faults=tuple(faults),
        sessions=codex.sessions,
        hooks_written_at=codex.hooks_written_at,
        hookless_points=WRAPPER_HOOK_POINTS,
        canary=codex.canary,
        hook_owner=codex.name,
    )


def list_hooks(program: str, variables: Mapping[str, str], folder: str) -> list[Mapping[str, Any]] | Fault:
    """Return the hooks in ``folder`` with their trust, as the /hooks screen of Codex shows them, or a fault."""
    connection = AppServerConnection([program, "app-server"], variables)
    try:
        client_info = {"name": "upbeat-doctor", "title": "upbeat doctor", "version": __version__}
        params = {"clientInfo": client_info, "capabilities": {"experimentalApi": True}}
        connection.request("initialize", params).result(HOOKS_TIMEOUT_SECONDS)
        connection.notify("initialized")
        listed = connection.request("hooks/list", {"cwds": [folder]}).result(HOOKS_TIMEOUT_SECONDS)
    except RpcError as error:
        return Fault(Reason.CLIENT_TOO_OLD, str(error)[:200])
    except ConnectionLost as error:
        return Fault(Reason.CLIENT_BROKEN, str(error)[:200])
    except Late:
        return Fault(Reason.CLIENT_BROKEN, f"codex app-server: > {HOOKS_TIMEOUT_SECONDS:g} s")
    finally:
        connection.close()
    hooks = _parse_hooks(listed.get("data"))
    return Fault(Reason.CLIENT_BROKEN, f"hooks/list: {json.dumps(listed)[:200]}") if hooks is None else hooks


def _parse_hooks(data: Any) -> list[Mapping[str, Any]] | None:
    """Return the hooks of all folders in a response; None if the response has another form."""
    if not isinstance(data, list) or not data:
        return None
    listed: list[Mapping[str, Any]] = []
    for folder in data:
        hooks = folder.get("hooks") if isinstance(folder, dict) else None
        if not isinstance(hooks, list) or not all(isinstance(hook, dict) for hook in hooks):
            return None
        listed += hooks
    return listed


def _hook_faults(listing: list[Mapping[str, Any]] | Fault) -> Iterator[Fault]:
    """Yield what is wrong with upbeat's hooks, once for each hook point."""
    if isinstance(listing, Fault):
        yield listing
        return
    ours = [hook for hook in listing if is_our_plugin(str(hook.get("pluginId") or ""))]
    names = [str(hook.get("eventName") or "") for hook in ours]  # such as preToolUse
    by_event = {name[:1].upper() + name[1:]: hook for name, hook in zip(names, ours, strict=True)}
    for hook_point in HookPoint:
        events = [event for event in REGISTERED_EVENTS if HOOK_POINT_BY_EVENT[event] is hook_point]
        hooks = {event: by_event[event] for event in events if event in by_event}
        for reason, named in (
            (Reason.HOOKS_CHANGED, [event for event in events if event not in hooks]),
            (Reason.HOOK_DISABLED, [event for event, hook in hooks.items() if hook.get("enabled") is False]),
            (Reason.UNTRUSTED, _events_with_trust(hooks, "untrusted")),
            (Reason.TRUST_CHANGED, _events_with_trust(hooks, "modified")),
        ):
            if named:
                yield Fault(reason, ", ".join(named), frozenset({hook_point}))
    others = [hook for hook in listing if not hook.get("pluginId") and hook.get("enabled") is not False]
    commands = [(str(hook.get("command") or ""), str(hook.get("sourcePath") or "")) for hook in others]
    if twice := [source for line, source in commands if is_our_hook(line)]:
        yield Fault(Reason.DUPLICATE_HOOKS, ", ".join(dict.fromkeys(twice)))
    yield from conflict_faults((), commands)


def _events_with_trust(hooks: Mapping[str, Mapping[str, Any]], status: str) -> list[str]:
    """Return the events of the hooks with this trust status; managed hooks need no trust."""
    return [event for event, hook in hooks.items() if hook.get("trustStatus") == status and not hook.get("isManaged")]


def _disabled_server_faults(program: str, variables: Mapping[str, str], root: str) -> Iterator[Fault]:
    """Yield a fault if Codex does not start upbeat's server."""
    try:
        command = [program, "mcp", "list", "--json"]
        ended = run_program(command, variables=variables, cwd=root or "/", timeout_seconds=HOOKS_TIMEOUT_SECONDS)
        listed = json.loads(ended.output)
    except (OSError, ValueError):
        return
    for server in listed if isinstance(listed, list) else ():
        if isinstance(server, dict) and server.get("name") == NAME and not server.get("enabled", True):
            yield Fault(Reason.SERVER_DISABLED, str(server.get("disabled_reason") or f"mcp_servers.{NAME}"))


def _installed_copy(codex_home: Path, own: Path) -> Path:
    """Return the folder that Codex loads the plugin from: its own copy of the installed version."""
    cache = codex_home / "plugins" / "cache" / NAME / NAME
    versions = sorted(path for path in cache.glob("*") if path.is_dir()) if cache.is_dir() else []
    current = cache / __version__
    return current if current in versions or not versions else versions[-1] if own.is_dir() else cache


def _unrecorded_sessions(home: Path, root: str, journal: SqliteJournal) -> tuple[UnrecordedSession, ...]:
    """Return the sessions in this project that Codex has recorded and the journal has not."""
    files = list_recordings(str(home / "sessions"), 4, lambda path: path.endswith(".jsonl"), 0)
    latest = files[: 4 * journal_evidence.MAX_RECORDINGS]
    recordings = [(thread, file) for file in latest if (thread := _own_thread_id(file.path, root))]
    return journal_evidence.unrecorded_sessions(journal, recordings, _TURN_MARKERS)


def _own_thread_id(path: str, root: str) -> str:
    """Return the thread id if the rollout is a user's session in ``root``; empty for other folders and subagents."""
    head = next(read_new_lines(path, Bookmark(), HEAD_BYTES), b"")
    payload = parse_json_object(head).get("payload")
    if not isinstance(payload, dict) or not isinstance(payload.get("source"), str):
        return ""
    cwd = payload.get("cwd")
    is_here = isinstance(cwd, str) and Path(cwd).is_relative_to(root)
    return str(payload.get("id") or "") if is_here else ""
