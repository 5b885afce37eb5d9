"""``upbeat stats``: what was put before models, by which part, and how often what it named was used.

For each part: how often, how many characters, what was left out and why; and how often the agent opened or edited a
file that was named before its user's next prompt but one. With `inject.hold_out` set, the same where the context was
held out, with intervals. [How to read it](measuring.md).
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from datetime import UTC, datetime

from ...core.journal.stats import Report, Stats, document
from ...core.journal.stats_texts import TEXTS, lines
from ..local.environment import Environment, read_environment
from ..local.settings import load_user_settings
from ..local.surroundings import root_of
from ..wiring import journal
from .backtest import DAY, days

DAYS = 30


def run(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="upbeat stats", description=__doc__)
    parser.add_argument("--days", type=days, default=DAYS, metavar="N", help=f"how far back (default: {DAYS})")
    parser.add_argument("--repo", metavar="DIR", help="one repository (default: all of them)")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    environment = read_environment()
    root = root_of(options.repo, environment) if options.repo else ""
    report = report_of(environment, options.days, root)
    if options.json:
        print(json.dumps(document(report), indent=2, ensure_ascii=False))
    else:
        print("\n".join(lines(report, TEXTS[environment.language])))
    return 0


def report_of(environment: Environment, last_days: int, root: str = "") -> Report:
    """What the journal tells of the last days, of one repository if given. Raises JournalUnreadable."""
    begin = datetime.fromtimestamp(max(time.time() - last_days * DAY, 0), UTC).strftime("%Y-%m-%dT%H:%M:%S")
    counted = Stats()
    for entry in journal(environment).each(begin, root):
        counted.take(entry.body)
    return counted.report(last_days, root, load_user_settings(environment).inject_hold_out)
