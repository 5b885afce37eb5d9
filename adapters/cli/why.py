"""``upbeat why``: explain one event: what decided, why, which file configured it, and what happened.

Without a number it explains the latest record of this repository in which upbeat decided or did something.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence

from upbeat.adapters.cli.command_line import add_json_option, add_repo_option, create_parser, parse_count, print_json
from upbeat.adapters.system.config.resolver import resolve_root
from upbeat.adapters.system.environment import Environment, read_environment
from upbeat.adapters.system.journal.store import SqliteJournal
from upbeat.adapters.system.option_parser import OptionParser
from upbeat.adapters.system.workspace.own_reports import MAX_SEARCHED_RECORDS
from upbeat.adapters.wiring import build_journal
from upbeat.core.errors import UserError
from upbeat.core.journal.explain import explanation_document, find_telling_entry, format_explanation
from upbeat.core.journal.record import JournalEntry
from upbeat.core.messages.catalogue import load_messages


def build_parser() -> OptionParser:
    """Return the parser of this command."""
    parser = create_parser("why", __doc__)
    parser.add_argument("--last", action="store_true", help="explain the latest record (the default)")
    add_entry_options(parser)
    return parser


def run(arguments: Sequence[str]) -> int:
    parser = build_parser()
    options = parser.parse_args(arguments)
    if options.last and options.record is not None:
        parser.error("RECORD cannot be combined with --last")
    environment = read_environment()
    entry = find_entry(parser, options, environment, find_telling_entry)
    if options.json:
        return print_json(explanation_document(entry))
    print(format_explanation(entry, environment.language))
    return 0


def add_entry_options(parser: OptionParser) -> None:
    """Add the options that say which record is meant, and ``--json``."""
    parser.add_argument("record", type=parse_count, nargs="?", metavar="RECORD", help="its number in `upbeat log`")
    parser.add_argument(
        "--session", default="", metavar="ID", help="the latest one of this session; the start of its ID will do"
    )
    add_repo_option(parser)
    add_json_option(parser)


def find_entry(
    parser: OptionParser,
    options: argparse.Namespace,
    environment: Environment,
    find: Callable[[Sequence[JournalEntry]], JournalEntry | None],
) -> JournalEntry:
    """Return the record with the number that ``options`` name, else what ``find`` finds among the latest ones.

    Raises:
        UserError: There is none; the text says why, and what to do.
    """
    if options.record is not None and options.session:
        parser.error("RECORD cannot be combined with --session")
    journal = build_journal(environment)
    root = "" if options.session or options.record is not None else resolve_root(options.repo, environment)
    if options.record is not None:
        entry = journal.record(options.record)
    else:
        session_id = options.session and (journal.find_session(options.session) or options.session)
        entry = find(journal.records(session_id, root, last=MAX_SEARCHED_RECORDS))
    if entry is None:
        raise UserError(_missing_text(options, root, journal, environment.language))
    return entry


def _missing_text(options: argparse.Namespace, root: str, journal: SqliteJournal, language: str) -> str:
    """Return why there is no record to explain, and what to do."""
    texts = load_messages("journal", language)
    if options.record is not None:
        return texts["no_record"].format(seq=options.record)
    if options.session and not journal.find_session(options.session) and journal.records(last=1):
        return texts["no_such_session"].format(start=options.session)
    roots = journal.recorded_roots()
    if not roots:
        return texts["nothing_yet"]
    if not root or journal.records(root=root, last=1):
        return load_messages("explain", language)["no_turn"]
    elsewhere = texts["recorded_elsewhere"].format(roots=", ".join(roots))
    return f"{texts['nothing_here'].format(root=root)}; {elsewhere}"
