"""``upbeat rules``: list, show, check, add and remove the rules that apply here, yours and the project's.

A rule is a Markdown file (docs/rules.md) in `.upbeat/rules` of the project, or in `$XDG_CONFIG_HOME/upbeat/rules` for
your own rules (`--user`). Untrusted project rules can only add restrictions; trust them with `upbeat trust`. `add`
first replays your past sessions for a few seconds (`upbeat backtest`); press Ctrl-C to stop without writing the rule.
What you add at a terminal you trust with its present content.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from upbeat.adapters.cli.command_line import (
    Subcommand,
    add_json_option,
    build_subcommand_parser,
    confirm,
    print_json,
    print_problems,
    project_root,
    run_subcommand,
)
from upbeat.adapters.cli.exact_output import bytes_rows, show_rows
from upbeat.adapters.system.config.guidance import guidance_files
from upbeat.adapters.system.config.rules import (
    MAX_BYTES,
    PROJECT_FOLDER,
    USER_FOLDER,
    RuleSourceFile,
    find_rule_files,
    load_rules,
)
from upbeat.adapters.system.config.trust import is_trusted, trust
from upbeat.adapters.system.environment import Environment, read_environment
from upbeat.adapters.system.files import atomic
from upbeat.adapters.system.files.bounded_read import read_content, read_text
from upbeat.adapters.system.option_parser import OptionParser
from upbeat.adapters.system.terminal import are_terminals, print_lines, read_screen
from upbeat.core.errors import UserError
from upbeat.core.messages import layout
from upbeat.core.messages.catalogue import format_count, load_messages
from upbeat.core.rules.formats import markdown
from upbeat.core.rules.rule import Action, Owner, Rule
from upbeat.core.sanitize.exact import escape_exactly, hidden_characters
from upbeat.core.settings_layers import did_you_mean

TRIAL_SECONDS = 5.0
"""How long ``add`` replays past sessions before it writes."""
EXIT_INTERRUPTED = 130
MAX_NAMED_CHARACTERS = 5
OPTION_KEYS = ("description", "event", "tool", "paths", "pattern", "where", "action", "fail", "clients")
"""The keys that ``add`` takes as options, in the order in which they are written."""
TRUST_HINT = "can only add restrictions until you trust it (upbeat trust)"
INACTIVE_HINT = "does nothing until you trust it (upbeat trust); a rule of your own (--user) needs no trust"
_NAME = re.compile(r"[a-z0-9][a-z0-9_.-]{0,63}")
_PLAIN_SCALAR = re.compile(r"[A-Za-z][\w, -]*")


def build_parser() -> OptionParser:
    """Return the parser of this command."""
    return build_subcommand_parser("rules", __doc__, SUBCOMMANDS)


def run(arguments: Sequence[str]) -> int:
    return run_subcommand(build_parser(), arguments)


def _list(options: argparse.Namespace) -> int:
    root, environment = project_root(options.repo), read_environment()
    rule_set = load_rules(root, environment)
    guidance = [
        {
            "file": file.display_name,
            "trusted": is_trusted(file.path, read_text(file.path, root, MAX_BYTES).digest, environment),
        }
        for file in guidance_files(root)
    ]
    if options.json:
        rows = [_as_data(rule) for rule in rule_set.rules]
        return print_json({"rules": rows, "problems": list(rule_set.problems), "guidance": guidance})
    print_problems(rule_set.problems)
    if not rule_set.rules and not guidance:
        print(f"no rules here; `upbeat rules add` writes one to {PROJECT_FOLDER}", file=sys.stderr)
        return 0
    screen, texts = read_screen(environment), load_messages("screens", environment.language).group("lists")
    untrusted = sum(rule.owner is Owner.UNTRUSTED for rule in rule_set.rules)
    count = format_count("rule", len(rule_set.rules), environment.language)
    head = texts["rules_untrusted" if untrusted else "rules"].format(rules=count, untrusted=untrusted)
    print_lines(layout.headline(head, screen), environment)
    cells, marks = list[tuple[str, str]](), list[layout.Mark]()
    for rule in rule_set.rules:
        says = (describe_rule(rule), f"{rule.file}{_state(rule)}")
        cells.append((escape_exactly(rule.name), "\n".join(map(escape_exactly, says))))
        is_active = rule.is_enabled and rule.owner is not Owner.UNTRUSTED and not rule.problem
        marks.append(layout.GOOD if is_active else layout.ATTENTION)
    for file in guidance:
        state = texts["guidance" if file["trusted"] else "guidance_untrusted"]
        cells.append((escape_exactly(str(file["file"])), state))
        marks.append(layout.GOOD if file["trusted"] else layout.ATTENTION)
    print_lines(layout.table(cells, screen, "  ", marks), environment)
    return 0


def _check(options: argparse.Namespace) -> int:
    problems: list[str] = []
    for name in options.files:
        text = read_text(Path(name), None, MAX_BYTES)
        parsed = markdown.parse_rule_file(text.text, Path(name).stem, name, Owner.USER)
        problems += [f"{name}: {text.problem}"] if text.problem else parsed.problems
    if not options.files:
        rule_set = load_rules(project_root(options.repo), read_environment())
        problems += rule_set.problems
        print_problems(f"{name} {TRUST_HINT}" for name in rule_set.untrusted)
    print_problems(problems)
    if not problems:
        print("no problems found")
    return 1 if problems else 0


def _show(options: argparse.Namespace) -> int:
    root, environment = project_root(options.repo), read_environment()
    files = _files_named(root, environment, options.name)
    names = {file.display_name for file in files}
    rules = [rule for rule in load_rules(root, environment).rules if rule.file in names]
    if options.json:
        return print_json({"rules": [_as_data(rule) | {"text": rule.text} for rule in rules]})
    for file in files:
        for rule in rules:
            if rule.file == file.display_name:
                print(escape_exactly(f"{rule.name}: {describe_rule(rule)}{_state(rule)}"))
        print(f"# {file.display_name}")
        content = read_content(file.path, None if file.is_user_owned else root, MAX_BYTES)
        rows = [f"({content.problem})"] if content.problem else bytes_rows(content.data)
        show_rows(rows, is_question=False)
    return 0


def _add(options: argparse.Namespace) -> int:
    root, environment = project_root(options.repo), read_environment()
    if not _NAME.fullmatch(options.name):
        raise UserError(f"'{options.name}' is not a rule name: use lower case letters, digits, and - _ . inside")
    folder = environment.config_home / USER_FOLDER if options.user else Path(root, PROJECT_FOLDER)
    path = folder / f"{options.name}.md"
    content = _rule_file_text(options)
    if hidden := hidden_characters(content):
        places = ", ".join(hidden[:MAX_NAMED_CHARACTERS])
        raise UserError(f"the rule contains characters that nobody can see ({places}); remove them")
    parsed = markdown.parse_rule_file(content, options.name, f"{options.name}.md", Owner.USER)
    if parsed.problems:
        print_problems(parsed.problems)
        return 1
    if os.path.lexists(path):
        raise UserError(f"{path} already exists; `upbeat rules remove` deletes it")
    if not options.user and not Path(os.path.realpath(folder)).is_relative_to(root):
        raise UserError(f"{PROJECT_FOLDER} leads out of {root}; make it a folder of the project")
    if not options.no_backtest and (code := _try_rules(parsed.rules, environment)):
        print("upbeat: nothing was written", file=sys.stderr)
        return code
    folder.mkdir(parents=True, exist_ok=True)
    atomic.write_file(path, content.encode(), is_new=True)
    print(path)
    for line in content.split("\n"):
        if (shown := escape_exactly(line)) != line:
            print(f"upbeat: a line of it is {shown}", file=sys.stderr)
    if not options.user and are_terminals(sys.stdin, sys.stderr):
        trust(path, content.encode(), environment)
        print("upbeat: you trust the rule with this content (upbeat trust --list)", file=sys.stderr)
    elif not options.user:
        is_restrictive = options.action in (Action.DENY, Action.ASK)
        print_problems([f"the rule {TRUST_HINT if is_restrictive else INACTIVE_HINT}"])
    return 0


def _rule_file_text(options: argparse.Namespace) -> str:
    """Return the content of the rule file; the text of the rule comes from ``--text`` or stdin."""
    header = {key: value for key in OPTION_KEYS if (value := getattr(options, key))}
    for key, value in header.items():
        header[key] = value if _PLAIN_SCALAR.fullmatch(value) else "'" + value.replace("'", "''") + "'"
    if options.once:
        header["once"] = "true"
    text = options.text if options.text is not None else sys.stdin.read()
    return "\n".join(["---", *(f"{key}: {value}" for key, value in header.items()), "---", text.strip(), ""])


def _try_rules(rules: Sequence[Rule], environment: Environment) -> int:
    """Backtest ``rules``; return a nonzero exit code if the user then rejects them.

    Ask only at a terminal, and only if calls that had succeeded would have been blocked.
    """
    from upbeat.adapters.cli import backtest

    report = backtest.print_report(rules, environment, TRIAL_SECONDS)
    if report.stopped == "interrupt":
        return EXIT_INTERRUPTED
    if not report.false_blocks or not are_terminals(sys.stdin, sys.stderr):
        return 0
    return 0 if confirm("write it?") else 1


def _remove(options: argparse.Namespace) -> int:
    named = _files_named(project_root(options.repo), read_environment(), options.name)
    files = [file for file in named if not options.user or file.is_user_owned]
    if len(files) > 1:
        names = ", ".join(file.display_name for file in files)
        raise UserError(f"several rules have this name: {names}; pass --user for your own")
    if not files:
        raise UserError(f"you have no rule '{options.name}'; run `upbeat rules list` to see them all")
    if files[0].is_hookify:
        raise UserError(f"{files[0].display_name} belongs to hookify; remove it there")
    files[0].path.unlink()
    print(f"removed {files[0].display_name}")
    return 0


def _files_named(root: str, environment: Environment, name: str) -> tuple[RuleSourceFile, ...]:
    """Return the rule files called ``name``. Raises UserError if there is none."""
    files = find_rule_files(root, environment).files
    matches = tuple(file for file in files if name in (file.name, file.display_name))
    if not matches:
        hint = did_you_mean(name, [file.name for file in files]) or "; run `upbeat rules list` to see them all"
        raise UserError(f"no rule '{name}'{hint}")
    return matches


def describe_rule(rule: Rule) -> str:
    """Describe in one line what a rule does."""
    if rule.problem:
        return f"cannot be evaluated: {rule.problem}"
    parts = [f"{rule.action} on {rule.event}"]
    parts += [f"of {', '.join(sorted(rule.tools))}"] if rule.tools else []
    parts += [f"in {', '.join(rule.paths.sources)}"] if rule.paths else []
    for condition in rule.conditions:
        verb = "lacks" if condition.is_negated else "has"
        parts.append(f"where the {condition.target} {verb} {condition.pattern.source}")
    parts += [f"({rule.description})"] if rule.description else []
    return " ".join(parts)


def _state(rule: Rule) -> str:
    notes = ["not trusted: can only add restrictions, text not shown"] * (rule.owner is Owner.UNTRUSTED)
    notes += ["disabled"] * (not rule.is_enabled)
    notes += [f"for {', '.join(sorted(rule.clients))}"] if rule.clients else []
    return f" ({'; '.join(notes)})" if notes else ""


def _as_data(rule: Rule) -> dict[str, Any]:
    return {
        "name": rule.name,
        "file": rule.file,
        "line": rule.line,
        "owner": rule.owner.value,
        "enabled": rule.is_enabled,
        "event": rule.event,
        "action": rule.action.value,
        "tools": sorted(rule.tools),
        "paths": list(rule.paths.sources) if rule.paths else [],
        "conditions": [
            {
                "where": condition.target.value,
                "pattern": condition.pattern.source,
                "absent": condition.is_negated,
            }
            for condition in rule.conditions
        ],
        "fail": rule.fail_mode.value,
        "once": rule.is_shown_once,
        "clients": sorted(rule.clients),
        "description": rule.description,
        "problem": rule.problem,
    }


def _name_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", help="the rule's name: its file name without .md")


def _user_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--user", action="store_true", help="your own rule, for every project")


def _add_options(parser: argparse.ArgumentParser) -> None:
    _name_option(parser)
    for key in OPTION_KEYS:
        rule_key = markdown.RULE_KEYS[key]
        help_text = f"{rule_key.doc} Values: {rule_key.accepted_values}. Default: {rule_key.default}."
        is_required = key in ("event", "action")
        if is_required:
            help_text = f"{rule_key.doc} One of {rule_key.accepted_values}."
        help_text = help_text.replace("%", "%%").replace("`", "")
        parser.add_argument(f"--{key}", default="", metavar="VALUE", help=help_text, required=is_required)
    once_help = markdown.RULE_KEYS["once"].doc.replace("`", "")
    parser.add_argument("--once", action="store_true", help=once_help)
    parser.add_argument("--text", help="the text of the rule (default: read from stdin)")
    parser.add_argument("--no-backtest", action="store_true", help="do not replay past sessions first")
    _user_option(parser)


def _show_options(parser: argparse.ArgumentParser) -> None:
    _name_option(parser)
    add_json_option(parser)


def _remove_options(parser: argparse.ArgumentParser) -> None:
    _name_option(parser)
    _user_option(parser)


SUBCOMMANDS: Mapping[str, Subcommand] = {
    "list": Subcommand("list all rules: what each does, and which are not trusted yet", _list, add_json_option),
    "show": Subcommand("show one rule and its file", _show, _show_options),
    "check": Subcommand(
        "report every mistake in the rule files, with line and key",
        _check,
        lambda parser: parser.add_argument(
            "files", nargs="*", metavar="FILE", help="rule files (default: all rules that apply here)"
        ),
    ),
    "add": Subcommand("write a rule; its text comes from --text or stdin", _add, _add_options),
    "remove": Subcommand("delete a rule", _remove, _remove_options),
}
