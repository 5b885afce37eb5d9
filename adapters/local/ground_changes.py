"""What has changed in a working tree since its last commit.

Law: git is asked as in ``git.py``, so a repository starts no program here: the filters that its configuration names
are switched off, and so are other tools for differences. What git does not tell in time is not known.
"""

from __future__ import annotations

import os
import re
from time import monotonic

from ...core.policies.look import ChangedFile
from ...core.turn.strip import strip
from .command import NEVER
from .git import run
from .git_root import find_root

SECONDS = 1.5
"""For all that git is asked."""

MAX_FILES = 50
MAX_FILTERS = 50
_KEYS = ("config", "--null", "--name-only", "--list")
_FILTER = re.compile(rb"filter\..*\.(?:clean|process|required)", re.DOTALL)
_DIFF = ("diff", "--numstat", "-z", "--no-renames", "--no-ext-diff", "--no-textconv", "--ignore-submodules=all", "HEAD")
_NEW = ("ls-files", "-z", "--others", "--exclude-standard")


def changed_files(root: str) -> tuple[ChangedFile, ...] | None:
    """At most ``MAX_FILES``, sorted by path; None without git, without a commit, and when git takes too long."""
    worktree = find_root(root).worktree
    if not worktree or (root != worktree and not root.startswith(worktree.rstrip(os.sep) + os.sep)):
        return None
    deadline = monotonic() + SECONDS
    off = _without_filters(run(worktree, _KEYS, NEVER, SECONDS))
    if off is None:
        return None
    within = ("--", os.path.relpath(root, worktree))
    told = run(worktree, (*off, *_DIFF, *within), NEVER, max(deadline - monotonic(), 0.01))
    if told is None:
        return None
    new = run(worktree, (*_NEW, *within), NEVER, max(deadline - monotonic(), 0.01)) or b""
    prefix = "" if root == worktree else os.path.relpath(root, worktree) + os.sep
    found = {_shown(name, prefix): ChangedFile(_shown(name, prefix)) for name in new.split(b"\0") if name}
    for line in told.split(b"\0"):
        if counted := re.fullmatch(rb"(\d+|-)\t(\d+|-)\t(.+)", line, re.DOTALL):
            name = _shown(counted[3], prefix)
            found[name] = ChangedFile(name, _number(counted[1]), _number(counted[2]))
    return tuple(found[name] for name in sorted(found)[:MAX_FILES])


def _without_filters(keys: bytes | None) -> list[str] | None:
    """Options that switch off every filter among the ``keys`` of a configuration; None where that cannot be."""
    names = {os.fsdecode(key) for key in (keys or b"").split(b"\0") if _FILTER.fullmatch(key)}
    if keys is None or len(names) > MAX_FILTERS or any("=" in name for name in names):
        return None  # a name with "=" would be read as another one
    values = [f"{name}={'false' if name.endswith('.required') else ''}" for name in sorted(names)]
    return [part for value in values for part in ("-c", value)]


def _number(told: bytes) -> int | None:
    """None for a binary file, of which git counts no lines."""
    return int(told) if told.isdigit() else None


def _shown(name: bytes, prefix: str) -> str:
    return " ".join(strip(name.decode("utf-8", "replace").removeprefix(prefix)).split())
