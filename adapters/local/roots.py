"""The repository that a folder of the past lay in. Law: as far as it still stands; each folder is looked at once."""

from __future__ import annotations

import os
from functools import lru_cache

from .git_root import find_root


@lru_cache(maxsize=4096)
def root_around(cwd: str) -> str:
    """The real path of the work tree around ``cwd``; ``cwd`` itself where there is none any more."""
    try:
        return find_root(cwd).worktree or os.path.realpath(cwd)
    except (OSError, ValueError):
        return cwd
