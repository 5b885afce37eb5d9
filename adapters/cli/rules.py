"""``upbeat rules``: the rules that are in force here, yours and the project's; write one, take one away, check them.

A rule is a Markdown file (docs/rules.md) in `.upbeat/rules` of the project, or in `$XDG_CONFIG_HOME/upbeat/rules` for
yours (`--user`). One of a project may only tighten until you have trusted it: `upbeat trust`. `add` first shows, for a
few seconds, what the rule would have done in your past sessions (`upbeat backtest`); Ctrl-C ends that, and then nothing
is written.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...core.errors import UserError
from ...core.layers import did_you_mean
from ...core.rules import rule_file
from ...core.rules.rule import Owner, Rule
from ...core.turn.strip import strip
from ..local import atomic
from ..local.documents import read_text
from ..local.environment import Environment, read_environment
from ..local.git_root import find_root
from ..local.guidance import guidance_files
from ..local.rules import FOLDER, MAX_BYTES, USER_FOLDER, FoundFile, find_rules, load_rules
from ..local.trust import is_trusted
from ..terminal import are_terminals

SCHEMA_VERSION = "1.0"
TRIAL_SECONDS = 5.0
"""How long ``add`` looks at the past before it writes."""
INTERRUPTED = 130
WRITTEN = ("description", "event", "tool", "paths", "pattern", "where", "action", "fail", "clients")
"""The keys that ``add`` takes as options, in the order in which they are written."""
_NAME = re.compile(r"[a-z0-9][a-z0-9_.-]{0,63}")
_PLAIN = re.compile(r"[A-Za-z][\w, -]*")


@dataclass(frozen=True, slots=True)
class Place:
    """Where rules are looked for."""

    root: str
    environment: Environment

    def folder(self, *, is_users: bool) -> Path:
        """Where a new rule goes."""
        return self.environment.config_home / USER_FOLDER if is_users else Path(self.root, FOLDER)


@dataclass(frozen=True, slots=True)
class Subcommand:
    """What ``upbeat rules NAME`` does: where it looks and options in, exit code out."""

    help: str
    run: Callable[[Place, argparse.Namespace], int]
    add_options: Callable[[argparse.ArgumentParser], object] = lambda _parser: None


def run(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="upbeat rules", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, subcommand in SUBCOMMANDS.items():
        options = commands.add_parser(name, help=subcommand.help, description=subcommand.help)
        options.add_argument("--repo", default=".", help="the project (default: the one around this folder)")
        subcommand.add_options(options)
    chosen = parser.parse_args(arguments)
    start = os.path.realpath(chosen.repo)
    place = Place(find_root(start).worktree or start, read_environment())
    return SUBCOMMANDS[chosen.command].run(place, chosen)


def _list(place: Place, options: argparse.Namespace) -> int:
    book = load_rules(place.root, place.environment)
    others = [
        {"file": file.shown, "trusted": is_trusted(file.path, _digest(file.path, place.root), place.environment)}
        for file in guidance_files(place.root)
    ]
    if options.json:
        rows = [_as_data(rule) for rule in book.rules]
        return _print_json({"rules": rows, "problems": list(book.problems), "of_other_programs": others})
    _tell(book.problems)
    width = max((len(rule.name) for rule in book.rules), default=0)
    for rule in book.rules:
        print(strip(f"{rule.name:<{width}}  {sentence(rule)}"))
        print(strip(f"{'':<{width}}  {rule.file}{_state(rule)}"))
    for one in others:
        print(f"{one['file']}{'' if one['trusted'] else ' (not trusted: not shown to an agent)'}")
    if not book.rules and not others:
        print(f"no rules here; upbeat rules add writes one to {FOLDER}", file=sys.stderr)
    return 0


def _check(place: Place, options: argparse.Namespace) -> int:
    problems: list[str] = []
    if options.files:
        for name in options.files:
            text = read_text(Path(name), None, MAX_BYTES)
            read = rule_file.read(text.text, Path(name).stem, name, Owner.USER)
            problems += [f"{name}: {text.problem}"] if text.problem else read.problems
    else:
        book = load_rules(place.root, place.environment)
        problems += book.problems
        for name in book.untrusted:
            print(f"upbeat: {name} may only tighten until you trust it (upbeat trust)", file=sys.stderr)
    _tell(problems)
    if not problems:
        print("nothing is wrong")
    return 1 if problems else 0


def _show(place: Place, options: argparse.Namespace) -> int:
    files = _named(place, options.name)
    rules = [rule for rule in load_rules(place.root, place.environment).rules if rule.file in {f.shown for f in files}]
    if options.json:
        return _print_json({"rules": [_as_data(rule) | {"text": rule.text} for rule in rules]})
    for file in files:
        here = [rule for rule in rules if rule.file == file.shown]
        for rule in here:
            print(strip(f"{rule.name}: {sentence(rule)}{_state(rule)}"))
        print(f"# {file.shown}")
        text = read_text(file.path, None if file.is_users else place.root, MAX_BYTES)
        print(strip(text.text).rstrip() if not text.problem else f"({text.problem})")
    return 0


def _add(place: Place, options: argparse.Namespace) -> int:
    if not _NAME.fullmatch(options.name):
        raise UserError(f"'{options.name}' is no name for a rule: lower case letters, digits, and - _ . within")
    folder = place.folder(is_users=options.user)
    path = folder / f"{options.name}.md"
    whole = _written(options)
    read = rule_file.read(whole, options.name, f"{options.name}.md", Owner.USER)
    if read.problems:
        _tell(read.problems)
        return 1
    if os.path.lexists(path):
        raise UserError(f"{path} is there already; upbeat rules remove takes it away")
    if not options.user and not Path(os.path.realpath(folder)).is_relative_to(place.root):
        raise UserError(f"{FOLDER} leads out of {place.root}; make it a folder of the project")
    if not options.untried and (code := _tried(read.rules, place.environment)):
        print("upbeat: nothing was written", file=sys.stderr)
        return code
    folder.mkdir(parents=True, exist_ok=True)
    atomic.write(path, whole.encode(), is_new=True)
    print(path)
    if not options.user:
        print("upbeat: it may only tighten until you trust it (upbeat trust)", file=sys.stderr)
    return 0


def _written(options: argparse.Namespace) -> str:
    """The file of the rule that ``options`` tell of; its text may come on stdin."""
    told = {key: value for key in WRITTEN if (value := getattr(options, key))}
    if options.once:
        told["once"] = "true"
    text = options.text if options.text is not None else sys.stdin.read()
    return "\n".join(["---", *(f"{key}: {_as_yaml(value)}" for key, value in told.items()), "---", text.strip(), ""])


def _tried(rules: Sequence[Rule], environment: Environment) -> int:
    """Show what ``rules`` would have done; the exit code of a user who then does not want them, else 0.

    Only a person at a terminal is asked, and only where calls would have been blocked that had succeeded.
    """
    from . import backtest

    report = backtest.shown(rules, environment, TRIAL_SECONDS)
    if report.stopped == "interrupt":
        return INTERRUPTED
    if not report.false_blocks or not are_terminals(sys.stdin, sys.stderr):
        return 0
    print("write it? [y/N] ", end="", file=sys.stderr, flush=True)
    return 0 if sys.stdin.readline().strip().lower() in ("y", "yes") else 1


def _remove(place: Place, options: argparse.Namespace) -> int:
    files = [file for file in _named(place, options.name) if not options.user or file.is_users]
    if len(files) > 1:
        raise UserError(f"there are several: {', '.join(file.shown for file in files)}; --user means yours")
    if not files:
        raise UserError(f"you have no rule '{options.name}'; upbeat rules list shows all")
    if files[0].is_hookify:
        raise UserError(f"{files[0].shown} is hookify's; remove it there")
    files[0].path.unlink()
    print(f"removed {files[0].shown}")
    return 0


def _named(place: Place, name: str) -> tuple[FoundFile, ...]:
    """The rule files called ``name``."""
    every = find_rules(place.root, place.environment).files
    found = tuple(file for file in every if name in (file.name, file.shown))
    if not found:
        hint = did_you_mean(name, [file.name for file in every]) or "; upbeat rules list shows all"
        raise UserError(f"no rule '{name}'{hint}")
    return found


def sentence(rule: Rule) -> str:
    """What a rule does, in one line."""
    if rule.problem:
        return f"cannot be evaluated: {rule.problem}"
    parts = [f"{rule.action} at {rule.event}"]
    parts += [f"of {', '.join(sorted(rule.tools))}"] if rule.tools else []
    parts += [f"in {', '.join(rule.paths.sources)}"] if rule.paths else []
    for one in rule.conditions:
        parts.append(f"where the {one.where} {'lacks' if one.is_absent else 'has'} {one.pattern.source}")
    parts += [f"({rule.description})"] if rule.description else []
    return " ".join(parts)


def _state(rule: Rule) -> str:
    found = ["not trusted: it may only tighten, and its text is not shown"] * (rule.owner is Owner.STRANGER)
    found += ["switched off"] * (not rule.is_enabled)
    found += [f"for {', '.join(sorted(rule.clients))}"] if rule.clients else []
    return f" ({'; '.join(found)})" if found else ""


def _as_data(rule: Rule) -> dict[str, Any]:
    return {
        "name": strip(rule.name),
        "file": rule.file,
        "line": rule.line,
        "owner": rule.owner.value,
        "enabled": rule.is_enabled,
        "event": rule.event,
        "action": rule.action.value,
        "tools": sorted(map(strip, rule.tools)),
        "paths": [strip(glob) for glob in rule.paths.sources] if rule.paths else [],
        "conditions": [
            {"where": one.where.value, "pattern": strip(one.pattern.source), "absent": one.is_absent}
            for one in rule.conditions
        ],
        "fail": rule.fail.value,
        "once": rule.once,
        "clients": sorted(rule.clients),
        "description": strip(rule.description),
        "problem": strip(rule.problem),
    }


def _as_yaml(value: str) -> str:
    return value if _PLAIN.fullmatch(value) else "'" + value.replace("'", "''") + "'"


def _digest(path: Path, root: str) -> str:
    return read_text(path, root, MAX_BYTES).digest


def _tell(problems: Sequence[str]) -> None:
    for problem in problems:
        print(f"upbeat: {strip(problem)}", file=sys.stderr)


def _print_json(value: Mapping[str, Any]) -> int:
    print(json.dumps({"schema_version": SCHEMA_VERSION, **value}, indent=2, ensure_ascii=False))
    return 0


def _name_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", help="what the rule is called: its file's name without .md")


def _json_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true")


def _user_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--user", action="store_true", help="yours, for every project")


def _add_options(parser: argparse.ArgumentParser) -> None:
    _name_option(parser)
    for key in WRITTEN:
        described = rule_file.KEYS[key]
        shown = f"{described.doc} {described.takes}".replace("%", "%%")
        parser.add_argument(f"--{key}", default="", help=shown, required=key in ("event", "action"))
    parser.add_argument("--once", action="store_true", help=rule_file.KEYS["once"].doc)
    parser.add_argument("--text", help="what it says (default: what comes on stdin)")
    parser.add_argument("--untried", action="store_true", help="write it without a look at your past sessions")
    _user_option(parser)


def _show_options(parser: argparse.ArgumentParser) -> None:
    _name_option(parser)
    _json_option(parser)


def _remove_options(parser: argparse.ArgumentParser) -> None:
    _name_option(parser)
    _user_option(parser)


def _check_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", nargs="*", metavar="FILE", help="rule files (default: all that are in force here)")


SUBCOMMANDS: Mapping[str, Subcommand] = {
    "list": Subcommand("all rules here, what each does, and which wait for your trust", _list, _json_option),
    "show": Subcommand("one rule: what it does, and its file", _show, _show_options),
    "check": Subcommand("everything that is wrong in the rule files, with line and key", _check, _check_options),
    "add": Subcommand("write a rule; its text comes with --text or on stdin", _add, _add_options),
    "remove": Subcommand("take a rule away", _remove, _remove_options),
}
