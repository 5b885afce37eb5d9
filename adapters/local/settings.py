"""Reads the layers of settings: user file, project file, environment.

Law: reading never fails for what a person got wrong; every problem comes back as a sentence with the file,
the line and the way out. A project's file counts as untrusted until its user trusts that content.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ...core.contract.codes import LimitCode
from ...core.contract.report import Limit
from ...core.layers import Layer
from ...core.servers import TABLE
from ...core.settings import KEYS, Resolved, Settings, resolve
from ...core.turn.clean import clean
from .documents import open_path
from .environment import Environment
from .toml_file import MAX_BYTES, TomlFile, is_own_file, read_toml
from .trust import is_trusted

PROJECT_FILES = ("config/auto-tools.toml", ".upbeat/auto-tools.toml")
USER_FILE = "upbeat/auto-tools.toml"
DRY_RUN = "CI_AUTO_TOOLS_DRY_RUN"
"""1 means the same as ``mode = "plan"``."""
MAX_MISPLACED = 10

_FORMER_FILE = "config/auto-tools.yaml"
_NEIGHBOUR_FILE = ".devbooks/config.yaml"
_OUR_KEY = re.compile(r"^\s*(auto[_-]tools|(?i:ci_auto_tools\w{0,40})|tier_max|max_injected_chars)\s*:")


def load_settings(root: str, environment: Environment, *, as_if_trusted: bool = False) -> Resolved:
    """The settings for the repository at ``root`` (real, absolute)."""
    files = [read_toml(environment.config_home / USER_FILE)]
    layers = [_layer(files[0])]
    project, clash = _project_file(root)
    if project:
        file = read_toml(project, str(project.relative_to(root)), root)
        files.append(file)
        trusted = as_if_trusted or is_trusted(project, file.digest, environment)
        layers.append(_layer(file, trusted=trusted, is_users=False))
    problems = [clash, *(file.problem for file in files)]
    environment_layer, problem = _environment_layer(environment)
    resolved = resolve([*layers, environment_layer])
    return Resolved(
        resolved.settings,
        (*resolved.limits, *_misplaced(root), *_servers_of_project(files[1:])),
        tuple(clean(text).text for text in (*problems, problem, *resolved.problems) if text),
    )


def load_user_settings(environment: Environment) -> Settings:
    """What the user's own file says, with the environment, whatever the project; what is wrong there is left out."""
    file = read_toml(environment.config_home / USER_FILE)
    return resolve([_layer(file), _environment_layer(environment)[0]]).settings


def project_file(root: str) -> Path | None:
    """The project's settings file, if it has exactly one."""
    return _project_file(root)[0]


def _project_file(root: str) -> tuple[Path | None, str]:
    """The one project file that is there; a file that leads out of the project is not the project's."""
    here = [Path(root, name) for name in PROJECT_FILES if is_own_file(root, name)]
    if len(here) > 1:
        names = " and ".join(PROJECT_FILES)
        return None, f"{names} are both present; keep one of them"
    return (here[0] if here else None), ""


def _layer(file: TomlFile, *, trusted: bool = True, is_users: bool = True) -> Layer:
    values = dict(_flat({name: value for name, value in file.values.items() if name != TABLE}))
    if is_users and TABLE in file.values:
        values[TABLE] = file.values[TABLE]
    return Layer(file.name, values, file.lines, trusted=trusted)


def _servers_of_project(files: Iterable[TomlFile]) -> Iterator[Limit]:
    """Whoever may change a repository does not name what is started on its user's machine, trusted or not."""
    for file in files:
        if TABLE in file.values:
            first = next((name for name in file.lines if name.split(".")[0] == TABLE), TABLE)
            where = Layer(file.name, {}, file.lines).where(first)
            yield Limit.of(LimitCode.CONFIG_MISPLACED, f"{where}: {TABLE} counts in your own file only ({USER_FILE})")


def _flat(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in values.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def _environment_layer(environment: Environment) -> tuple[Layer, str]:
    by_variable = {key.env: key.name for key in KEYS if key.env}
    names = {by_variable[variable]: variable for variable in environment.settings if variable in by_variable}
    values: dict[str, Any] = {name: environment.settings[variable] for name, variable in names.items()}
    problem = ""
    dry_run = environment.settings.get(DRY_RUN, "0").strip().lower()
    if dry_run in ("1", "true"):
        values["mode"] = "plan"
    elif dry_run not in ("0", "false"):
        problem = f"environment: {DRY_RUN} takes 0 or 1; found {dry_run!r}"
    return Layer("environment", values, is_environment=True), problem


def _misplaced(root: str) -> list[Limit]:
    """Settings where nobody reads them, with where they belong."""
    found = []
    if os.path.lexists(os.path.join(root, _FORMER_FILE)):
        found.append(f"{_FORMER_FILE} is not read; move it to {PROJECT_FILES[0]}")
    for number, line in enumerate(_neighbour_lines(root), start=1):
        if key := _OUR_KEY.match(line):
            found.append(f"{_NEIGHBOUR_FILE}:{number}: {key[1]} is not read there; move it to {PROJECT_FILES[0]}")
    return [Limit.of(LimitCode.CONFIG_MISPLACED, text) for text in found[:MAX_MISPLACED]]


def _neighbour_lines(root: str) -> list[str]:
    if not is_own_file(root, _NEIGHBOUR_FILE):
        return []
    try:
        descriptor = open_path(os.path.join(root, _NEIGHBOUR_FILE), root)
    except OSError:
        return []
    with open(descriptor, encoding="utf-8", errors="replace") as file:
        return file.read(MAX_BYTES).split("\n")
