"""``upbeat why``: explain one event: what decided, why, which file configured it, and what happened.

Without a number it explains the latest record of this repository in which upbeat decided or did something.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from upbeat.adapters.cli.command_line import add_json_option, add_repo_option, create_parser, print_json
from upbeat.adapters.system.config.resolver import resolve_root
from upbeat.adapters.system.environment import read_environment
from upbeat.adapters.system.journal.store import SqliteJournal
from upbeat.adapters.system.option_parser import OptionParser
from upbeat.adapters.wiring import build_journal
from upbeat.core.journal.explain import explanation_document, find_telling_entry, format_explanation
from upbeat.core.messages.catalogue import load_messages

MAX_SEARCHED_RECORDS = 500
"""Records that are searched for one with a decision or an effect."""


def build_parser() -> OptionParser:
    """Return the parser of this command."""
    parser = create_parser("why", __doc__)
    parser.add_argument("record", type=int, nargs="?", metavar="RECORD", help="its number in `upbeat log`")
    parser.add_argument("--last", action="store_true", help="explain the latest record (the default)")
    parser.add_argument(
        "--session",
        default="",
        metavar="ID",
        help="explain the latest record of this session; the start of its ID will do",
    )
    add_repo_option(parser)
    add_json_option(parser)
    return parser


def run(arguments: Sequence[str]) -> int:
    parser = build_parser()
    options = parser.parse_args(arguments)
    if options.record is not None and (options.last or options.session):
        parser.error("RECORD cannot be combined with --last or --session")
    environment = read_environment()
    journal = build_journal(environment)
    root = "" if options.session or options.record is not None else resolve_root(options.repo, environment)
    if options.record is not None:
        entry = journal.record(options.record)
    else:
        session_id = options.session and (journal.find_session(options.session) or options.session)
        entries = journal.records(session_id, root, last=MAX_SEARCHED_RECORDS)
        entry = find_telling_entry(entries)
    if entry is None:
        print(f"upbeat: {_missing_text(options, root, journal, environment.language)}", file=sys.stderr)
        return 1
    if options.json:
        return print_json(explanation_document(entry))
    print(format_explanation(entry, environment.language))
    return 0


def _missing_text(options: argparse.Namespace, root: str, journal: SqliteJournal, language: str) -> str:
    """Return why there is no record to explain, and what to do."""
    texts = load_messages("journal", language)
    if options.record is not None:
        return texts["no_record"].format(seq=options.record)
    if options.session and journal.records(last=1):
        return texts["no_such_session"].format(start=options.session)
    roots = journal.recorded_roots()
    if not root or not roots:
        return texts["nothing_yet"]
    elsewhere = texts["recorded_elsewhere"].format(roots=", ".join(roots))
    return f"{texts['nothing_here'].format(root=root)}; {elsewhere}"
