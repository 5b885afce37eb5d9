"""Whether the user has switched upbeat off in a folder (`upbeat off`), for programs that must start fast."""

from __future__ import annotations

import os

from upbeat.adapters.system.environment import Environment

_USER_FILE, _KEY = "upbeat/auto-tools.toml", b"repositories"


def is_switched_off(folder: str, environment: Environment) -> bool:
    """Return whether the user's file switches upbeat off in ``folder``; it is only parsed if it has the key."""
    try:
        if _KEY not in (environment.config_home / _USER_FILE).read_bytes():
            return False
    except OSError:
        return False
    from upbeat.adapters.system.config.settings import load_user_settings, switched_off_by

    return bool(switched_off_by(load_user_settings(environment).off_repositories, os.path.realpath(folder)))
