"""What Codex itself tells of our hooks: which it knows, which are trusted. Law: it is asked, and nothing is written.

Trust is given by a user who has read a hook, in Codex; no hash of it is ever written here. Codex runs what it does not
trust in silence: not at all.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from concurrent.futures import TimeoutError as Late
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ... import __version__
from ...core.doctor.findings import ClientSeen, Fault, Guard, Presence, Reason, Unseen
from .. import plugin_state
from ..local import child, journal_evidence
from ..local.environment import WRAPPED, Environment, child_variables
from ..local.handshake import trouble_with
from ..local.journal import SqliteJournal
from ..local.lines import Bookmark, new_lines, object_in
from ..local.program import ask_version, dotted
from ..local.recordings import BEGINNING, recordings
from ..local.toml_file import read_toml
from ..plugin import NAME
from ..plugin_state import PluginState, client_program, is_our_hook, is_ours, is_rival, of_version
from .auto.app_server_process import Connection, ConnectionLost, RequestRefused
from .auto.codex_version import OLDEST
from .install import CLIENT as CLIENT
from .install import GUARDS, layout

TITLE, WORD, PROGRAM = "Codex", "codex", "codex"
WRAPPER = "codex-auto"
SECONDS = 20.0
"""How long Codex may take to tell of its hooks."""
PLUGIN_ID = f"{NAME}@{NAME}"
_OF_A_TURN = (b'"task_started"', b'"turn_context"', b'"user_message"')
"""In the lines of a record that tell of a turn."""
OWN = frozenset({Guard.START, Guard.TURNS, Guard.END})
"""What codex-auto does without any hook."""


@dataclass(frozen=True, slots=True)
class Told:
    """What Codex says of the hooks in one folder. ``problem`` says why it told nothing."""

    hooks: tuple[Mapping[str, Any], ...] = ()
    problem: str = ""
    refused: bool = False
    """It does not know the question: it is too old."""


def look(environment: Environment, root: str, journal: SqliteJournal) -> ClientSeen:
    """Codex as it is in the project at ``root``."""
    own = environment.data_home / NAME / WORD
    program = client_program(PROGRAM, root, environment)
    config = read_toml(environment.codex_home / "config.toml").values
    plugins = config.get("plugins")
    entries = {name: one for name, one in plugins.items() if is_ours(name)} if isinstance(plugins, Mapping) else {}
    if not program or not (entries or own.is_dir()):
        presence = Presence.NOT_INSTALLED if program else Presence.NOT_HERE
        return ClientSeen(CLIENT, TITLE, WORD, presence, program=program)
    variables = child_variables({"CODEX_HOME": str(environment.codex_home)}, without=(WRAPPED,))
    asked = ask_version(program, variables)
    state = plugin_state.look(_copy(environment.codex_home, own), layout, GUARDS) if entries else PluginState()
    faults = [
        *of_version(asked, OLDEST),
        *_of_settings(config, entries, environment),
        *state.faults,
        *_of_server(state, program, variables, root),
    ]
    if any(isinstance(one, Mapping) and one.get("enabled") is not False for one in entries.values()):
        faults += _of_hooks(ask_for_hooks(program, variables, root or str(environment.codex_home)))
    return ClientSeen(
        CLIENT,
        TITLE,
        WORD,
        Presence.INSTALLED,
        version="" if isinstance(asked, str) else dotted(asked),
        program=program,
        faults=tuple(faults),
        sessions=journal_evidence.sessions_seen(journal, CLIENT, state.written_at),
        kept=_kept(environment, root, journal),
        written_at=state.written_at,
        notes=state.notes,
    )


def look_at_wrapper(codex: ClientSeen) -> ClientSeen:
    """codex-auto, which drives the same Codex: it prepares and continues turns itself, and has hooks for the rest."""
    mine = tuple(
        fault
        for fault in codex.faults
        if fault.reason in (Reason.CLIENT_BROKEN, Reason.CLIENT_TOO_OLD) or fault.guards - OWN
    )
    return ClientSeen(
        WRAPPER,
        WRAPPER,
        WORD,
        codex.presence,
        program=codex.program,
        faults=tuple(_for_wrapper(fault) for fault in mine),
        sessions=codex.sessions,
        written_at=codex.written_at,
        own=OWN,
        canary=codex.canary,
        hooks_of=TITLE,
    )


def _for_wrapper(fault: Fault) -> Fault:
    if fault.reason in (Reason.CLIENT_BROKEN, Reason.CLIENT_TOO_OLD):
        return fault
    return Fault(fault.reason, fault.detail, fault.guards - OWN, fault.can_be_disproved)


def ask_for_hooks(program: str, variables: Mapping[str, str], folder: str) -> Told:
    """The hooks that Codex knows in ``folder``, with their trust, as its own screen shows them."""
    connection = Connection([program, "app-server"], variables)
    try:
        about = {"name": "upbeat-doctor", "title": "upbeat doctor", "version": __version__}
        hello = {"clientInfo": about, "capabilities": {"experimentalApi": True}}
        connection.ask("initialize", hello).result(SECONDS)
        connection.tell("initialized")
        listed = connection.ask("hooks/list", {"cwds": [folder]}).result(SECONDS)
    except RequestRefused as error:
        return Told(problem=str(error)[:200], refused=True)
    except ConnectionLost as error:
        return Told(problem=str(error)[:200])
    except Late:
        return Told(problem=f"codex app-server: > {SECONDS:g} s")
    finally:
        connection.close()
    hooks = _hooks_in(listed.get("data"))
    return Told(problem=f"hooks/list: {json.dumps(listed)[:200]}") if hooks is None else Told(tuple(hooks))


def _hooks_in(data: Any) -> list[Mapping[str, Any]] | None:
    """The hooks of each folder in an answer; None for an answer of another form."""
    if not isinstance(data, list) or not data:
        return None
    found: list[Mapping[str, Any]] = []
    for one in data:
        hooks = one.get("hooks") if isinstance(one, dict) else None
        if not isinstance(hooks, list) or not all(isinstance(hook, dict) for hook in hooks):
            return None
        found += hooks
    return found


def _of_settings(config: Mapping[str, Any], entries: Mapping[str, Any], environment: Environment) -> Iterator[Fault]:
    """What ``config.toml`` says against our hooks."""
    path = environment.codex_home / "config.toml"
    features = config.get("features")
    if isinstance(features, Mapping) and features.get("hooks") is False:
        yield Fault(Reason.HOOKS_DISABLED, f"features.hooks in {path}")
    on = [name for name, one in entries.items() if not (isinstance(one, Mapping) and one.get("enabled") is False)]
    if not entries:
        yield Fault(Reason.NOT_SWITCHED_ON, f"no {PLUGIN_ID} in {path}")
    elif not on:
        yield Fault(Reason.PLUGIN_DISABLED, ", ".join(f"{name} in {path}" for name in entries))
    elif len(on) > 1:
        yield Fault(Reason.TWICE, ", ".join(on))
    plugins = config.get("plugins")
    others = plugins.items() if isinstance(plugins, Mapping) else ()
    rivals = [name for name, one in others if is_rival(name) and isinstance(one, Mapping) and one.get("enabled", True)]
    if rivals:
        yield Fault(Reason.IN_THE_WAY, ", ".join(rivals), frozenset({Guard.TURNS, Guard.END}))


def _of_hooks(told: Told) -> Iterator[Fault]:
    """What Codex says of each of our hooks, told once for each guard."""
    if told.problem:
        yield Fault(Reason.CLIENT_TOO_OLD if told.refused else Reason.CLIENT_BROKEN, told.problem)
        return
    ours = [hook for hook in told.hooks if is_ours(str(hook.get("pluginId") or ""))]
    by_event = {_event(hook): hook for hook in ours}
    for guard in Guard:
        events = [event for event, carried in GUARDS.items() if carried is guard]
        found = {event: by_event[event] for event in events if event in by_event}
        for reason, named in (
            (Reason.HOOKS_CHANGED, [event for event in events if event not in found]),
            (Reason.HOOK_OFF, [event for event, hook in found.items() if hook.get("enabled") is False]),
            (Reason.UNTRUSTED, _with_trust(found, "untrusted")),
            (Reason.TRUST_CHANGED, _with_trust(found, "modified")),
        ):
            if named:
                yield Fault(reason, ", ".join(named), frozenset({guard}))
    strangers = [hook for hook in told.hooks if not hook.get("pluginId") and hook.get("enabled") is not False]
    commands = [(str(hook.get("command") or ""), str(hook.get("sourcePath") or "")) for hook in strangers]
    if twice := [source for line, source in commands if is_our_hook(line)]:
        yield Fault(Reason.TWICE, ", ".join(dict.fromkeys(twice)))
    if rivals := [source for line, source in commands if is_rival(line)]:
        yield Fault(Reason.IN_THE_WAY, ", ".join(dict.fromkeys(rivals)), frozenset({Guard.TURNS, Guard.END}))


def _with_trust(found: Mapping[str, Mapping[str, Any]], status: str) -> list[str]:
    """The events of hooks with this trust; an administrator's need none."""
    return [event for event, hook in found.items() if hook.get("trustStatus") == status and not hook.get("isManaged")]


def _event(hook: Mapping[str, Any]) -> str:
    """``preToolUse`` as ``hooks.json`` writes it."""
    name = str(hook.get("eventName") or "")
    return name[:1].upper() + name[1:]


def _of_server(state: PluginState, program: str, variables: Mapping[str, str], root: str) -> Iterator[Fault]:
    """Whether Codex has our server, and the server starts as Codex would start it."""
    if not state.server:
        return
    try:
        command = [program, "mcp", "list", "--json"]
        ended = child.run(command, variables=variables, cwd=root or "/", seconds=SECONDS)
        listed = json.loads(ended.output)
    except (OSError, ValueError):
        listed = None
    if isinstance(listed, list):
        ours = [one for one in listed if isinstance(one, dict) and one.get("name") == NAME]
        if ours and not ours[0].get("enabled", True):
            yield Fault(Reason.SERVER_OFF, str(ours[0].get("disabled_reason") or f"mcp_servers.{NAME}"))
    if trouble := trouble_with(state.server, variables):
        yield Fault(Reason.SERVER_NOT_CONNECTED, trouble)


def _copy(codex_home: Path, own: Path) -> Path:
    """Where Codex reads the plugin: its own copy, of the version that it knows."""
    cache = codex_home / "plugins" / "cache" / NAME / NAME
    versions = sorted(path for path in cache.glob("*") if path.is_dir()) if cache.is_dir() else []
    current = cache / __version__
    return current if current in versions or not versions else versions[-1] if own.is_dir() else cache


def _kept(environment: Environment, root: str, journal: SqliteJournal) -> tuple[Unseen, ...]:
    """Sessions in this project that have a record of Codex's and none of ours."""
    files = recordings(str(environment.codex_home / "sessions"), 4, lambda path: path.endswith(".jsonl"), 0)
    latest = files[: 4 * journal_evidence.MOST_KEPT]
    kept = [(thread, file) for file in latest if (thread := _own_thread(file.path, root))]
    return journal_evidence.unknown(journal, kept, _OF_A_TURN)


def _own_thread(path: str, root: str) -> str:
    """The thread of a user's own session in ``root``; empty for another one, and for one of a subagent."""
    head = next(new_lines(path, Bookmark(), BEGINNING), b"")
    payload = object_in(head).get("payload")
    if not isinstance(payload, dict) or not isinstance(payload.get("source"), str):
        return ""
    cwd = payload.get("cwd")
    is_here = isinstance(cwd, str) and Path(cwd).is_relative_to(root)
    return str(payload.get("id") or "") if is_here else ""
