"""``upbeat workflow start|stop|continue|resume``: control the workflow of a client's session from any shell.

The session is the one that you name, the one that started this shell, or the latest of the repository. The command
goes through the same engine as a hook event and leaves the same record. From an agent's shell, `start` starts a
workflow if none is open, and the others are refused.

`resume` hands the workflow to a new session of the other client. If the session that has it did not end (its client is
still open, or was killed), `resume` asks first; without a terminal it refuses, unless you pass `--force`.
"""

from __future__ import annotations

import argparse
import os
import sys
import time

from upbeat.adapters.cli.command_line import confirm, project_root
from upbeat.adapters.cli.workflow import print_unknown_workflow
from upbeat.adapters.clients.registry import CLIENT_BY_CLI_NAME, calling_client, client_session
from upbeat.adapters.system.config.workflows import load_workflows
from upbeat.adapters.system.environment import child_variables, read_environment
from upbeat.adapters.system.git.root import outermost_repository
from upbeat.adapters.system.process.find_program import find_program
from upbeat.adapters.system.terminal import are_terminals
from upbeat.adapters.wiring import Application, build_application, build_journal
from upbeat.core.contract.effect import InjectContext, NotifyUser
from upbeat.core.contract.event import ClientName, EventSource, WorkflowCommanded
from upbeat.core.engine.handle import handle_event
from upbeat.core.errors import RequestError
from upbeat.core.journal.record import StoredSession
from upbeat.core.settings import Activation
from upbeat.core.workflow.decide.command import resolve_workflow_name


def start_command(options: argparse.Namespace) -> int:
    registry = load_workflows(project_root(options.repo), read_environment()).registry
    if not resolve_workflow_name(options.name, registry.workflows):
        return print_unknown_workflow(options.name, registry)
    if not "".join(options.goal).strip():
        raise RequestError(f"what should {options.name} achieve? upbeat workflow start {options.name} GOAL")
    verb = "start-if-idle" if calling_client(read_environment()) else "start"
    return _send_command(options, verb, options.name, " ".join(options.goal))


def stop_command(options: argparse.Namespace) -> int:
    """Stop the named session's workflow; without a name, every workflow that runs here."""
    if options.session:
        return _send_command(options, "stop")
    application, root = _open_application(options)
    running = [session for session in _sessions(application, root) if _is_open(session)]
    if not running:
        return _send_command(options, "stop")
    for session in running:
        _execute(application, WorkflowCommanded(_source(session, root), "stop"))
    return 0


def continue_command(options: argparse.Namespace) -> int:
    return _send_command(options, "continue")


def resume_command(options: argparse.Namespace) -> int:
    """Hand the run to the other client and start that client; ask first if the session has not ended."""
    client = CLIENT_BY_CLI_NAME[options.client]
    application, root = _open_application(options)
    session = _session(application, root, options.session, is_new=False)
    if not options.force and session.state.run and not session.state.has_ended and not _confirm_handover(session):
        return 1
    code = _execute(application, WorkflowCommanded(_source(session, root), "hand-over", client.id))
    program, prompt = client.resume_command
    path = find_program(program, outermost_repository(root))
    if path and not code and not options.no_start:
        sys.stdout.flush()
        os.chdir(root)
        os.execve(path, [program, prompt], child_variables({}))  # noqa: S606
    print(f"upbeat: start it with: {program} {prompt}", file=sys.stderr)
    return code


def _confirm_handover(session: StoredSession) -> bool:
    """Ask whether another client may continue the run of a session that may still be at work; no without a terminal."""
    quiet = max(0, round(time.time() - session.updated_at))
    alive = f"session {session.session_id[:8]} of {session.client} has not ended; its last event was {quiet} s ago"
    if are_terminals(sys.stdin):
        return confirm(f"upbeat: {alive}. Both would work on the same files. Hand its workflow over?")
    print(f"upbeat: {alive}, so nothing was handed over; end it first, or pass --force if it is gone", file=sys.stderr)
    return False


def _open_application(options: argparse.Namespace) -> tuple[Application, str]:
    """Return the application and the repository. Raises RequestError where upbeat is off, which does nothing."""
    application, root = build_application(), project_root(options.repo)
    settings = application.runtime.context_resolver.resolve(
        EventSource(ClientName.CLI, root), None, is_plan=False
    ).settings
    if settings.enabled is Activation.OFF:
        origin = settings.origins.get("enabled", "the settings")
        raise RequestError(f"switched off in {root} ({origin}), so nothing was done; switch it on first (upbeat on)")
    return application, root


def _send_command(options: argparse.Namespace, verb: str, argument: str = "", goal: str = "") -> int:
    application, root = _open_application(options)
    session = _session(application, root, options.session, is_new=verb.startswith("start"))
    if verb == "start" and _is_open(session) and (run := session.state.run):
        passed = f"{len(run.passed_steps)} of {len(run.steps)} steps passed"
        print(f"upbeat: replaces the workflow {run.workflow} of this session ({passed})", file=sys.stderr)
    return _execute(application, WorkflowCommanded(_source(session, root), verb, argument, goal))


def _execute(application: Application, command: WorkflowCommanded) -> int:
    """Execute a command and print the result; return 1 if nothing happened."""
    decision = handle_event(command, application.runtime)
    for effect in decision.effects:
        if isinstance(effect, NotifyUser | InjectContext):
            print(effect.text)
    return 0 if decision.explanations else 1


def _session(application: Application, root: str, named: str, *, is_new: bool) -> StoredSession:
    """Return the session to control.

    Raises:
        RequestError: No session matches, or several do.
    """
    sessions = _sessions(application, root)
    if mine := named or client_session(application.environment):
        matches = [session for session in sessions if session.session_id == mine] or [
            session for session in sessions if named and session.session_id.startswith(named)
        ]
        if len(matches) == 1:
            return matches[0]
        if named:
            raise RequestError(f"{len(matches)} sessions in {root} begin with {named!r}; `upbeat status` lists them")
        unknown = f"this shell's session {mine[:40]} is not known in {root}"
        raise RequestError(f"{unknown}; pass --session with one that `upbeat status` lists")
    candidates = sessions if is_new else [session for session in sessions if session.state.run]
    if not candidates:
        raise RequestError(f"no session in {root} has a workflow; say [workflow:standard] GOAL in one to start it")
    return next(filter(_is_open, candidates), candidates[0])


def _sessions(application: Application, root: str) -> list[StoredSession]:
    return list(build_journal(application.environment).sessions(root))


def _is_open(session: StoredSession) -> bool:
    return session.state.run is not None and session.state.run.is_open


def _source(session: StoredSession, root: str) -> EventSource:
    return EventSource(ClientName(session.state.client or ClientName.CLI), root, session.session_id)


CONTROL_COMMANDS = {
    "start": start_command,
    "stop": stop_command,
    "continue": continue_command,
    "resume": resume_command,
}
