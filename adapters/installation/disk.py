"""What stands on the disk before an installation. Law: it only looks; whatever stands in the way is told, all at once.

A dotfile that is a link stays one: it is the file where it leads to that is read, and replaced.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ...core.errors import UserError
from ..local import atomic

MAX_BYTES = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Change:
    """One file: what was read there, and what is to be there; None is no file. One of settings has more in it than
    what is ours, a foreign one is somebody else's in a folder of our own."""

    path: Path
    old: bytes | None
    new: bytes | None
    is_settings: bool = False
    is_foreign: bool = False


def real(path: Path) -> Path:
    """Where the file ``path`` is, links resolved. Raises UserError for links that lead nowhere."""
    found = Path(os.path.realpath(path))
    if found.is_symlink():
        raise UserError(f"{path} is a link that leads round in a circle; mend it, and try again")
    if path.is_symlink() and not found.parent.is_dir():
        raise UserError(f"{path} is a link to {found}, and there is no such folder; mend it, and try again")
    return found


def content(path: Path) -> bytes | None:
    """The bytes of the regular file ``path``; None when there is none. Raises UserError for anything else."""
    try:
        found = os.lstat(path)
        if not stat.S_ISREG(found.st_mode):
            raise UserError(f"{path} is not a regular file; move it away, and try again")
        if found.st_size > MAX_BYTES:
            raise UserError(f"{path} is larger than {MAX_BYTES} bytes; that is no settings file")
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise UserError(f"{path} cannot be read ({error.strerror}); nothing was changed") from error


def contents(folder: Path) -> dict[Path, bytes]:
    """Every file in a folder of our own. Raises UserError for anything but files and folders, which are not ours."""
    found: dict[Path, bytes] = {}
    for path in sorted(folder.rglob("*")):
        if not path.is_symlink() and path.is_dir():
            continue
        data = None if atomic.DRAFT.fullmatch(path.name) else content(path)
        if data is not None:
            found[path] = data
    return found


def missing_folders(paths: Iterable[Path]) -> Iterator[Path]:
    """The folders that have to be made for ``paths``, outer ones first."""
    found: set[Path] = set()
    for path in paths:
        for folder in path.parents:
            if folder in found or folder.is_dir():
                break
            found.add(folder)
    yield from sorted(found)


def check(changes: Iterable[Change]) -> None:
    """Raise UserError, with all reasons, unless every one of ``changes`` can be carried out on what was read."""
    problems = [problem for change in changes for problem in _problems(change)]
    if problems:
        raise UserError("\n".join([*dict.fromkeys(problems), "nothing was changed"]))


def _problems(change: Change) -> Iterator[str]:
    path = change.path
    if content(path) != change.old:
        yield f"{path} was changed by somebody else just now; try again"
        return
    folder = next((folder for folder in path.parents if os.path.lexists(folder)), Path("/"))
    if not folder.is_dir():
        yield f"{folder} is not a folder; move it away"
    elif not _is_writable(folder, os.W_OK | os.X_OK):
        yield f"{folder} is read-only, and {path.name} is to be changed; make it writable (chmod u+w)"
    if change.old is None:
        return
    found = path.stat()
    if not _is_writable(path, os.W_OK):
        yield f"{path} is read-only; make it writable (chmod u+w)"
    if found.st_nlink > 1:
        yield f"{path} has {found.st_nlink} names (hard links), of which replacing it would leave one; make it one file"
    if os.geteuid() not in (0, found.st_uid):
        yield f"{path} belongs to another user; run this as its owner"


def _is_writable(path: Path, access: int) -> bool:
    """Whether its owner may write it, and we may: a mode that says no is meant, also for root."""
    return bool(path.stat().st_mode & stat.S_IWUSR) and os.access(path, access)
