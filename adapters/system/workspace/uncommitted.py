"""List the changes of a working tree since its last commit, or since another one.

Invariant: a repository cannot start a program: git runs as in ``git/commands.py``, with the filters of its
configuration and external diff tools disabled. If git does not answer in time, the changes are unknown.
"""

from __future__ import annotations

import os
import re
from time import monotonic

from upbeat.adapters.system.git.commands import run_git
from upbeat.adapters.system.git.root import find_root
from upbeat.adapters.system.process.run import NEVER_CANCELLED
from upbeat.core.policy.queries import ChangedFile
from upbeat.core.sanitize.control_chars import strip_controls

TIMEOUT_SECONDS = 1.5
"""For all git commands together."""

MAX_FILES = 50
MAX_CHANGED_SINCE = 500
MAX_FILTERS = 50
_CONFIG_ARGUMENTS = ("config", "--null", "--name-only", "--list")
_FILTER = re.compile(rb"filter\..*\.(?:clean|process|required)", re.DOTALL)
_DIFF_ARGUMENTS = (
    *("diff", "--numstat", "-z", "--no-renames", "--no-ext-diff", "--no-textconv"),
    "--ignore-submodules=all",
)
_COMMIT = re.compile(r"[0-9a-f]{40,64}")
_UNTRACKED_ARGUMENTS = ("ls-files", "-z", "--others", "--exclude-standard")


def changed_files(root: str, since: str = "", max_files: int = MAX_FILES) -> tuple[ChangedFile, ...] | None:
    """Return at most ``max_files`` files that differ from the commit ``since`` or, if it is empty, from the last one.

    They are sorted. None without git or a commit, or if git takes too long.
    """
    worktree = find_root(root).worktree
    if not worktree or (root != worktree and not root.startswith(worktree.rstrip(os.sep) + os.sep)):
        return None
    deadline = monotonic() + TIMEOUT_SECONDS
    options = _filter_options(run_git(worktree, _CONFIG_ARGUMENTS, NEVER_CANCELLED, TIMEOUT_SECONDS))
    if options is None:
        return None
    within = ("--", os.path.relpath(root, worktree))
    arguments = (*options, *_DIFF_ARGUMENTS, since if _COMMIT.fullmatch(since) else "HEAD", *within)
    diff = run_git(worktree, arguments, NEVER_CANCELLED, max(deadline - monotonic(), 0.01))
    if diff is None:
        return None
    new = run_git(worktree, (*_UNTRACKED_ARGUMENTS, *within), NEVER_CANCELLED, max(deadline - monotonic(), 0.01)) or b""
    prefix = "" if root == worktree else os.path.relpath(root, worktree) + os.sep
    names = (_display_name(name, prefix) for name in new.split(b"\0") if name)
    changed = {name: ChangedFile(name) for name in names}
    for line in diff.split(b"\0"):
        if match := re.fullmatch(rb"(\d+|-)\t(\d+|-)\t(.+)", line, re.DOTALL):
            name = _display_name(match[3], prefix)
            changed[name] = ChangedFile(name, _line_count(match[1]), _line_count(match[2]))
    return tuple(changed[name] for name in sorted(changed)[:max_files])


def _filter_options(keys: bytes | None) -> list[str] | None:
    """Return options that disable every filter among the configuration ``keys``; None if that is impossible."""
    names = {os.fsdecode(key) for key in (keys or b"").split(b"\0") if _FILTER.fullmatch(key)}
    if keys is None or len(names) > MAX_FILTERS or any("=" in name for name in names):
        return None  # git would parse a name with "=" as another one
    values = [f"{name}={'false' if name.endswith('.required') else ''}" for name in sorted(names)]
    return [part for value in values for part in ("-c", value)]


def _line_count(text: bytes) -> int | None:
    """Return None for a binary file, for which git counts no lines."""
    return int(text) if text.isdigit() else None


def _display_name(name: bytes, prefix: str) -> str:
    return " ".join(strip_controls(name.decode("utf-8", "replace").removeprefix(prefix)).split())
