"""``upbeat why``: what decided at one event, on what grounds, from which file, and what came of it.

Without a number it is the latest record of this repository in which something was said or done.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence

from ...core.journal.entry import Entry
from ...core.journal.explain import document, explain
from ...core.journal.texts import TEXTS
from ..local.environment import Environment, read_environment
from ..local.journal import SqliteJournal
from ..local.surroundings import root_of
from ..wiring import journal

LOOKED_THROUGH = 500
"""Records that are looked through for one in which something was said."""


def run(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="upbeat why", description=__doc__)
    parser.add_argument("record", type=int, nargs="?", metavar="RECORD", help="its number in upbeat log")
    parser.add_argument("--last", action="store_true", help="the latest record; so it is without a number, too")
    parser.add_argument("--session", default="", metavar="ID", help="the latest of this session")
    parser.add_argument("--repo", help="the repository (default: the one around this folder)")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    if options.record is not None and (options.last or options.session):
        parser.error("RECORD goes without --last and --session")
    environment = read_environment()
    texts = TEXTS[environment.language]
    entry = _entry(journal(environment), options, environment)
    if entry is None:
        missing = texts.nothing_yet if options.record is None else texts.no_record.format(seq=options.record)
        print(f"upbeat: {missing}", file=sys.stderr)
        return 1
    print(json.dumps(document(entry), indent=2, ensure_ascii=False) if options.json else explain(entry, texts))
    return 0


def _entry(found: SqliteJournal, options: argparse.Namespace, environment: Environment) -> Entry | None:
    if options.record is not None:
        return found.record(options.record)
    root = "" if options.session else root_of(options.repo, environment)
    entries = found.records(options.session, root, last=LOOKED_THROUGH)
    telling = tuple(entry for entry in entries if entry.body.get("said") or entry.body.get("effects"))
    return (telling or entries)[-1] if entries else None
