"""``upbeat backtest RULE``: what a rule would have done in your past sessions, and what became of those calls.

RULE is a rule file, or the name of a policy that looks at one event alone. The past is what lies on this disk: the
journal, Claude Code's transcripts and Codex's rollouts, the latest first. Nothing is run, written or sent. A blocked
call that had succeeded is a false alarm worth looking at; examples come without secrets. Ctrl-C ends it with what was
counted so far.
"""

from __future__ import annotations

import argparse
import json
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
from ..local.recordings import MAX_BYTES
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
    parser.add_argument("rule", metavar="RULE", help="a rule file, or the name of a policy")
    parser.add_argument("--days", type=days, default=DAYS, metavar="N", help=f"how far back (default: {DAYS})")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    environment = read_environment()
    rules = _named(options.rule)
    is_shown = sys.stderr.isatty() and not options.json
    report = report_of(rules, environment, days=options.days, watch=_draw if is_shown else None)
    if is_shown:
        print("\r\033[K", end="", file=sys.stderr)
    if options.json:
        print(json.dumps(document(report), indent=2, ensure_ascii=False))
    else:
        print("\n".join(lines(report, environment.language)))
    return 130 if report.stopped == "interrupt" else 0


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


def _named(name: str) -> Policy | tuple[Rule, ...]:
    """The policy, or the rules in the file, called ``name``. Raises UserError."""
    if name in BY_NAME and not Path(name).exists():
        return BY_NAME[name]
    path = Path(name)
    if not path.is_file():
        hint = did_you_mean(name, BY_NAME) if "/" not in name and not name.endswith(".md") else ""
        raise UserError(f"{name} is neither a rule file nor a policy{hint}")
    if path.stat().st_size > MAX_RULE:
        raise UserError(f"{name} is larger than {MAX_RULE // 1024} KB: no rule file")
    found = read(path.read_text(encoding="utf-8", errors="replace"), path.stem, name, Owner.USER)
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
    print(f"\r[{'#' * filled}{'.' * (BAR - filled)}] {done}/{total}", end="", file=sys.stderr, flush=True)
