"""Read the layers of settings: user file, project file, environment.

Invariant: mistakes never make reading fail; each is returned as a sentence with the file, the line and the fix. A
project's file is untrusted until its user trusts its content; until then its mistakes are only limits.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from upbeat.adapters.system.config.trust import TRUST_FILE, is_trusted
from upbeat.adapters.system.environment import Environment
from upbeat.adapters.system.files.bounded_read import open_path
from upbeat.adapters.system.files.safe_open import is_below, real_path
from upbeat.adapters.system.files.toml_file import MAX_BYTES, TomlFile, is_own_file, read_toml
from upbeat.core import lazy_re as re
from upbeat.core.contract.codes import LimitCode
from upbeat.core.lazy_dataclass import replace
from upbeat.core.sanitize.text import sanitize_text
from upbeat.core.settings import (
    EXCLUDED,
    KEYS,
    PINNED,
    Activation,
    ResolvedSettings,
    Settings,
    limit_of,
    resolve_settings,
)
from upbeat.core.settings_layers import Layer
from upbeat.core.tool_servers import SETTINGS_TABLE

if TYPE_CHECKING:
    from upbeat.core.contract.report import Limit

PROJECT_FILES = ("config/auto-tools.toml", ".upbeat/auto-tools.toml")
USER_FILE = "upbeat/auto-tools.toml"
DRY_RUN_VARIABLE = "CI_AUTO_TOOLS_DRY_RUN"
"""1 means the same as ``mode = "plan"``."""
MAX_MISPLACED = 10

_OBSOLETE_FILE = "config/auto-tools.yaml"
_DEVBOOKS_FILE = ".devbooks/config.yaml"
_OUR_KEY = re.compile(r"^\s*(auto[_-]tools|(?i:ci_auto_tools\w{0,40})|tier_max|max_injected_chars)\s*:")


def load_settings(root: str, environment: Environment, *, assume_trusted: bool = False) -> ResolvedSettings:
    """The settings for the repository at ``root`` (real, absolute)."""
    files = [read_toml(environment.config_home / USER_FILE)]
    layer, problem = _with_checked_globs(_to_layer(files[0]))
    layers = [layer]
    project, clash = project_file(root)
    ignored, problems = [clash] if clash else [], [files[0].problem, problem]
    if project:
        file = read_toml(project, str(project.relative_to(root)), root)
        files.append(file)
        trusted = assume_trusted or is_trusted(project, file.digest, environment)
        layer, problem = _with_checked_globs(_to_layer(file, trusted=trusted, is_users=False))
        layers.append(layer)
        (problems if trusted else ignored).extend((file.problem, problem))
    environment_layer, problem = _environment_layer(environment)
    resolved = resolve_settings([*layers, environment_layer], own_names)
    return ResolvedSettings(
        _switched(resolved.settings, root),
        (
            *(limit_of(LimitCode.CONFIG_IGNORED, text) for text in _sanitized(*ignored, *resolved.ignored_problems)),
            *resolved.limits,
            *_misplaced_settings(root),
            *_servers_of_project(files[1:]),
        ),
        _sanitized(*problems, problem, *resolved.problems),
    )


def switched_off_by(folders: Iterable[str], root: str) -> str:
    """Return which of ``folders`` (`off.repositories`) contains the repository at ``root``; empty if none does."""
    if not folders:
        return ""
    from upbeat.adapters.system.git.root import main_worktree

    roots = (root, main_worktree(root))
    return next((folder for folder in folders if any(is_below(real_path(folder), each) for each in roots)), "")


def _switched(settings: Settings, root: str) -> Settings:
    """Return ``settings`` with the user's switch for the repository, which takes precedence over every layer."""
    if not switched_off_by(settings.off_repositories, root):
        return settings
    origin = f"{settings.origins['off.repositories']}, by `upbeat off`"
    return replace(settings, enabled=Activation.OFF, origins={**settings.origins, "enabled": origin})


def _with_checked_globs(layer: Layer) -> tuple[Layer, str]:
    """Return the layer, and what is wrong with its globs: then it excludes everything, if it is trusted."""
    found = {name: problem for name in (EXCLUDED, PINNED) if (problem := glob_problem(layer.values.get(name)))}
    if not found:
        return layer, ""
    safe = {name: ["**"] if layer.is_trusted and name == EXCLUDED else [] for name in found}
    name, problem = next(iter(found.items()))
    return replace(layer, values={**layer.values, **safe}), f"{layer.location_of(name)}: {name} {problem}"


def glob_problem(globs: object) -> str:
    """Return why ``globs`` are no list of globs that a setting takes; empty if they are, or are no list of texts."""
    if not globs or not isinstance(globs, list) or not all(isinstance(glob, str) for glob in globs):
        return ""
    if any(glob.startswith("!") for glob in globs):
        return "takes no glob that begins with `!`; write `\\!` for a name that does"
    from upbeat.core.rules.globs import find_glob_problem

    problem = find_glob_problem(tuple(globs))
    return problem and f"has a bad glob: {problem}"


def _sanitized(*problems: str) -> tuple[str, ...]:
    return tuple(sanitize_text(problem).text for problem in problems if problem)


def settings_paths(root: str, environment: Environment) -> tuple[str, ...]:
    """Return the paths of all files that ``load_settings`` reads for the repository at ``root``."""
    names = (*PROJECT_FILES, _OBSOLETE_FILE, _DEVBOOKS_FILE)
    users = (environment.config_home / USER_FILE, environment.state_home / TRUST_FILE)
    return (*map(str, users), *(os.path.join(root, name) for name in names))


def load_user_settings(environment: Environment) -> Settings:
    """Return the settings of the user's file and the environment, without the project; mistakes are ignored."""
    file = read_toml(environment.config_home / USER_FILE)
    return resolve_settings([_to_layer(file), _environment_layer(environment)[0]]).settings


def own_names(key: str) -> Collection[str]:
    """Return the policies or tools that the list ``key`` may name; imported only for a file that has such a list."""
    if key == "tools.disabled":
        from upbeat.core.turn.plan import TOOL_TIMEOUTS_MS

        return TOOL_TIMEOUTS_MS
    from upbeat.core.policies import POLICIES_BY_NAME

    return POLICIES_BY_NAME


def project_file(root: str) -> tuple[Path | None, str]:
    """Return the only project file, and a problem; a link out of the project does not count."""
    paths = [Path(root, name) for name in PROJECT_FILES if is_own_file(root, name)]
    if len(paths) > 1:
        return None, f"{' and '.join(PROJECT_FILES)} are both present; keep one of them"
    folders = (name for name in PROJECT_FILES if os.path.isdir(os.path.join(root, name)))
    problem = next((f"{name} is a folder; replace it with a file of settings" for name in folders), "")
    return (paths[0] if paths else None), problem


def _to_layer(file: TomlFile, *, trusted: bool = True, is_users: bool = True) -> Layer:
    values = dict(_flatten({name: value for name, value in file.values.items() if name != SETTINGS_TABLE}))
    if is_users and SETTINGS_TABLE in file.values:
        values[SETTINGS_TABLE] = file.values[SETTINGS_TABLE]
    return Layer(file.name, values, file.lines, is_trusted=trusted)


def _servers_of_project(files: Iterable[TomlFile]) -> Iterator[Limit]:
    """Report servers in a project's file: a project never starts programs, even if it is trusted."""
    for file in files:
        if SETTINGS_TABLE in file.values:
            first = next((name for name in file.lines if name.split(".")[0] == SETTINGS_TABLE), SETTINGS_TABLE)
            where = Layer(file.name, {}, file.lines).location_of(first)
            yield limit_of(
                LimitCode.CONFIG_MISPLACED, f"{where}: {SETTINGS_TABLE} is only read in your own file ({USER_FILE})"
            )


def _flatten(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in values.items():
        if isinstance(value, dict):
            yield from _flatten(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def _environment_layer(environment: Environment) -> tuple[Layer, str]:
    by_variable = {key.env_var: key.name for key in KEYS if key.env_var}
    names = {by_variable[variable]: variable for variable in environment.settings if variable in by_variable}
    values: dict[str, Any] = {name: environment.settings[variable] for name, variable in names.items()}
    problem = ""
    dry_run = environment.settings.get(DRY_RUN_VARIABLE, "0").strip().lower()
    if dry_run in ("1", "true"):
        values["mode"] = "plan"
    elif dry_run not in ("0", "false"):
        problem = f"environment: {DRY_RUN_VARIABLE} must be 0 or 1; found {dry_run!r}"
    return Layer("environment", values, is_environment=True), problem


def _misplaced_settings(root: str) -> list[Limit]:
    """Return limits for settings in files that upbeat does not read."""
    problems = []
    if os.path.lexists(os.path.join(root, _OBSOLETE_FILE)):
        problems.append(f"{_OBSOLETE_FILE} is not read; move it to {PROJECT_FILES[0]}")
    for number, line in enumerate(_devbooks_lines(root), start=1):
        if key := _OUR_KEY.match(line):
            problems.append(f"{_DEVBOOKS_FILE}:{number}: {key[1]} is not read there; move it to {PROJECT_FILES[0]}")
    return [limit_of(LimitCode.CONFIG_MISPLACED, text) for text in problems[:MAX_MISPLACED]]


def _devbooks_lines(root: str) -> list[str]:
    if not is_own_file(root, _DEVBOOKS_FILE):
        return []
    try:
        descriptor = open_path(os.path.join(root, _DEVBOOKS_FILE), root)
    except OSError:
        return []
    with open(descriptor, encoding="utf-8", errors="replace") as file:
        return file.read(MAX_BYTES).split("\n")
