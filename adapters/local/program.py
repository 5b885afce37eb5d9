"""Finds a program that is to be started. Law: never in the working directory, which may be anybody's repository."""

from __future__ import annotations

import os


def find_program(given: str) -> str:
    """The absolute path of the program, or empty. ``given`` is a name for the search path, or a path as it is."""
    if os.sep in given:
        path = os.path.abspath(os.path.expanduser(given))
        return path if _is_program(path) else ""
    for folder in os.get_exec_path():
        path = os.path.join(folder, given)
        if os.path.isabs(folder) and _is_program(path):
            return path
    return ""


def _is_program(path: str) -> bool:
    return os.path.isfile(path) and os.access(path, os.X_OK)
