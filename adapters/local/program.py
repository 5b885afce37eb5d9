"""Finds a program that is to be started. Law: never in the working directory or the repository, which is anybody's.

What lies in the repository is run only where a person has named it by its path.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from . import child
from .opening import is_below

VERSION_SECONDS = 10.0
"""How long a program may take to say its version."""

_VERSION = re.compile(r"\b(\d{1,6})\.(\d{1,6})\.(\d{1,6})")
Version = tuple[int, ...]


def find_program(given: str, repository: str = "") -> str:
    """The absolute path of the program, or empty. ``given`` is a name for the search path, or a path as it is.

    A name is not found in ``repository`` (real, absolute), wherever the search path leads.
    """
    if os.sep in given:
        path = os.path.abspath(os.path.expanduser(given))
        return path if _is_program(path) else ""
    return next((path for path in _on_path(given) if not _is_inside(path, repository)), "")


def is_only_inside(name: str, repository: str) -> bool:
    """Whether the search path has a program of that name, in ``repository`` and nowhere else."""
    return not find_program(name, repository) and any(_on_path(name))


def search_path(repository: str) -> list[str]:
    """The folders of the search path that do not lead into ``repository``."""
    return [one for one in os.get_exec_path() if os.path.isabs(one) and not _is_inside(one, repository)]


def _on_path(name: str) -> list[str]:
    paths = (os.path.join(folder, name) for folder in os.get_exec_path() if os.path.isabs(folder))
    return [path for path in paths if _is_program(path)]


def _is_inside(path: str, repository: str) -> bool:
    if repository in ("", os.sep):  # the root of the file system is nobody's repository, and has all programs
        return False
    return any(is_below(repository, one) for one in (os.path.normpath(path), os.path.realpath(path)))


def ask_version(program: str, variables: Mapping[str, str]) -> Version | str:
    """What ``program --version`` says; a text is why there is no version: the program's own words, or the system's.

    It is asked where we are, for that is where it would work: a version manager chooses by the folder.
    """
    try:
        asked = child.run([program, "--version"], variables=variables, cwd=os.curdir, seconds=VERSION_SECONDS)
    except OSError as error:
        return f"{program}: {error.strerror}"
    output = asked.output.decode("utf-8", "replace")
    if asked.code is None:
        most = f"{child.MAX_OUTPUT} bytes" if len(asked.output) >= child.MAX_OUTPUT else f"{VERSION_SECONDS:g} s"
        return f"{program} --version: > {most}"
    version = version_in(output) if asked.code == 0 else None
    if version is not None:
        return version
    said = asked.complaint or output.strip().rpartition("\n")[2]
    return f"{program} --version: exit {asked.code} {said[:200]}".rstrip()


def version_in(text: str) -> Version | None:
    """The first version number in ``text``."""
    found = _VERSION.search(text)
    return tuple(int(part) for part in found.groups()) if found else None


def dotted(version: Version) -> str:
    """``version`` as people write it."""
    return ".".join(str(part) for part in version)


def _is_program(path: str) -> bool:
    return os.path.isfile(path) and os.access(path, os.X_OK)
