"""``upbeat doctor``: whether upbeat's guards are armed in each client, how that is known, and what to do where not.

It compares what is to fire with what the journal saw of each client's sessions, asks the clients what they say of the
hooks, and with `--probe` starts each real client once with a stub for a model and looks whether its hooks arrive. The
exit code is 0 when every guard of every client that has upbeat is armed, 1 when one is not, 2 for a wrong argument.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic

from ...core.contract.event import ClientName, Source
from ...core.doctor.evidence import session_seen, was_refused
from ...core.doctor.findings import OF_TRUST, Canary, ClientSeen, Presence, Report, document
from ...core.doctor.judge import judge
from ...core.doctor.show import lines
from ...core.doctor.texts import EN, TEXTS, Texts
from ...core.turn.report import timestamp
from ..claude import canary as claude_canary
from ..claude import doctor as claude
from ..codex import canary as codex_canary
from ..codex import doctor as codex
from ..local import machine
from ..local.canary import Flown, empty_repository
from ..local.environment import Environment, child_variables, read_environment
from ..local.journal import SqliteJournal
from ..local.journal_evidence import MOST_RECORDS, entries_of
from ..local.surroundings import LocalSurroundings, working_directory
from ..terminal import are_terminals
from ..wiring import journal, library

ALL = ("claude", "codex")


def run(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="upbeat doctor", description=__doc__)
    parser.add_argument("client", choices=ALL, nargs="?", help="look at this client only (default: all of them)")
    parser.add_argument("--probe", action="store_true", help="start each client once, with a stub for a model")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    environment = read_environment()
    texts = EN if options.json else TEXTS[environment.language]
    wanted = (options.client,) if options.client else ALL
    report = look(environment, wanted, texts, probe=options.probe)
    if options.json:
        print(json.dumps(document(report), indent=2, ensure_ascii=False))
        return 0 if report.armed else 1
    print("\n".join(lines(report, texts)))
    if report.reasons & OF_TRUST and are_terminals(sys.stdin, sys.stdout) and _review(report, texts):
        report = look(environment, wanted, texts, probe=False)
        print("\n".join(lines(report, texts)))
    return 0 if report.armed else 1


def look(environment: Environment, wanted: Sequence[str], texts: Texts, *, probe: bool) -> Report:
    """The report on ``wanted``, with canaries if ``probe``."""
    found = journal(environment)
    cwd = working_directory()
    situation = LocalSurroundings(environment).locate(Source(ClientName.CLI, cwd), None, plan=False)
    root = situation.repository.root
    clients = []
    if "claude" in wanted:
        clients.append(claude.look(environment, root, cwd, found))
    if "codex" in wanted:
        clients.append(codex.look(environment, root, found))
    if probe:
        clients = _probed(clients, environment, found, texts)
    for client in clients[-1:]:
        if client.client == codex.CLIENT and client.presence is Presence.INSTALLED:
            clients.append(codex.look_at_wrapper(client))
    here = machine.look(found, situation.settings)
    return judge(timestamp(datetime.now(UTC)), clients, here, texts)


def _probed(
    clients: Sequence[ClientSeen], environment: Environment, found: SqliteJournal, texts: Texts
) -> list[ClientSeen]:
    """The clients that have upbeat, each with what came of its canary."""
    flights: dict[str, Callable[[str, Path], Flown]] = {
        claude.CLIENT: lambda program, where: claude_canary.fly(
            program, where, environment.claude_home, claude.managed_settings()
        ),
        codex.CLIENT: lambda program, where: codex_canary.fly(program, where, environment.codex_home),
    }
    to_start = [client.program for client in clients if client.presence is Presence.INSTALLED]
    if to_start:
        print(texts.will_start.format(commands=", ".join(to_start)), file=sys.stderr, flush=True)
    return [
        replace(client, canary=_canary(flights[client.client], client.program, environment, found))
        if client.program in to_start
        else client
        for client in clients
    ]


def _canary(fly: Callable[[str, Path], Flown], program: str, environment: Environment, found: SqliteJournal) -> Canary:
    """Start the client, and read in the journal what of it arrived."""
    began = monotonic()
    with empty_repository() as repository:
        flown = fly(program, repository)
        entries = entries_of(found, flown.session_id)
        if flown.is_first and not entries:
            flown = fly(program, repository)
            entries = entries_of(found, flown.session_id)
        kept = library(environment, builds=False)
        kept.forget(str(repository))
        kept.close()
    now = timestamp(datetime.now(UTC))
    seen = session_seen(entries, MOST_RECORDS, now)
    return Canary(
        now,
        flown.session_id,
        frozenset(seen.last) if seen else frozenset(),
        was_refused(entries, flown.told),
        flown.problem,
        flown.server,
        round((monotonic() - began) * 1000),
    )


def _review(report: Report, texts: Texts) -> bool:
    """Open Codex where its user reviews hooks, if that is wanted; whether it was opened."""
    program = next((client.program for client in report.clients if client.client == codex.CLIENT), "")
    try:
        wanted = program and input(texts.review).strip().lower() in ("y", "yes", "是")
    except EOFError:
        return False
    if not wanted:
        return False
    print(texts.review_how)
    subprocess.run([program], env=child_variables({}), check=False)
    return True
