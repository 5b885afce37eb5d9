"""``upbeat backtest RULE``: what a rule would have done in your past sessions, and what became of those calls.

RULE is a rule file, the name of a rule here, or that of a policy that looks at one event alone. The past is what lies
on this disk: the journal, Claude Code's transcripts and Codex's rollouts, the latest first. Nothing is run, written or
sent. A blocked call that had succeeded is a false alarm worth looking at; examples come without secrets. Ctrl-C ends it
with what was counted so far.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from ...core.errors import JournalUnreadable, UserError
from ...core.layers import did_you_mean
from ...core.policies import BY_NAME
from ...core.policies.policy import Policy
from ...core.rules import backtest_texts
from ...core.rules.backtest import Backtest, Judge, Report, document
from ...core.rules.replay import of_policy, of_rules
from ...core.rules.rule import Owner, Rule
from ...core.rules.rule_file import read
from ..history import Told
from ..local.environment import Environment, read_environment
from ..local.git_root import find_root
from ..local.recordings import MAX_BYTES
from ..local.rules import load_rules
from ..terminal import are_terminals, control
from ..wiring import history

DAYS = 90
MAX_DAYS = 36500
MAX_RULE = 256 * 1024
"""Bytes of a rule file."""
BAR = 30
"""Characters of the progress bar."""
DAY = 86400

Watch = Callable[[int, int], None]
"""Is told how many records were looked at, and how many there are."""


def run(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="upbeat backtest", description=__doc__)
    parser.add_argument("rule", metavar="RULE", help="a rule file, or the name of a rule or a policy")
    parser.add_argument("--days", type=days, default=DAYS, metavar="N", help=f"how far back (default: {DAYS})")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    environment = read_environment()
    rules = _named(options.rule, environment)
    report = _watched(rules, environment, float("inf"), options.days, is_drawn=not options.json)
    if options.json:
        print(json.dumps(document(report), indent=2, ensure_ascii=False))
    else:
        print("\n".join(lines(report, environment.language)))
    return 130 if report.stopped == "interrupt" else 0


def shown(rules: Sequence[Rule], environment: Environment, limit_seconds: float) -> Report:
    """The report on ``rules``, told on stderr: for whoever is about to write them."""
    report = _watched(rules, environment, limit_seconds, DAYS)
    print("\n".join(lines(report, environment.language)), file=sys.stderr)
    return report


def _watched(
    rules: Policy | Sequence[Rule],
    environment: Environment,
    limit_seconds: float,
    last_days: int,
    *,
    is_drawn: bool = True,
) -> Report:
    """The report; while it comes, a person at a terminal sees how far it is."""
    is_seen = is_drawn and are_terminals(sys.stderr)
    report = report_of(rules, environment, limit_seconds, days=last_days, watch=_draw if is_seen else None)
    if is_seen:
        control(sys.stderr, "\r\033[K")
    return report


def report_of(
    rule: Rule | Policy | Sequence[Rule],
    environment: Environment,
    limit_seconds: float = float("inf"),
    *,
    days: int = DAYS,
    watch: Watch | None = None,
) -> Report:
    """What ``rule``, or several of one file, would have done in the last ``days``, looked at for ``limit_seconds``.

    Raises NotPure for a policy that the past cannot be asked about.
    """
    name, judge = _judge(rule, environment.language)
    counted = Backtest(judge, time.perf_counter)
    give_up_at = time.monotonic() + limit_seconds
    files = unread = 0
    stopped = ""
    try:
        records = history(environment).records(time.time() - days * DAY)
        for told in records:
            if watch:
                watch(files, len(records))
            if not _taken(told, counted, give_up_at):
                stopped = "time"
                break
            files += bool(told.path)
            unread += told.bytes > MAX_BYTES
    except JournalUnreadable:  # it comes last, and the rest is counted
        unread += 1
    except KeyboardInterrupt:
        stopped = "interrupt"
    return counted.report(name, days, files, unread, stopped)


def lines(report: Report, language: str) -> list[str]:
    """``report`` as people read it, in ``zh`` or, for anything else, English."""
    return list(backtest_texts.lines(report, backtest_texts.TEXTS.get(language, backtest_texts.EN)))


def days(text: str) -> int:
    """A number of days, as an option takes it."""
    if not (text.isascii() and text.isdigit() and 0 < int(text) <= MAX_DAYS):
        raise argparse.ArgumentTypeError(f"takes a whole number of days from 1 on; found {text!r}")
    return int(text)


def _taken(told: Told, counted: Backtest, give_up_at: float) -> bool:
    """Count all of one record; False when the time was up before its end."""
    if not told.path:
        counted.second_hand()
    try:
        for one in told.happened:
            counted.take(one)
            if time.monotonic() > give_up_at:
                return False
    finally:
        counted.close()
    return True


def _named(name: str, environment: Environment) -> Policy | tuple[Rule, ...]:
    """The policy or the rules called ``name``, or the rules in the file of that name. Raises UserError."""
    path = Path(name)
    if path.is_file():
        return _in_file(path)
    if name in BY_NAME:
        return BY_NAME[name]
    here = os.path.realpath(".")
    known = load_rules(find_root(here).worktree or here, environment).rules
    if found := tuple(rule for rule in known if rule.name == name):
        return found
    hint = did_you_mean(name, [*BY_NAME, *(rule.name for rule in known)])
    raise UserError(f"{name} is neither a rule file nor the name of a rule or a policy{hint}")


def _in_file(path: Path) -> tuple[Rule, ...]:
    """The rules in a file. Raises UserError."""
    if path.stat().st_size > MAX_RULE:
        raise UserError(f"{path} is larger than {MAX_RULE // 1024} KB: no rule file")
    found = read(path.read_text(encoding="utf-8", errors="replace"), path.stem, str(path), Owner.USER)
    if found.problems:
        raise UserError("\n".join(found.problems))
    return found.rules


def _judge(rule: Rule | Policy | Sequence[Rule], language: str) -> tuple[str, Judge]:
    if isinstance(rule, Policy):
        return rule.name, of_policy(rule, language)
    rules = (rule,) if isinstance(rule, Rule) else tuple(rule)
    return ", ".join(one.name for one in rules), of_rules(rules, language)


def _draw(done: int, total: int) -> None:
    """One line that is written over."""
    filled = BAR * done // (total or 1)
    control(sys.stderr, f"\r[{'#' * filled}{'.' * (BAR - filled)}] {done}/{total}")
