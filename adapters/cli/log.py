"""``upbeat log``: list what happened in all sessions, the latest last; ``upbeat log prune``; ``upbeat log verify``.

A line has the number of the record, how long ago it was, what happened, and what upbeat did; `--json` has all that is
stored. `--follow` waits for new records and prints them; with `--json` it prints one object per line.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import NoReturn

from upbeat.adapters.cli.command_line import SCHEMA_VERSION, add_json_option, create_parser, parse_count
from upbeat.adapters.system.environment import Environment, read_environment
from upbeat.adapters.system.journal.store import SqliteJournal
from upbeat.adapters.system.option_parser import OptionParser
from upbeat.adapters.system.terminal import print_lines, read_screen
from upbeat.adapters.wiring import build_journal
from upbeat.core.journal import show
from upbeat.core.journal.log_screen import entry_lines, log_lines
from upbeat.core.messages.catalogue import load_messages

DEFAULT_COUNT = 20
POLL_SECONDS = 0.3
MAX_BATCH = 10_000


def build_parser() -> OptionParser:
    """Return the parser of this command."""
    parser = create_parser("log", __doc__)
    parser.add_argument("action", nargs="?", choices=("prune", "verify"), help="delete old records; check all hashes")
    parser.add_argument(
        "--session", default="", metavar="ID", help="list one session only; the start of its ID will do"
    )
    parser.add_argument(
        "--last", type=parse_count, default=DEFAULT_COUNT, metavar="N", help=f"records (default: {DEFAULT_COUNT})"
    )
    add_json_option(parser)
    parser.add_argument("--follow", action="store_true", help="wait for new records and print them (Ctrl-C to stop)")
    parser.add_argument(
        "--before",
        type=_parse_time,
        metavar="DATE",
        help="with prune: delete every record before DATE, not only those over the limits",
    )
    return parser


def run(arguments: Sequence[str]) -> int:
    parser = build_parser()
    options = parser.parse_args(arguments)
    if options.before and options.action != "prune":
        parser.error("--before requires prune")
    environment = read_environment()
    journal, language, screen = build_journal(environment), environment.language, read_screen(environment)
    if options.action == "prune":
        pruned = journal.prune(options.before)
        health = journal.health()
        document, code = show.prune_document(pruned, health), 0
        lines = list(show.prune_lines(pruned, health, language))
    elif options.action == "verify":
        result = journal.verify()
        document, lines = show.verification_document(result), list(show.verification_lines(result, language))
        code = 0 if result.is_intact else 1
    else:
        options.session = options.session and (journal.find_session(options.session) or options.session)
        if options.follow:
            _follow(journal, options, environment)
        entries = journal.records(options.session, last=options.last)
        document, code = show.log_document(entries), 0
        if entries and not options.json:
            total = 0 if options.session else journal.health().records
            print_lines(log_lines(entries, screen, total), environment)
            return code
        lines = []
        if not entries:
            texts = load_messages("journal", language)
            is_empty = not journal.records(last=1)
            lines = [texts["log_empty"] if is_empty else texts["no_such_session"].format(start=options.session)]
    print(json.dumps(document, indent=2, ensure_ascii=False) if options.json else "\n".join(lines))
    return code


def _follow(journal: SqliteJournal, options: argparse.Namespace, environment: Environment) -> NoReturn:
    """Print the last records and every new one, until Ctrl-C."""
    last_seq = max((entry.seq for entry in journal.records(last=1)), default=0)
    entries, last_session = journal.records(options.session, last=options.last), None
    while True:
        if options.json:
            for entry in entries:
                document = {"schema_version": SCHEMA_VERSION, **show.entry_document(entry)}
                print(json.dumps(document, ensure_ascii=False), flush=True)
        else:
            print_lines(entry_lines(entries, read_screen(environment), last_session), environment)
        last_session = entries[-1].text_field("session_id") if entries else last_session
        last_seq = max([last_seq, *(entry.seq for entry in entries)])
        time.sleep(POLL_SECONDS)
        entries = journal.records(options.session, last=MAX_BATCH, after=last_seq)


def _parse_time(text: str) -> datetime:
    """Parse a date or time in ISO 8601; the default time zone is UTC."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected a date such as 2026-01-31; got {text!r}") from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
