"""``upbeat config``: list, get, set, unset and edit settings.

`set` checks the value first and changes nothing else in the file, comments included. It writes your own file, or with
`--project` the project's, which can only tighten until you run `upbeat trust`. Examples:
`upbeat config get budget.wall_ms`, `upbeat config set enabled off --project`, `upbeat config set policies.off a,b`.
"""

from __future__ import annotations

import argparse
import shlex
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from upbeat.adapters.cli.command_line import (
    Subcommand,
    add_json_option,
    build_subcommand_parser,
    print_json,
    print_problems,
    project_root,
    run_subcommand,
)
from upbeat.adapters.system.config.settings import (
    PROJECT_FILES,
    USER_FILE,
    glob_problem,
    load_settings,
    own_names,
    project_file,
)
from upbeat.adapters.system.config.user_file import find_table, read_document, write_document
from upbeat.adapters.system.environment import Environment, child_variables, read_environment
from upbeat.adapters.system.option_parser import OptionParser
from upbeat.core.errors import UserError
from upbeat.core.settings import EXCLUDED, KEYS, KEYS_BY_NAME, PINNED, SettingKey, Settings, resolve_settings
from upbeat.core.settings_layers import Layer, did_you_mean


def build_parser() -> OptionParser:
    """Return the parser of this command."""
    return build_subcommand_parser("config", __doc__, SUBCOMMANDS)


def run(arguments: Sequence[str]) -> int:
    return run_subcommand(build_parser(), arguments)


def _list(options: argparse.Namespace) -> int:
    resolved = load_settings(project_root(options.repo), read_environment())
    rows = [_row(key, resolved.settings) for key in KEYS]
    if options.json:
        return print_json({"settings": rows, "problems": list(resolved.problems)})
    width = max(len(row["name"]) for row in rows)
    for row in rows:
        origin = f"  ({row['origin']})" if row["origin"] else ""
        print(f"{row['name']:<{width}}  {_to_text(row['value'])}{origin}")
    print_problems((*resolved.problems, *(limit.text for limit in resolved.limits)))
    return 0


def _get(options: argparse.Namespace) -> int:
    resolved = load_settings(project_root(options.repo), read_environment())
    row = _row(_find_key(options.key), resolved.settings)
    if options.json:
        return print_json(row)
    print(_to_text(row["value"]))
    return 0


def _set(options: argparse.Namespace) -> int:
    key = _find_key(options.key)
    if key.is_env_only:
        raise UserError(f"{key.name} counts only in the environment; set {key.env_var} there")
    value = _parse(key, options.value)
    path = _file(options, read_environment())
    checked = resolve_settings([Layer("", {key.name: value})], own_names)
    for problem in (*checked.problems, *(limit.text for limit in checked.limits)):
        raise UserError(problem.removeprefix(": "))
    if problem := glob_problem(value) if key.name in (EXCLUDED, PINNED) else "":
        raise UserError(f"{key.name} {problem}")
    document = read_document(path)
    table, name = find_table(document, key.name)
    table[name] = value
    write_document(path, document)
    effective = _row(key, load_settings(project_root(options.repo), read_environment()).settings)
    print(f"{key.name} = {_to_text(value)} in {path}")
    if effective["value"] != value:
        print(f"upbeat: in force here: {_to_text(effective['value'])} ({effective['origin'] or 'default'})")
    return 0


def _unset(options: argparse.Namespace) -> int:
    key, path = _find_key(options.key), _file(options, read_environment())
    document = read_document(path)
    table, name = find_table(document, key.name)
    if name not in table:
        print(f"upbeat: {key.name} is not set in {path}")
        return 0
    del table[name]
    write_document(path, document)
    print(f"{key.name} is no longer set in {path}; the default is {_to_text(key.default)}")
    return 0


def _edit(options: argparse.Namespace) -> int:
    environment = read_environment()
    path = _file(options, environment)
    variables = child_variables({})
    editor = variables.get("VISUAL") or variables.get("EDITOR") or "vi"
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        code = subprocess.run([*shlex.split(editor), str(path)], check=False, env=variables).returncode
    except (OSError, ValueError) as error:  # ValueError: a quote is not closed
        raise UserError(f"cannot start {editor}: {error}; set EDITOR to the editor that you want") from None
    if code:
        raise UserError(f"{editor} ended with exit code {code}; set EDITOR to the editor that you want")
    resolved = load_settings(project_root(options.repo), environment)
    print_problems((*resolved.problems, *(limit.text for limit in resolved.limits)))
    return 1 if resolved.problems else 0


def _find_key(name: str) -> SettingKey:
    if name not in KEYS_BY_NAME:
        raise UserError(f"no setting '{name}'{did_you_mean(name, KEYS_BY_NAME)}; `upbeat config list` shows all")
    return KEYS_BY_NAME[name]


def _row(key: SettingKey, settings: Settings) -> dict[str, Any]:
    value = getattr(settings, key.attribute)
    return {
        "name": key.name,
        "value": list(value) if isinstance(value, tuple) else value,
        "default": list(key.default) if isinstance(key.default, tuple) else key.default,
        "origin": settings.origins.get(key.name, ""),
        "doc": key.doc,
    }


def _parse(key: SettingKey, text: str) -> Any:
    """Return ``text`` as a TOML value of the key's type; a list is separated by commas."""
    if isinstance(key.default, tuple):
        return [name for name in (part.strip() for part in text.split(",")) if name]
    if isinstance(key.default, bool):
        return {"true": True, "1": True, "false": False, "0": False}.get(text.lower(), text)
    if isinstance(key.default, int) and text.lstrip("-").isdecimal():
        return int(text)
    return text


def _to_text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return ",".join(value) if isinstance(value, list | tuple) else str(value)


def _file(options: argparse.Namespace, environment: Environment) -> Path:
    """Return the file to change: the user's, or the project's, which may be new."""
    if not options.project:
        return environment.config_home / USER_FILE
    root = project_root(options.repo)
    present, clash = project_file(root)
    if clash:
        raise UserError(clash)
    return present or Path(root, PROJECT_FILES[-1])


def _file_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--project", action="store_true", help="the project's file instead of yours")


def _get_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("key", metavar="KEY")
    add_json_option(parser)


def _set_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("key", metavar="KEY")
    parser.add_argument("value", metavar="VALUE", help="a list is separated by commas")
    _file_options(parser)


def _unset_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("key", metavar="KEY")
    _file_options(parser)


SUBCOMMANDS = {
    "list": Subcommand("list all settings in force here, and where each comes from", _list, add_json_option),
    "get": Subcommand("print the value of one setting in force here", _get, _get_options),
    "set": Subcommand("set one setting", _set, _set_options),
    "unset": Subcommand("take one setting out of a file, so that the default counts", _unset, _unset_options),
    "edit": Subcommand("open the file in $VISUAL or $EDITOR, then check it", _edit, _file_options),
}
