"""Git as a source of facts: read only, never trusted, never waited for.

Law: a repository is somebody else's. Its configuration starts no program here (no hooks, monitors, filters
or transports), no command outlives its deadline, and whatever git does not answer is found without git.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from time import monotonic

from ...core.ports import Cancellation
from .command import NEVER, output_of
from .documents import read_content
from .git_root import MAX_CONFIG_BYTES, borrows, find_root, head_name, outermost, problem_of, read_small
from .opening import scanned
from .program import find_program, search_path

LIST_SECONDS = 5.0
"""The longest that listing one repository may take."""

MAX_FILES = 200_000
"""File names kept of one tree."""

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
"""Folders that a walk without git leaves out: caches, builds and other people's code."""

_SAFE = (
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
_ONLY_NAMES = frozenset({"ls-files", "config"})
"""Commands that read no object."""

_LIST = ("ls-files", "-z", "--cached", "--others", "--exclude-standard")


@dataclass(frozen=True, slots=True)
class Listing:
    """The files of a tree, relative, sorted, with ``/``. ``by_git`` is False when the tree was walked.

    Names are decoded with ``surrogateescape``. ``truncated`` is True when there are more.
    """

    files: tuple[str, ...]
    by_git: bool
    truncated: bool = False


# --- what is in it --------------------------------------------------------------------------------------


def list_files(root: str, cancelled: Cancellation = NEVER, seconds: float = LIST_SECONDS) -> Listing:
    """The files of ``root`` that a person would call theirs: tracked, or untracked and not ignored.

    Submodules and repositories inside are listed as part of the tree. Without git, or when git does not
    answer in ``seconds``, the tree is walked without the usual folders of builds and dependencies.
    """
    deadline = monotonic() + seconds
    names = _list_by_git(root, "", cancelled, deadline, [MAX_SUBMODULES])
    if names:
        files = sorted(dict.fromkeys(names))
        return Listing(tuple(files[:MAX_FILES]), by_git=True, truncated=len(files) > MAX_FILES)
    walked: list[str] = []
    for name in _walk(os.path.realpath(root), "", 0):
        if len(walked) >= MAX_FILES or (len(walked) % 256 == 0 and (cancelled.is_set() or monotonic() > deadline)):
            return Listing(tuple(sorted(walked)), by_git=False, truncated=True)
        walked.append(name)
    return Listing(tuple(sorted(walked)), by_git=False)


def head(root: str) -> str:
    """The branch that HEAD names, or the commit; empty without git. Starts no process."""
    text = head_name(find_root(root))
    return text.removeprefix("ref:").strip().removeprefix("refs/heads/")


def run(
    root: str, arguments: tuple[str, ...], cancelled: Cancellation = NEVER, seconds: float = LIST_SECONDS
) -> bytes | None:
    """What ``git ARGUMENTS`` prints in ``root``; None when it fails, is stopped, or says too much."""
    info, outer = find_root(root), outermost(os.path.realpath(root))
    program = find_program("git", outer)
    here = ("--work-tree", info.worktree) if info.worktree else ()
    if not program or problem_of(info) or (borrows(info) and arguments[0] not in _ONLY_NAMES):
        return None
    command = [program, *_SAFE, "-c", f"core.excludesFile={users_ignore_file()}", *here, *arguments]
    return output_of(command, root, _environment(outer), seconds, cancelled)


def _list_by_git(root: str, prefix: str, cancelled: Cancellation, deadline: float, left: list[int]) -> list[str] | None:
    """Names under ``root`` with ``prefix``; None when git gives none. ``left`` counts repositories to go."""
    seconds = deadline - monotonic()
    if seconds <= 0 or (output := run(root, _LIST, cancelled, seconds)) is None:
        return None
    names = [os.fsdecode(name) for name in output.split(b"\0") if name]
    inner = _inner_repositories(root, names)
    found = [prefix + name for name in names if name.rstrip("/") not in inner]
    for name in sorted(inner):
        if left[0] <= 0:
            break
        left[0] -= 1
        found += _list_by_git(os.path.join(root, name), f"{prefix}{name}/", cancelled, deadline, left) or ()
    return found


def _inner_repositories(root: str, names: list[str]) -> set[str]:
    """The listed names that are repositories: submodules, and untracked ones (git ends those with ``/``)."""
    declared = set(re.findall(r"^\s*path\s*=\s*(.+?)\s*$", read_small(root, ".gitmodules"), re.M))
    suspects = {
        name.rstrip("/")
        for name in names
        if name.endswith("/") or name in declared or "." not in name.rpartition("/")[2]
    }
    real = os.path.realpath(root)
    return {name for name in suspects if _is_own_repository(os.path.join(real, name))}


def _is_own_repository(path: str) -> bool:
    """Whether a repository is at ``path`` itself, which a link on the way to it does not make."""
    try:
        mode = os.lstat(path).st_mode
    except OSError:
        return False
    is_here = stat.S_ISDIR(mode) and os.path.realpath(path) == path
    return is_here and os.path.lexists(os.path.join(path, ".git"))


def _walk(root: str, prefix: str, depth: int) -> Iterator[str]:
    """Relative names of the files under ``root/prefix``, in order; links are named and not followed."""
    try:
        with scanned(root, prefix.rstrip("/")) as scan:
            entries = sorted((entry.name, entry.is_dir(follow_symlinks=False)) for entry in scan)
    except OSError:
        return
    for entry, is_folder in entries:
        name = prefix + entry
        if not is_folder:
            yield name
        elif depth < MAX_DEPTH and entry not in SKIPPED_FOLDERS:
            yield from _walk(root, name + "/", depth + 1)


@lru_cache(maxsize=1)
def users_ignore_file() -> str:
    """The person's own ignore file: what ``core.excludesFile`` of their configuration says, or git's default place."""
    home = os.path.expanduser("~")
    for name in (".gitconfig", ".config/git/config"):
        text = os.fsdecode(read_content(Path(home, name), None, MAX_CONFIG_BYTES).data)
        found = re.search(r"^[ \t]*\[core\][^\[]*?^[ \t]*excludesfile[ \t]*=[ \t]*\"?([^\"\n]+)", text, re.M | re.I)
        if found:
            return os.path.expanduser(found[1].strip())
    return os.path.join(home, ".config", "git", "ignore")


def _environment(outer: str) -> dict[str, str]:
    """A new environment: what a client or a hook set (GIT_DIR and its kin) does not reach git.

    The home directory stays, because ``safe.directory`` and the person's own ignore file are read from it.
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
