"""``upbeat log``: the records of all sessions, the latest last; ``upbeat log prune`` and ``upbeat log verify``.

``--follow`` goes on with new records as they come; with ``--json`` it prints one object a line then.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import NoReturn

from ...core.journal import overview
from ...core.journal.explain import SCHEMA_VERSION
from ...core.journal.texts import TEXTS, Texts
from ..local.environment import read_environment
from ..local.journal import SqliteJournal
from ..wiring import journal

LAST = 20
POLL_SECONDS = 0.3
MOST_AT_ONCE = 10_000
MOST = 10**9


def run(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="upbeat log", description=__doc__)
    parser.add_argument("action", nargs="?", choices=("prune", "verify"), help="take out old records; check them all")
    parser.add_argument("--session", default="", metavar="ID", help="the records of one session")
    parser.add_argument("--last", type=_count, default=LAST, metavar="N", help=f"how many (default: {LAST})")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--follow", action="store_true", help="go on with new records as they come")
    parser.add_argument(
        "--before", type=_moment, metavar="DATE", help="prune: everything before it, not just what is over the limits"
    )
    options = parser.parse_args(arguments)
    if options.before and options.action != "prune":
        parser.error("--before goes with prune")
    environment = read_environment()
    found, texts = journal(environment), TEXTS[environment.language]
    if options.action == "prune":
        return _prune(found, options, texts)
    if options.action == "verify":
        return _verify(found, options, texts)
    return _list(found, options, texts)


def _list(found: SqliteJournal, options: argparse.Namespace, texts: Texts) -> int:
    if options.follow:
        _follow(found, options)
    entries = found.records(options.session, last=options.last)
    if options.json:
        print(json.dumps(overview.log_document(entries), indent=2, ensure_ascii=False))
    else:
        print("\n".join(map(overview.line, entries)) or texts.log_empty)
    return 0


def _follow(found: SqliteJournal, options: argparse.Namespace) -> NoReturn:
    """Print the last records and all that come after them, until the person has seen enough (Ctrl-C)."""
    seen = max((entry.seq for entry in found.records(last=1)), default=0)
    entries = found.records(options.session, last=options.last)
    while True:
        for entry in entries:
            line = json.dumps({"schema_version": SCHEMA_VERSION, **overview.row(entry)}, ensure_ascii=False)
            print(line if options.json else overview.line(entry), flush=True)
        seen = max([seen, *(entry.seq for entry in entries)])
        time.sleep(POLL_SECONDS)
        entries = found.records(options.session, last=MOST_AT_ONCE, after=seen)


def _prune(found: SqliteJournal, options: argparse.Namespace, texts: Texts) -> int:
    pruned = found.prune(options.before)
    health = found.health()
    if options.json:
        print(json.dumps(overview.pruned_document(pruned, health), indent=2))
    else:
        print("\n".join(overview.pruned_lines(pruned, health, texts)))
    return 0


def _verify(found: SqliteJournal, options: argparse.Namespace, texts: Texts) -> int:
    verified = found.verify()
    if options.json:
        print(json.dumps(overview.verified_document(verified), indent=2, ensure_ascii=False))
    else:
        print("\n".join(overview.verified_lines(verified, texts)))
    return 0 if verified.is_whole else 1


def _count(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 0 < int(text) < MOST):
        raise argparse.ArgumentTypeError(f"takes a whole number from 1 on; found {text!r}")
    return int(text)


def _moment(text: str) -> datetime:
    """A date or time in ISO 8601; UTC unless it says otherwise."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"takes a date such as 2026-01-31; found {text!r}") from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
