"""``upbeat context [RECORD]``: show exactly what context the last turn got, and from whom.

Without a number it is the latest prompt of this repository. In a session, `/upbeat:context` (in Codex
`$upbeat:context`) shows the same without asking the model.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from upbeat.adapters.cli.command_line import add_json_option, add_repo_option, create_parser, print_json
from upbeat.adapters.system.config.resolver import resolve_root
from upbeat.adapters.system.environment import Environment, read_environment
from upbeat.adapters.system.option_parser import OptionParser
from upbeat.adapters.wiring import build_journal
from upbeat.core.journal.record import JournalEntry
from upbeat.core.journal.turn_context import context_document, context_text, find_last_turn
from upbeat.core.messages.catalogue import load_messages

MAX_SEARCHED_RECORDS = 500
"""Records that are searched for a prompt."""


def build_parser() -> OptionParser:
    """Return the parser of this command."""
    parser = create_parser("context", __doc__)
    parser.add_argument("record", type=int, nargs="?", metavar="RECORD", help="its number in `upbeat log`")
    parser.add_argument(
        "--session", default="", metavar="ID", help="the last turn of this session; the start of its ID"
    )
    add_repo_option(parser)
    add_json_option(parser)
    return parser


def run(arguments: Sequence[str]) -> int:
    options = build_parser().parse_args(arguments)
    environment = read_environment()
    entry = _find_entry(options, environment)
    if entry is None:
        print(f"upbeat: {load_messages('explain', environment.language)['no_turn']}", file=sys.stderr)
        return 1
    if options.json:
        return print_json(context_document(entry))
    print(context_text(entry, environment.language))
    return 0


def _find_entry(options: argparse.Namespace, environment: Environment) -> JournalEntry | None:
    journal = build_journal(environment)
    if options.record is not None:
        return journal.record(options.record)
    session_id = options.session and (journal.find_session(options.session) or options.session)
    root = "" if options.session else resolve_root(options.repo, environment)
    return find_last_turn(journal.records(session_id, root, last=MAX_SEARCHED_RECORDS))
