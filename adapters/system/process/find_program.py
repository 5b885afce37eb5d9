"""Find programs to start, and ask them for their version.

Invariant: a program is never found by name in the working directory or the repository, which are untrusted. A program
in the repository runs only if the user names it by its path.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from upbeat.adapters.system.files.safe_open import is_below
from upbeat.adapters.system.process import run

VERSION_TIMEOUT_SECONDS = 10.0

_VERSION = re.compile(r"\b(\d{1,6})\.(\d{1,6})\.(\d{1,6})")
Version = tuple[int, ...]


def find_program(name_or_path: str, repository: str = "") -> str:
    """Return the absolute path of a program, or an empty string.

    A name is searched on PATH, and never matches inside ``repository`` (real, absolute). A path is taken as it is.
    """
    if os.sep in name_or_path:
        path = os.path.abspath(os.path.expanduser(name_or_path))
        return path if _is_program(path) else ""
    return next((path for path in _programs_on_path(name_or_path) if not _is_inside(path, repository)), "")


def is_only_in_repository(name: str, repository: str) -> bool:
    """Return whether PATH has a program called ``name`` in ``repository`` and nowhere else."""
    return not find_program(name, repository) and any(_programs_on_path(name))


def search_path(repository: str) -> list[str]:
    """Return the folders of PATH that do not lead into ``repository``."""
    return [folder for folder in os.get_exec_path() if os.path.isabs(folder) and not _is_inside(folder, repository)]


def get_version(program: str, variables: Mapping[str, str]) -> Version | str:
    """Return the version that ``program --version`` prints, or a text that says why there is none.

    The program runs in the working directory, because version managers choose the version by folder.
    """
    try:
        result = run.run_program(
            [program, "--version"], variables=variables, cwd=os.curdir, timeout_seconds=VERSION_TIMEOUT_SECONDS
        )
    except OSError as error:
        return f"{program}: {error.strerror}"
    output = result.output.decode("utf-8", "replace")
    if result.exit_code is None:
        is_full = len(result.output) >= run.MAX_OUTPUT_BYTES
        limit = f"{run.MAX_OUTPUT_BYTES} bytes" if is_full else f"{VERSION_TIMEOUT_SECONDS:g} s"
        return f"{program} --version: > {limit}"
    version = parse_version(output) if result.exit_code == 0 else None
    if version is not None:
        return version
    message = result.last_error_line or output.strip().rpartition("\n")[2]
    return f"{program} --version: exit {result.exit_code} {message[:200]}".rstrip()


def parse_version(text: str) -> Version | None:
    """Return the first version number in ``text``."""
    match = _VERSION.search(text)
    return tuple(int(part) for part in match.groups()) if match else None


def format_version(version: Version) -> str:
    """Return ``version`` in the usual notation, such as ``1.2.3``."""
    return ".".join(str(part) for part in version)


def _programs_on_path(name: str) -> list[str]:
    paths = (os.path.join(folder, name) for folder in os.get_exec_path() if os.path.isabs(folder))
    return [path for path in paths if _is_program(path)]


def _is_inside(path: str, repository: str) -> bool:
    if repository in ("", os.sep):  # the root of the file system is not a repository
        return False
    return any(is_below(repository, name) for name in (os.path.normpath(path), os.path.realpath(path)))


def _is_program(path: str) -> bool:
    return os.path.isfile(path) and os.access(path, os.X_OK)
