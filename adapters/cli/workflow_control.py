"""``upbeat workflow start|stop|continue|resume``: orders to the workflow of a client's session, from any shell.

The session is the one that is named, the one that this shell was started by, or the latest of the repository. What
is ordered goes through the same core as what a hook reports, and leaves the same record.
"""

from __future__ import annotations

import argparse
import os
import sys
from typing import NoReturn

from ...core.contract.effect import Inject, TellUser
from ...core.contract.event import ClientName, Commanded, Source
from ...core.errors import RequestError
from ...core.handle import handle
from ...core.journal.entry import KnownSession
from ...core.workflow.state import RunStatus
from ..local.environment import child_variables
from ..local.git_root import find_root, outermost
from ..local.program import find_program
from ..wiring import Application, build, journal

CLIENTS = {"claude": ClientName.CLAUDE_CODE, "codex": ClientName.CODEX_CLI}
PROGRAMS = {"claude": ("claude", "continue"), "codex": ("codex-auto", "continue")}
"""What goes on in each client, with the prompt that makes it go on."""


def start(options: argparse.Namespace) -> int:
    return _order(options, "start", options.name, " ".join(options.goal))


def stop(options: argparse.Namespace) -> int:
    """Without a named session, every workflow that runs here is stopped: a stop word always wins."""
    if options.session:
        return _order(options, "stop")
    application = build()
    root = _root(options.repo)
    running = [one for one in _sessions(application, root) if _is_open(one)]
    if not running:
        return _order(options, "stop")
    for session in running:
        _give(application, Commanded(_source(session, root), "stop"))
    return 0


def go_on(options: argparse.Namespace) -> int:
    return _order(options, "continue")


def resume(options: argparse.Namespace) -> int:
    """Hand the run over, and start the client that goes on with it."""
    client = CLIENTS[options.client]
    code = _order(options, "hand-over", client.value)
    program, prompt = PROGRAMS[options.client]
    root = _root(options.repo)
    found = find_program(program, outermost(root))
    if code or options.no_start or not found:
        print(f"upbeat: start it with: {program} {prompt}", file=sys.stderr)
        return code
    return _become(found, [program, prompt], root)


def _become(program: str, command: list[str], root: str) -> NoReturn:
    """The client takes the place of this process."""
    sys.stdout.flush()
    os.chdir(root)
    os.execve(program, command, child_variables({}))  # noqa: S606


def _order(options: argparse.Namespace, verb: str, argument: str = "", goal: str = "") -> int:
    application = build()
    root = _root(options.repo)
    session = _session(application, root, options.session, is_new=verb == "start")
    return _give(application, Commanded(_source(session, root), verb, argument, goal))


def _give(application: Application, order: Commanded) -> int:
    """Carry out an order and say what came of it; 1 when nothing did."""
    decision = handle(order, application.runtime)
    for effect in decision.effects:
        if isinstance(effect, TellUser | Inject):
            print(effect.text)
    return 0 if decision.said else 1


def _session(application: Application, root: str, named: str, *, is_new: bool) -> KnownSession:
    """The session that is meant. Raises RequestError with the way out when there is none."""
    sessions = _sessions(application, root)
    if mine := named or application.environment.client_session:
        whole = [one for one in sessions if one.session_id == mine]
        found = whole or [one for one in sessions if named and one.session_id.startswith(named)]
        if len(found) == 1:
            return found[0]
        if named:
            raise RequestError(f"{len(found)} sessions in {root} begin with {named!r}; upbeat status lists them")
        unknown = f"this shell's session {mine[:40]} is not known in {root}"
        raise RequestError(f"{unknown}; name one of those that upbeat status lists with --session")
    candidates = sessions if is_new else [one for one in sessions if one.state.run]
    if not candidates:
        raise RequestError(f"no session with a workflow is known in {root}; say [workflow:standard] GOAL in one")
    return next((one for one in candidates if _is_open(one)), candidates[0])


def _sessions(application: Application, root: str) -> list[KnownSession]:
    return list(journal(application.environment).sessions(root))


def _is_open(session: KnownSession) -> bool:
    run = session.state.run
    return run is not None and run.status in (RunStatus.RUNNING, RunStatus.NEEDS_HUMAN)


def _source(session: KnownSession, root: str) -> Source:
    return Source(ClientName(session.state.client or ClientName.CLI), root, session.session_id)


def _root(repo: str) -> str:
    start_at = os.path.realpath(repo)
    return find_root(start_at).worktree or start_at


ORDERS = {"start": start, "stop": stop, "continue": go_on, "resume": resume}
