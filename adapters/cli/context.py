"""``upbeat context [RECORD]``: show exactly what context the last turn got, and from whom.

Without a number it is the latest prompt of this repository. In a session, `/upbeat:context` (in Codex
`$upbeat:context`) shows the same without asking the model.
"""

from __future__ import annotations

from collections.abc import Sequence

from upbeat.adapters.cli.command_line import create_parser, print_json
from upbeat.adapters.cli.why import add_entry_options, find_entry
from upbeat.adapters.system.environment import read_environment
from upbeat.adapters.system.option_parser import OptionParser
from upbeat.core.journal.turn_context import context_document, context_text, find_last_turn


def build_parser() -> OptionParser:
    """Return the parser of this command."""
    parser = create_parser("context", __doc__)
    add_entry_options(parser)
    return parser


def run(arguments: Sequence[str]) -> int:
    parser, environment = build_parser(), read_environment()
    options = parser.parse_args(arguments)
    entry = find_entry(parser, options, environment, find_last_turn)
    if options.json:
        return print_json(context_document(entry))
    print(context_text(entry, environment.language))
    return 0
