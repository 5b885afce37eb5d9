"""``upbeat status``: the sessions of this repository, with workflow, stage and loop, and how the journal is."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import replace

from ...core.errors import JournalUnreadable
from ...core.journal import overview
from ...core.journal.entry import KnownSession
from ...core.journal.texts import TEXTS
from ..local.environment import read_environment
from ..local.surroundings import root_of
from ..wiring import journal

LAST = 10


def run(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="upbeat status", description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--repo", help="the repository (default: the one around this folder)")
    parser.add_argument("--last", type=int, default=LAST, metavar="N", help=f"sessions (default: {LAST})")
    options = parser.parse_args(arguments)
    environment = read_environment()
    root = root_of(options.repo, environment)
    found = journal(environment)
    health = found.health()
    sessions: tuple[KnownSession, ...] = ()
    if not health.problem:
        try:
            sessions = found.sessions(root, options.last)
        except JournalUnreadable as error:
            health = replace(health, problem=str(error))
    if options.json:
        print(json.dumps(overview.status_document(root, sessions, health), indent=2, ensure_ascii=False))
    else:
        print(overview.status(root, sessions, health, TEXTS[environment.language]))
    return 0
