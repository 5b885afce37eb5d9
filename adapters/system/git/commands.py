"""List files and run read-only git commands, in repositories that are not trusted.

Invariant: the configuration of a repository starts no program (no hooks, monitors, filters or transports), no command
outlives its deadline, and files are listed without git if git does not answer.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from time import monotonic

from upbeat.adapters.system.files.bounded_read import read_content
from upbeat.adapters.system.files.safe_open import scan_folder
from upbeat.adapters.system.git.root import (
    MAX_CONFIG_BYTES,
    find_root,
    foreign_objects,
    git_problem,
    outermost_repository,
    read_small,
)
from upbeat.adapters.system.process.find_program import find_program, search_path
from upbeat.adapters.system.process.run import NEVER_CANCELLED, capture_output
from upbeat.core.engine.ports import Cancellation

LIST_SECONDS = 5.0
"""The time limit for listing one repository."""

MAX_FILES = 200_000
"""File names kept per tree."""

MAX_SUBMODULES = 50
MAX_DEPTH = 30

SKIPPED_FOLDERS = frozenset(
    {
        *(".git", ".hg", ".svn", ".bzr", "CVS"),
        *("node_modules", "bower_components", "jspm_packages", ".yarn", ".pnpm-store"),
        *(".venv", "venv", ".env", "site-packages", "__pycache__", ".tox", ".nox", ".eggs"),
        *(".mypy_cache", ".pytest_cache", ".ruff_cache", ".hypothesis", "htmlcov"),
        *("dist", "build", "target", "out", "vendor", "Pods", ".gradle", ".terraform", ".next", ".nuxt"),
        *(".cache", ".idea", ".vs", "DerivedData", "coverage"),
    }
)
"""Folders that a walk without git leaves out: caches, builds and dependencies."""

_SAFE_OPTIONS = (
    *("-c", "core.fsmonitor=false"),
    *("-c", "core.hooksPath=/dev/null"),
    *("-c", "protocol.allow=never"),
    *("-c", "safe.bareRepository=explicit"),
    *("-c", "core.quotePath=false"),
    *("-c", "log.showSignature=false"),
    *("-c", "log.mailmap=false"),
    *("-c", "core.attributesFile=/dev/null"),
    *("-c", "diff.orderFile=/dev/null"),
    "--no-pager",
)
_OBJECT_FREE_COMMANDS = frozenset({"ls-files", "config"})
"""Commands that read no objects."""

_LIST_ARGUMENTS = ("ls-files", "-z", "--cached", "--others", "--exclude-standard")


@dataclass(frozen=True, slots=True)
class TreeListing:
    """The sorted, relative file names of a tree, decoded with ``surrogateescape``."""

    files: tuple[str, ...]
    is_from_git: bool
    is_truncated: bool = False


def list_files(
    root: str, cancelled: Cancellation = NEVER_CANCELLED, timeout_seconds: float = LIST_SECONDS
) -> TreeListing:
    """List the files of ``root`` that are tracked, or untracked and not ignored.

    Submodules and nested repositories are part of the tree. Without git, or if git does not answer in time, walk the
    tree without the usual folders of builds and dependencies.
    """
    deadline = monotonic() + timeout_seconds
    names = _list_by_git(root, "", cancelled, deadline, [MAX_SUBMODULES])
    if names:
        files = sorted(dict.fromkeys(names))
        return TreeListing(tuple(files[:MAX_FILES]), is_from_git=True, is_truncated=len(files) > MAX_FILES)
    files = []
    is_truncated = False
    for name in _walk_files(os.path.realpath(root), "", 0):
        is_late = len(files) % 256 == 0 and (cancelled.is_set() or monotonic() > deadline)
        if is_truncated := is_late or len(files) >= MAX_FILES:
            break
        files.append(name)
    return TreeListing(tuple(sorted(files)), is_from_git=False, is_truncated=is_truncated)


def run_git(
    root: str,
    arguments: tuple[str, ...],
    cancelled: Cancellation = NEVER_CANCELLED,
    timeout_seconds: float = LIST_SECONDS,
    object_stores: Iterable[str] = (),
) -> bytes | None:
    """Return what ``git ARGUMENTS`` prints in ``root``; None if it fails, is cancelled or prints too much.

    Objects are read from the repository and from ``object_stores``, folders that the user trusts.
    """
    info, outer = find_root(root), outermost_repository(os.path.realpath(root))
    program = find_program("git", outer)
    worktree = ("--work-tree", info.worktree) if info.worktree else ()
    if not program or git_problem(info):
        return None
    if arguments[0] not in _OBJECT_FREE_COMMANDS and foreign_objects(info, object_stores):
        return None
    command = [program, *_SAFE_OPTIONS, "-c", f"core.excludesFile={user_ignore_file()}", *worktree, *arguments]
    return capture_output(command, root, _environment(outer), timeout_seconds, cancelled)


def _list_by_git(root: str, prefix: str, cancelled: Cancellation, deadline: float, left: list[int]) -> list[str] | None:
    """Return the names under ``root`` with ``prefix``; None if git gives none. ``left`` is the submodule budget."""
    seconds = deadline - monotonic()
    if seconds <= 0 or (output := run_git(root, _LIST_ARGUMENTS, cancelled, seconds)) is None:
        return None
    names = [os.fsdecode(name) for name in output.split(b"\0") if name]
    inner = _inner_repositories(root, names)
    files = [prefix + name for name in names if name.rstrip("/") not in inner]
    for name in sorted(inner):
        if left[0] <= 0:
            break
        left[0] -= 1
        files += _list_by_git(os.path.join(root, name), f"{prefix}{name}/", cancelled, deadline, left) or ()
    return files


def _inner_repositories(root: str, names: list[str]) -> set[str]:
    """Return the names that are repositories: submodules, and untracked ones (git ends those with ``/``)."""
    declared = set(re.findall(r"^\s*path\s*=\s*(.+?)\s*$", read_small(root, ".gitmodules"), re.M))
    candidates = {
        name.rstrip("/")
        for name in names
        if name.endswith("/") or name in declared or "." not in name.rpartition("/")[2]
    }
    real = os.path.realpath(root)
    return {name for name in candidates if _is_own_repository(os.path.join(real, name))}


def _is_own_repository(path: str) -> bool:
    """Return whether a repository is at ``path`` itself, not behind a link."""
    try:
        mode = os.lstat(path).st_mode
    except OSError:
        return False
    return stat.S_ISDIR(mode) and os.path.realpath(path) == path and os.path.lexists(os.path.join(path, ".git"))


def _walk_files(root: str, prefix: str, depth: int) -> Iterator[str]:
    """Yield the names of the files under ``root/prefix`` in order; links are listed and not followed."""
    try:
        with scan_folder(root, prefix.rstrip("/")) as scan:
            entries = sorted((entry.name, entry.is_dir(follow_symlinks=False)) for entry in scan)
    except OSError:
        return
    for entry, is_folder in entries:
        name = prefix + entry
        if not is_folder:
            yield name
        elif depth < MAX_DEPTH and entry not in SKIPPED_FOLDERS:
            yield from _walk_files(root, name + "/", depth + 1)


@lru_cache(maxsize=1)
def user_ignore_file() -> str:
    """Return the path of the user's ignore file: ``core.excludesFile`` of their configuration, or git's default."""
    home = os.path.expanduser("~")
    for name in (".gitconfig", ".config/git/config"):
        text = os.fsdecode(read_content(Path(home, name), None, MAX_CONFIG_BYTES).data)
        match = re.search(r"^[ \t]*\[core\][^\[]*?^[ \t]*excludesfile[ \t]*=[ \t]*\"?([^\"\n]+)", text, re.M | re.I)
        if match:
            return os.path.expanduser(match[1].strip())
    return os.path.join(home, ".config", "git", "ignore")


def _environment(outer: str) -> dict[str, str]:
    """Return a clean environment, so that variables such as GIT_DIR of a client or hook do not reach git.

    HOME stays, because git reads ``safe.directory`` and the user's ignore file from it.
    """
    return {
        "PATH": os.pathsep.join(search_path(outer)),
        "HOME": os.path.expanduser("~"),
        "LC_ALL": "C",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
    }
