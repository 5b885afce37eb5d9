"""``upbeat stats``: injected context per source, and how often it was used.

For each source: how often it injected context, how many characters, what was left out and why, and how often the agent
opened or edited an injected file within the next two prompts. With `inject.holdout_percent` set, the same numbers for
the held-out prompts, with confidence intervals. How to read it: docs/measuring.md.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import UTC, datetime

from upbeat.adapters.cli.backtest import SECONDS_PER_DAY, parse_days
from upbeat.adapters.cli.command_line import add_json_option, add_repo_option, create_parser, print_json
from upbeat.adapters.system.config.resolver import resolve_root
from upbeat.adapters.system.config.settings import load_user_settings
from upbeat.adapters.system.environment import Environment, read_environment
from upbeat.adapters.system.option_parser import OptionParser
from upbeat.adapters.system.terminal import print_lines, read_screen
from upbeat.adapters.wiring import build_journal
from upbeat.core.journal.stats import StatsCollector, StatsReport, stats_document
from upbeat.core.journal.stats_screen import stats_screen
from upbeat.core.messages.catalogue import load_messages

DEFAULT_DAYS = 30


def build_parser() -> OptionParser:
    """Return the parser of this command."""
    parser = create_parser("stats", __doc__)
    parser.add_argument(
        "--days", type=parse_days, default=DEFAULT_DAYS, metavar="N", help=f"days to count (default: {DEFAULT_DAYS})"
    )
    add_repo_option(parser, "count one repository (default: all of them)")
    add_json_option(parser)
    return parser


def run(arguments: Sequence[str]) -> int:
    options = build_parser().parse_args(arguments)
    environment = read_environment()
    root = resolve_root(options.repo, environment) if options.repo else ""
    report = stats_report(environment, options.days, root)
    if options.json:
        return print_json(stats_document(report))
    print_lines(stats_screen(report, read_screen(environment)), environment)
    if root and not report.first and (roots := build_journal(environment).recorded_roots()):
        texts = load_messages("journal", environment.language)
        print(texts["recorded_elsewhere"].format(roots=", ".join(roots)))
    return 0


def stats_report(environment: Environment, days: int, root: str = "") -> StatsReport:
    """Return the statistics of the last ``days``, of one repository if ``root`` is given.

    Raises:
        JournalError: The journal cannot be read.
    """
    start = datetime.fromtimestamp(max(time.time() - days * SECONDS_PER_DAY, 0), UTC).strftime("%Y-%m-%dT%H:%M:%S")
    collector = StatsCollector()
    for entry in build_journal(environment).iterate_since(start, root):
        collector.add(entry.body)
    return collector.build_report(days, root, load_user_settings(environment).inject_holdout_percent)
