"""``upbeat learned list|show ID|forget ID|clear``: the habits that upbeat has learned here.

`--global` selects the list of habits that hold in every project. Nothing is learned unless your settings say
`habits.enabled = true`.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime

from upbeat.adapters.cli.command_line import (
    Subcommand,
    add_json_option,
    build_subcommand_parser,
    print_json,
    run_subcommand,
)
from upbeat.adapters.system.config.learned import EVERY_PROJECT, LocalLearnedHabits
from upbeat.adapters.system.config.resolver import resolve_root
from upbeat.adapters.system.environment import read_environment
from upbeat.adapters.system.option_parser import OptionParser
from upbeat.core.learned.model import APPLY_THRESHOLD, Habit, decay_habits, suggest_automations


def build_parser() -> OptionParser:
    """Return the parser of this command."""
    return build_subcommand_parser("learned", __doc__, SUBCOMMANDS)


def run(arguments: Sequence[str]) -> int:
    return run_subcommand(build_parser(), arguments)


def _open(options: argparse.Namespace) -> tuple[LocalLearnedHabits, str]:
    """Return the learned habits, and the root of the project that is meant."""
    environment = read_environment()
    root = EVERY_PROJECT if options.is_global else resolve_root(options.repo, environment)
    return LocalLearnedHabits(environment.state_home), root


def _load(options: argparse.Namespace) -> Sequence[Habit]:
    learned, root = _open(options)
    return decay_habits(learned.load(root), time.time())


def _list(options: argparse.Namespace) -> int:
    habits = _load(options)
    proposals = suggest_automations(habits, time.time())
    if options.json:
        rows = [_row(habit) for habit in habits]
        return print_json({"observations": rows, "proposals": [asdict(proposal) for proposal in proposals]})
    if not habits:
        print("nothing learned here (habits.enabled is off by default)")
    for habit in habits:
        mark = "*" if habit.confidence >= APPLY_THRESHOLD else " "
        score = f"{habit.confidence:.2f}{mark} {habit.count:>4}x"
        print(f"{habit.id}  {score}  {habit.type:<18} {habit.trigger} -> {habit.action}")
    for proposal in proposals:
        article = "an" if proposal.kind == "agent" else "a"
        print(f"{proposal.count} habits on {proposal.tag}: consider {article} {proposal.kind} for it")
    return 0


def _show(options: argparse.Namespace) -> int:
    habit = next((habit for habit in _load(options) if habit.id == options.id), None)
    if habit is None:
        return _report_missing(options.id)
    row = _row(habit)
    if options.json:
        return print_json({"observation": row})
    print("\n".join(f"{key:<12}{value}" for key, value in row.items()))
    return 0


def _forget(options: argparse.Namespace) -> int:
    learned, root = _open(options)
    if not learned.forget(root, options.id):
        return _report_missing(options.id)
    return _report_done(options, {"forgotten": options.id}, f"forgot {options.id}")


def _clear(options: argparse.Namespace) -> int:
    learned, root = _open(options)
    count = learned.clear(root)
    return _report_done(options, {"cleared": count}, f"forgot {count} habit{'s' if count != 1 else ''}")


def _report_done(options: argparse.Namespace, document: dict[str, object], text: str) -> int:
    if options.json:
        return print_json(document)
    print(f"upbeat: {text}")
    return 0


def _report_missing(name: str) -> int:
    print(f"upbeat: no habit {name}; run `upbeat learned list` to see them all", file=sys.stderr)
    return 1


def _row(habit: Habit) -> dict[str, object]:
    times = {
        name: datetime.fromtimestamp(getattr(habit, name), UTC).isoformat(timespec="seconds")
        for name in ("first_seen", "last_seen")
    }
    return asdict(habit) | times | {"applies": habit.confidence >= APPLY_THRESHOLD}


def _options(parser: argparse.ArgumentParser) -> None:
    add_json_option(parser)
    parser.add_argument("--global", dest="is_global", action="store_true", help="the habits that hold in every project")


def _options_with_id(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID", help="the habit's id in `upbeat learned list`")
    _options(parser)


SUBCOMMANDS = {
    "list": Subcommand("list all habits, the most certain first", _list, _options),
    "show": Subcommand("show one habit in full", _show, _options_with_id),
    "forget": Subcommand("forget one habit", _forget, _options_with_id),
    "clear": Subcommand("forget all habits of this project", _clear, _options),
}
