"""Find the repository of a past session's folder, if it still exists; each folder is looked up once."""

from __future__ import annotations

import os
from functools import lru_cache

from upbeat.adapters.system.git.root import find_root


@lru_cache(maxsize=4096)
def worktree_root(cwd: str) -> str:
    """Return the real path of the work tree around ``cwd``; ``cwd`` itself if there is none any more."""
    try:
        return find_root(cwd).worktree or os.path.realpath(cwd)
    except (OSError, ValueError):
        return cwd
