"""``upbeat doctor``: check that upbeat's hooks are active in each client, and suggest fixes.

It compares the hooks that should fire with those that the journal recorded for each client's sessions, and asks the
clients what they report about the hooks. With `--probe` it also starts each real client once with a stub model and
checks that its hooks arrive. A hook is active, unverified (installed, and no event has come since) or inactive. The
exit code is 0 if none is inactive, 1 if something must be done, 2 for a wrong argument, 5 if no client here has upbeat.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from time import monotonic

from upbeat.adapters.cli.command_line import create_parser, progress
from upbeat.adapters.clients.client import Client
from upbeat.adapters.clients.registry import CLIENT_BY_CLI_NAME, to_cli_name
from upbeat.adapters.doctor import installation
from upbeat.adapters.doctor.canary import empty_repository
from upbeat.adapters.doctor.journal_evidence import MAX_RECORDS, latest_entries
from upbeat.adapters.system.config.resolver import LocalContextResolver, working_directory
from upbeat.adapters.system.environment import Environment, child_variables, read_environment
from upbeat.adapters.system.journal.store import SqliteJournal
from upbeat.adapters.system.option_parser import OptionParser
from upbeat.adapters.system.terminal import are_terminals, print_lines, read_screen
from upbeat.adapters.wiring import build_index_manager, build_journal
from upbeat.core.contract.event import ClientName, EventSource
from upbeat.core.contract.timestamp import format_timestamp
from upbeat.core.doctor.diagnose import diagnose, summarize_session, was_refused
from upbeat.core.doctor.findings import (
    TRUST_REASONS,
    CanaryResult,
    ClientSnapshot,
    DoctorReport,
    InstallStatus,
    State,
    doctor_document,
)
from upbeat.core.doctor.show import doctor_screen
from upbeat.core.messages.catalogue import Messages, load_messages

EXIT_NO_CLIENT = 5


def build_parser() -> OptionParser:
    """Return the parser of this command."""
    parser = create_parser("doctor", __doc__)
    parser.add_argument(
        "client",
        type=to_cli_name,
        choices=tuple(CLIENT_BY_CLI_NAME),
        nargs="?",
        help="check only this client (default: all)",
    )
    parser.add_argument("--probe", action="store_true", help="start each client once with a stub model")
    parser.add_argument("--json", action="store_true")
    return parser


def run(arguments: Sequence[str]) -> int:
    options = build_parser().parse_args(arguments)
    environment = read_environment()
    messages = load_messages("doctor", "en" if options.json else environment.language)
    client_names = (options.client,) if options.client else tuple(CLIENT_BY_CLI_NAME)
    report = build_doctor_report(environment, client_names, messages, probe=options.probe)
    screen = read_screen(environment)
    if options.json:
        print(json.dumps(doctor_document(report), indent=2, ensure_ascii=False))
        return exit_code(report)
    print_lines(doctor_screen(report, messages, screen), environment)
    if report.reasons & TRUST_REASONS and are_terminals(sys.stdin, sys.stdout) and _offer_review(report, messages):
        report = build_doctor_report(environment, client_names, messages, probe=False)
        print_lines(doctor_screen(report, messages, screen), environment)
    return exit_code(report)


def exit_code(report: DoctorReport) -> int:
    """Return 0 if nothing needs to be done, 1 if something does, and another code if there is no client."""
    if not report.has_clients:
        return EXIT_NO_CLIENT
    return 1 if report.state is State.ACTION_NEEDED else 0


def build_doctor_report(
    environment: Environment, client_names: Sequence[str], messages: Messages, *, probe: bool
) -> DoctorReport:
    """Return the report on ``client_names``, with canaries if ``probe``."""
    journal = build_journal(environment)
    cwd = working_directory()
    repo_context = LocalContextResolver(environment).resolve(EventSource(ClientName.CLI, cwd), None, is_plan=False)
    root = repo_context.repository.root
    clients = {name: CLIENT_BY_CLI_NAME[name] for name in client_names}
    snapshots = {name: client.inspect(environment, root, cwd, journal) for name, client in clients.items()}
    if probe:
        _add_canaries(snapshots, environment, journal, messages)
    every = []
    for name, snapshot in snapshots.items():
        is_installed = snapshot.install_status is InstallStatus.INSTALLED
        every += [snapshot, *(clients[name].inspect_wrappers(snapshot) if is_installed else ())]
    here = installation.inspect_installation(journal, repo_context)
    return diagnose(format_timestamp(datetime.now(UTC)), every, here, messages)


def _add_canaries(
    snapshots: dict[str, ClientSnapshot], environment: Environment, journal: SqliteJournal, messages: Messages
) -> None:
    """Run a canary of each client that has upbeat, and add its result."""
    installed = {
        name: snapshot for name, snapshot in snapshots.items() if snapshot.install_status is InstallStatus.INSTALLED
    }
    if installed:
        commands = ", ".join(snapshot.program for snapshot in installed.values())
        print(messages["probe_notice"].format(commands=commands), file=sys.stderr, flush=True)
    with progress("clients probed") as draw:
        for number, (name, snapshot) in enumerate(installed.items()):
            if draw:
                draw(number, len(installed))
            canary = _run_canary(CLIENT_BY_CLI_NAME[name], snapshot.program, environment, journal)
            snapshots[name] = replace(snapshot, canary=canary)


def _run_canary(client: Client, program: str, environment: Environment, journal: SqliteJournal) -> CanaryResult:
    """Start the client, and read from the journal which of its hooks arrived."""
    began = monotonic()
    with empty_repository() as repository:
        run = client.run_canary(program, repository, environment)
        entries = latest_entries(journal, run.session_id)
        if run.is_first_session and not entries:
            run = client.run_canary(program, repository, environment)
            entries = latest_entries(journal, run.session_id)
        manager = build_index_manager(environment, can_build=False)
        manager.delete_index(str(repository))
        manager.close()
    now = format_timestamp(datetime.now(UTC))
    seen = summarize_session(entries, MAX_RECORDS, now)
    return CanaryResult(
        now,
        run.session_id,
        frozenset(seen.last_seen_by_point) if seen else frozenset(),
        was_refused(entries, run.last_request),
        run.problem,
        run.server_problem,
        round((monotonic() - began) * 1000),
    )


def _offer_review(report: DoctorReport, messages: Messages) -> bool:
    """Offer to open the client in which the user reviews hooks; return whether it was opened."""
    untrusted = (
        client.program
        for client in report.clients
        for hook_point in client.hook_points
        if not TRUST_REASONS.isdisjoint(reason.reason for reason in hook_point.reasons)
    )
    program = next(untrusted, "")
    try:
        is_accepted = program and input(messages["review_prompt"]).strip().lower() in ("y", "yes", "是")
    except EOFError:
        return False
    if not is_accepted:
        return False
    print(messages["review_instructions"])
    subprocess.run([program], env=child_variables({}), check=False)
    return True
