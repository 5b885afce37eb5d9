"""Inspect what Codex reports about upbeat's hooks: which ones it has loaded and which are trusted.

Invariant: nothing is written. Users trust hooks in Codex after a review; upbeat never writes a trust hash. Codex skips
untrusted hooks silently.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from concurrent.futures import TimeoutError as Late
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from upbeat import __version__
from upbeat.adapters.clients.session_files import HEAD_BYTES, list_recordings
from upbeat.adapters.clients.snapshot import absent_snapshot, installed_snapshot
from upbeat.adapters.codex.client import Codex
from upbeat.adapters.codex.install import HOOK_POINT_BY_EVENT, plugin_layout
from upbeat.adapters.codex.transport.app_server.process import AppServerConnection, ConnectionLost, RpcError
from upbeat.adapters.codex.version import MIN_CODEX_VERSION
from upbeat.adapters.doctor import journal_evidence
from upbeat.adapters.doctor.handshake import handshake_problem
from upbeat.adapters.install import plugin_state
from upbeat.adapters.install.plugin import NAME
from upbeat.adapters.install.plugin_state import (
    PluginState,
    client_program,
    is_conflicting,
    is_our_hook,
    is_our_plugin,
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
PLUGIN_ID = f"{NAME}@{NAME}"
_TURN_MARKERS = (b'"task_started"', b'"turn_context"', b'"user_message"')
"""Present in a rollout line that belongs to a turn."""
WRAPPER_HOOK_POINTS = frozenset({HookPoint.START, HookPoint.TURNS, HookPoint.END})
"""The hook points that codex-auto handles without a hook."""


@dataclass(frozen=True, slots=True)
class HooksListing:
    """The hooks of one folder as Codex lists them. ``problem`` says why there is no list."""

    hooks: tuple[Mapping[str, Any], ...] = ()
    problem: str = ""
    is_unsupported: bool = False
    """This version of Codex is too old to list hooks."""


def inspect_codex(client: Codex, environment: Environment, root: str, journal: SqliteJournal) -> ClientSnapshot:
    """Inspect Codex as it would start in the project at ``root`` (empty for none)."""
    own, home = environment.data_home / NAME / client.cli_name, client.home(environment)
    program = client_program(client.cli_name, root, environment)
    config = read_toml(home / "config.toml").values
    entries = {name: plugin for name, plugin in _plugins(config).items() if is_our_plugin(name)}
    if not program or not (entries or own.is_dir()):
        return absent_snapshot(client, program)
    variables = child_variables({client.home_variable: str(home)}, excluded_prefixes=(WRAPPED_VARIABLE,))
    state = PluginState()
    if entries:
        state = plugin_state.inspect_plugin(_installed_copy(home, own), plugin_layout, HOOK_POINT_BY_EVENT)
    faults = [
        *_settings_faults(config, entries, home / "config.toml"),
        *state.faults,
        *_server_faults(state, program, variables, root),
    ]
    if any(isinstance(plugin, Mapping) and plugin.get("enabled") is not False for plugin in entries.values()):
        faults += _hook_faults(list_hooks(program, variables, root or str(home)))
    version, unrecorded = get_version(program, variables), _unrecorded_sessions(home, root, journal)
    return installed_snapshot(client, program, version, MIN_CODEX_VERSION, state, faults, journal, unrecorded)


def _plugins(config: Mapping[str, Any]) -> Mapping[str, Any]:
    plugins = config.get("plugins")
    return plugins if isinstance(plugins, Mapping) else {}


def inspect_wrapper(codex: ClientSnapshot) -> ClientSnapshot:
    """Return the snapshot of codex-auto, which prepares and continues turns itself and needs hooks for the rest."""
    faults = tuple(
        fault
        for fault in codex.faults
        if fault.reason in (Reason.CLIENT_BROKEN, Reason.CLIENT_TOO_OLD) or fault.hook_points - WRAPPER_HOOK_POINTS
    )
    return ClientSnapshot(
        WRAPPER,
        WRAPPER,
        codex.cli_name,
        codex.install_status,
        program=codex.program,
        faults=tuple(_wrapper_fault(fault) for fault in faults),
        sessions=codex.sessions,
        hooks_written_at=codex.hooks_written_at,
        hookless_points=WRAPPER_HOOK_POINTS,
        canary=codex.canary,
        hook_owner=codex.name,
    )


def _wrapper_fault(fault: Fault) -> Fault:
    if fault.reason in (Reason.CLIENT_BROKEN, Reason.CLIENT_TOO_OLD):
        return fault
    return Fault(fault.reason, fault.detail, fault.hook_points - WRAPPER_HOOK_POINTS, fault.can_be_disproved)


def list_hooks(program: str, variables: Mapping[str, str], folder: str) -> HooksListing:
    """Ask Codex for its hooks in ``folder`` with their trust, as its /hooks screen shows them."""
    connection = AppServerConnection([program, "app-server"], variables)
    try:
        client_info = {"name": "upbeat-doctor", "title": "upbeat doctor", "version": __version__}
        params = {"clientInfo": client_info, "capabilities": {"experimentalApi": True}}
        connection.request("initialize", params).result(HOOKS_TIMEOUT_SECONDS)
        connection.notify("initialized")
        listed = connection.request("hooks/list", {"cwds": [folder]}).result(HOOKS_TIMEOUT_SECONDS)
    except RpcError as error:
        return HooksListing(problem=str(error)[:200], is_unsupported=True)
    except ConnectionLost as error:
        return HooksListing(problem=str(error)[:200])
    except Late:
        return HooksListing(problem=f"codex app-server: > {HOOKS_TIMEOUT_SECONDS:g} s")
    finally:
        connection.close()
    hooks = _parse_hooks(listed.get("data"))
    return (
        HooksListing(problem=f"hooks/list: {json.dumps(listed)[:200]}") if hooks is None else HooksListing(tuple(hooks))
    )


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


def _settings_faults(config: Mapping[str, Any], entries: Mapping[str, Any], path: Path) -> Iterator[Fault]:
    """Yield the settings of ``config.toml`` that keep upbeat's hooks from running."""
    features = config.get("features")
    if isinstance(features, Mapping) and features.get("hooks") is False:
        yield Fault(Reason.HOOKS_DISABLED, f"features.hooks in {path}")
    enabled = [
        name for name, entry in entries.items() if not (isinstance(entry, Mapping) and entry.get("enabled") is False)
    ]
    if not entries:
        yield Fault(Reason.PLUGIN_NOT_ENABLED, f"no {PLUGIN_ID} in {path}")
    elif not enabled:
        yield Fault(Reason.PLUGIN_DISABLED, ", ".join(f"{name} in {path}" for name in entries))
    elif len(enabled) > 1:
        yield Fault(Reason.DUPLICATE_HOOKS, ", ".join(enabled))
    rivals = [
        name
        for name, plugin in _plugins(config).items()
        if is_conflicting(name) and isinstance(plugin, Mapping) and plugin.get("enabled", True)
    ]
    if rivals:
        yield Fault(Reason.CONFLICTING_PLUGIN, ", ".join(rivals), frozenset({HookPoint.TURNS, HookPoint.END}))


def _hook_faults(listing: HooksListing) -> Iterator[Fault]:
    """Yield what is wrong with upbeat's hooks, once for each hook point."""
    if listing.problem:
        yield Fault(Reason.CLIENT_TOO_OLD if listing.is_unsupported else Reason.CLIENT_BROKEN, listing.problem)
        return
    ours = [hook for hook in listing.hooks if is_our_plugin(str(hook.get("pluginId") or ""))]
    by_event = {_event_name(hook): hook for hook in ours}
    for hook_point in HookPoint:
        events = [event for event, carried in HOOK_POINT_BY_EVENT.items() if carried is hook_point]
        found = {event: by_event[event] for event in events if event in by_event}
        for reason, named in (
            (Reason.HOOKS_CHANGED, [event for event in events if event not in found]),
            (Reason.HOOK_DISABLED, [event for event, hook in found.items() if hook.get("enabled") is False]),
            (Reason.UNTRUSTED, _events_with_trust(found, "untrusted")),
            (Reason.TRUST_CHANGED, _events_with_trust(found, "modified")),
        ):
            if named:
                yield Fault(reason, ", ".join(named), frozenset({hook_point}))
    others = [hook for hook in listing.hooks if not hook.get("pluginId") and hook.get("enabled") is not False]
    commands = [(str(hook.get("command") or ""), str(hook.get("sourcePath") or "")) for hook in others]
    if twice := [source for line, source in commands if is_our_hook(line)]:
        yield Fault(Reason.DUPLICATE_HOOKS, ", ".join(dict.fromkeys(twice)))
    if rivals := [source for line, source in commands if is_conflicting(line)]:
        yield Fault(
            Reason.CONFLICTING_PLUGIN, ", ".join(dict.fromkeys(rivals)), frozenset({HookPoint.TURNS, HookPoint.END})
        )


def _events_with_trust(found: Mapping[str, Mapping[str, Any]], status: str) -> list[str]:
    """Return the events of the hooks with this trust status; managed hooks need no trust."""
    return [event for event, hook in found.items() if hook.get("trustStatus") == status and not hook.get("isManaged")]


def _event_name(hook: Mapping[str, Any]) -> str:
    """Return ``preToolUse`` as ``hooks.json`` spells it."""
    name = str(hook.get("eventName") or "")
    return name[:1].upper() + name[1:]


def _server_faults(state: PluginState, program: str, variables: Mapping[str, str], root: str) -> Iterator[Fault]:
    """Check that Codex has upbeat's server enabled, and start the server as Codex does."""
    if not state.server_command:
        return
    try:
        command = [program, "mcp", "list", "--json"]
        ended = run_program(command, variables=variables, cwd=root or "/", timeout_seconds=HOOKS_TIMEOUT_SECONDS)
        listed = json.loads(ended.output)
    except (OSError, ValueError):
        listed = None
    if isinstance(listed, list):
        ours = [server for server in listed if isinstance(server, dict) and server.get("name") == NAME]
        if ours and not ours[0].get("enabled", True):
            yield Fault(Reason.SERVER_DISABLED, str(ours[0].get("disabled_reason") or f"mcp_servers.{NAME}"))
    if problem := handshake_problem(state.server_command, variables):
        yield Fault(Reason.SERVER_NOT_CONNECTED, problem)


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
