"""Find out which scripts of package.json npm, yarn, pnpm, bun and lists of scripts run, also in workspaces."""

from __future__ import annotations

import fnmatch
import posixpath
import shlex
from collections.abc import Sequence
from typing import Protocol

from upbeat.core.shell.paths import Invocation, Script
from upbeat.core.workflow.evidence import task_files
from upbeat.core.workflow.evidence.runner_calls import ProjectFiles, word_set

_NPM_TESTS = frozenset({"t", "test", "tst"})
_NPM_COMMANDS = word_set("npm_commands")


class TaskReader(Protocol):
    """Reads the files of the tree."""

    files: ProjectFiles

    def read(self, cwd: str, *names: str) -> tuple[str, str]:
        """Return the path and text of the first of ``names`` that is a file below ``cwd``."""

    def relative(self, cwd: str, path: str) -> str:
        """Return ``path`` from the root of the tree; empty if it is outside or not known."""

    def task_cwd(self, invocation: Invocation, arguments: list[str], *options: str) -> str:
        """Take an option that names a folder out of ``arguments``, and return the folder of the task."""


def take_option(arguments: list[str], *options: str) -> str | None:
    """Take the value of one of ``options`` out of ``arguments``."""
    for at, word in enumerate(arguments):
        name, separator, value = word.partition("=")
        if separator and name in options:
            del arguments[at]
            return value
        if word in options and at + 1 < len(arguments):
            value = arguments[at + 1]
            del arguments[at : at + 2]
            return value
    return None


def package_scripts(reader: TaskReader, invocation: Invocation, arguments: list[str]) -> Sequence[Script] | None:
    """``npm test``, ``pnpm run NAME``, ``yarn NAME``."""
    program = posixpath.basename(invocation.words[0])
    own: list[str] = []
    if "--" in arguments:
        at = arguments.index("--")
        own, arguments = arguments[at + 1 :], arguments[:at]
    cwd = reader.task_cwd(invocation, arguments, "--prefix", "-C", "--dir", "--cwd")
    folders = _workspaces(reader, arguments, cwd)
    if arguments[:1] == ["workspace"] and len(arguments) > 1:
        folders, arguments = _workspace_folders(reader, arguments[1], cwd), arguments[2:]
    if arguments[:2] == ["workspaces", "foreach"]:
        folders, arguments = _all_workspaces(reader, cwd), [w for w in arguments[2:] if not w.startswith("-")]
    if arguments[:1] == ["--filter"]:
        arguments = arguments[2:]
    plain = [word for word in arguments if not word.startswith("-")]
    if not plain or (program == "bun" and plain[0] == "test"):
        return None
    name, rest = _script_name(plain[0], arguments)
    if name is None:
        return None
    passed = own if program == "npm" else [*rest, *own]
    if "script-shell" in reader.read(cwd, ".npmrc")[1]:
        return None
    found: list[Script] = []
    for folder in folders if folders is not None else [cwd]:
        _, text = reader.read(folder, "package.json")
        found += task_files.package_scripts(text, name, passed, folder) or []
    if not found and folders is None and program in ("yarn", "pnpm", "bun") and plain[0] not in _NPM_TESTS:
        at = arguments.index(name)
        return [Script(shlex.join([*arguments[at:], *own]), cwd)]
    return found or None


def listed_scripts(reader: TaskReader, invocation: Invocation, arguments: list[str]) -> Sequence[Script] | None:
    """``run-s a b:*``, ``concurrently "npm:a" COMMAND``: several scripts of package.json."""
    _, text = reader.read(invocation.cwd, "package.json")
    known = task_files.parse_json(text).get("scripts")
    known = known if isinstance(known, dict) else {}
    is_line = posixpath.basename(invocation.words[0]) == "concurrently"
    if any(word in ("-s", "--success", "first", "--continue-on-error") for word in arguments) and is_line:
        return None
    found: list[Script] = []
    for word in (word for word in arguments if not word.startswith("-")):
        name = word.removeprefix("npm:")
        names = [one for one in known if fnmatch.fnmatchcase(one, name)]
        if is_line and name == word:
            found.append(Script(word, invocation.cwd))
        for one in names if not is_line or name != word else ():
            found += task_files.package_scripts(text, one, (), invocation.cwd) or []
    return found or None


def _script_name(first: str, arguments: list[str]) -> tuple[str | None, list[str]]:
    """Return the script that a package manager runs, and the words after it."""
    at = arguments.index(first)
    if first in ("run", "run-script", "rum"):
        names = [word for word in arguments[at + 1 :] if not word.startswith("-")]
        if not names:
            return None, []
        return names[0], arguments[arguments.index(names[0], at + 1) + 1 :]
    if first in _NPM_COMMANDS:
        return None, []
    return ("test" if first in _NPM_TESTS else first), arguments[at + 1 :]


def _workspaces(reader: TaskReader, arguments: list[str], cwd: str) -> list[str] | None:
    """Return the folders of the workspaces that the options select; None if they select none."""
    selected: list[str] | None = None
    for option in ("-w", "--workspace", "--filter", "-F"):
        while (value := take_option(arguments, option)) is not None:
            selected = [*(selected or []), *_workspace_folders(reader, value, cwd)]
    if {"--workspaces", "-ws", "-r", "--recursive"} & set(arguments):
        for word in ("--workspaces", "-ws", "-r", "--recursive"):
            if word in arguments:
                arguments.remove(word)
        return _all_workspaces(reader, cwd)
    return selected


def _workspace_folders(reader: TaskReader, name: str, cwd: str) -> list[str]:
    short = name.rstrip(".").rpartition("/")[2]
    known = [folder for folder in _all_workspaces(reader, cwd)
             if posixpath.basename(folder) == short
             or task_files.parse_json(reader.read(folder, "package.json")[1]).get("name") == name]  # fmt: skip
    return known or (
        [posixpath.normpath(posixpath.join(cwd, name))] if reader.read(cwd, f"{name}/package.json")[0] else []
    )


def _all_workspaces(reader: TaskReader, cwd: str) -> list[str]:
    declared = task_files.parse_json(reader.read(cwd, "package.json")[1]).get("workspaces", [])
    if isinstance(declared, dict):
        declared = declared.get("packages", [])
    if not declared:
        declared = task_files.parse_yaml(reader.read(cwd, "pnpm-workspace.yaml")[1]).get("packages", [])
    found: list[str] = []
    for pattern in declared if isinstance(declared, list) else []:
        folder, star, _ = str(pattern).partition("*")
        base = posixpath.normpath(posixpath.join(cwd, folder))
        relative = reader.relative(cwd, folder or ".")
        names = reader.files.entries(relative) if star and relative else [""]
        found += [posixpath.normpath(posixpath.join(base, name)) for name in names]
    return [folder for folder in found if reader.read(folder, "package.json")[0]]
