"""``upbeat backtest RULE``: replay your past sessions against a rule and report what it would have done.

RULE is a rule file, or the name of a rule or policy. The history is on this
disk: the journal, Claude Code's transcripts and Codex's rollouts, the latest first. Nothing is run, written or sent. A
call that would have been blocked although it succeeded is a false alarm worth a look. Examples are printed without
secrets. Press Ctrl-C to stop and print the counts so far.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from upbeat.adapters.cli.command_line import add_json_option, create_parser, progress, project_root
from upbeat.adapters.clients.history import HistorySource
from upbeat.adapters.clients.session_files import MAX_BYTES
from upbeat.adapters.system.config.rules import load_rules
from upbeat.adapters.system.environment import Environment, read_environment
from upbeat.adapters.system.option_parser import OptionParser
from upbeat.adapters.wiring import build_history
from upbeat.core.errors import JournalError, UserError
from upbeat.core.policies import POLICIES_BY_NAME
from upbeat.core.policy.definition import Policy
from upbeat.core.rules.backtest import Backtest, BacktestReport, backtest_to_dict, rules_evaluator
from upbeat.core.rules.backtest_format import format_backtest
from upbeat.core.rules.formats.markdown import parse_rule_file
from upbeat.core.rules.policy_replay import PolicyReplay, bounded_report
from upbeat.core.rules.rule import Owner, Rule
from upbeat.core.settings_layers import did_you_mean

DEFAULT_DAYS = 90
MAX_DAYS = 36500
MAX_RULE_BYTES = 256 * 1024
SECONDS_PER_DAY = 86400

ProgressCallback = Callable[[int, int], None]
"""Called with the number of sources that were read, and of all sources."""


def build_parser() -> OptionParser:
    """Return the parser of this command."""
    parser = create_parser("backtest", __doc__)
    parser.add_argument("rule", metavar="RULE", help="a rule file, or the name of a rule or policy")
    parser.add_argument(
        "--days", type=parse_days, default=DEFAULT_DAYS, metavar="N", help=f"days to replay (default: {DEFAULT_DAYS})"
    )
    add_json_option(parser)
    return parser


def run(arguments: Sequence[str]) -> int:
    options = build_parser().parse_args(arguments)
    environment = read_environment()
    rules = _rules_named(options.rule, environment)
    report = _report_with_progress(rules, environment, float("inf"), options.days, shows_progress=not options.json)
    if options.json:
        print(json.dumps(backtest_to_dict(report), indent=2, ensure_ascii=False))
    else:
        print("\n".join(format_backtest(report, environment.language)))
    return 130 if report.stopped == "interrupt" else 0


def print_report(rules: Sequence[Rule], environment: Environment, limit_seconds: float) -> BacktestReport:
    """Backtest ``rules`` before they are written; print the report on stderr and return it."""
    report = _report_with_progress(rules, environment, limit_seconds, DEFAULT_DAYS)
    print("\n".join(format_backtest(report, environment.language)), file=sys.stderr)
    return report


def _report_with_progress(
    rules: Policy | Sequence[Rule],
    environment: Environment,
    limit_seconds: float,
    days: int,
    *,
    shows_progress: bool = True,
) -> BacktestReport:
    with progress("transcripts", is_shown=shows_progress) as draw:
        return run_backtest(rules, environment, limit_seconds, days=days, on_progress=draw)


def run_backtest(
    rules: Policy | Sequence[Rule],
    environment: Environment,
    limit_seconds: float = float("inf"),
    *,
    days: int = DEFAULT_DAYS,
    on_progress: ProgressCallback | None = None,
) -> BacktestReport:
    """Replay the last ``days`` against a policy or the rules of one file, for at most ``limit_seconds``.
    A policy is replayed twice: with the worst and with the best answers to what the past cannot tell.
    """
    replays: list[PolicyReplay] = []
    if isinstance(rules, Policy):
        name = rules.name
        replays = [PolicyReplay(rules, environment.language, does_most=does_most) for does_most in (True, False)]
        backtests = [Backtest(replay, time.perf_counter) for replay in replays]
    else:
        name = ", ".join(rule.name for rule in rules)
        backtests = [Backtest(rules_evaluator(rules, environment.language), time.perf_counter)]
    deadline = time.monotonic() + limit_seconds
    file_count = unread = 0
    stopped = ""
    try:
        sources = build_history(environment).sources(time.time() - days * SECONDS_PER_DAY)
        for source in sources:
            if on_progress:
                on_progress(file_count, len(sources))
            if not _count_source(source, backtests, deadline):
                stopped = "time"
                break
            file_count += bool(source.path)
            unread += source.bytes > MAX_BYTES
    except JournalError:  # the journal is the last source; the others are counted
        unread += 1
    except KeyboardInterrupt:
        stopped = "interrupt"
    reports = [backtest.report(name, days, file_count, unread, stopped) for backtest in backtests]
    return bounded_report(reports[0], reports[1], replays[0]) if replays else reports[0]


def parse_days(text: str) -> int:
    """Parse a number of days for argparse."""
    if not (text.isascii() and text.isdigit() and 0 < int(text) <= MAX_DAYS):
        raise argparse.ArgumentTypeError(f"expected a whole number of days from 1; got {text!r}")
    return int(text)


def _count_source(source: HistorySource, backtests: Sequence[Backtest], deadline: float) -> bool:
    """Count all events of one source; return False if the time ran out first."""
    if not source.path:
        for backtest in backtests:
            backtest.skip_known_turns()
    try:
        for event in source.events:
            for backtest in backtests:
                backtest.add(event)
            if time.monotonic() > deadline:
                return False
    finally:
        for backtest in backtests:
            backtest.end_record()
    return True


def _rules_named(name: str, environment: Environment) -> Policy | tuple[Rule, ...]:
    """Return the policy or the rules called ``name``, or the rules in that file.

    Raises:
        UserError: There is no such rule, or the file is not a rule file.
    """
    path = Path(name)
    if path.is_file():
        if path.stat().st_size > MAX_RULE_BYTES:
            raise UserError(f"{path} is larger than {MAX_RULE_BYTES // 1024} KB, too large for a rule file")
        parsed = parse_rule_file(path.read_text(encoding="utf-8", errors="replace"), path.stem, str(path), Owner.USER)
        if parsed.problems:
            raise UserError("\n".join(parsed.problems))
        return parsed.rules
    if name in POLICIES_BY_NAME:
        return POLICIES_BY_NAME[name]
    rules = load_rules(project_root(None), environment).rules
    if matches := tuple(rule for rule in rules if rule.name == name):
        return matches
    way_out = did_you_mean(name, [*POLICIES_BY_NAME, *(rule.name for rule in rules)])
    way_out = way_out or "; pass a file, a name from `upbeat rules list`, or a policy of docs/policies.md"
    raise UserError(f"{name} is neither a rule file nor the name of a rule or policy{way_out}")
