"""Read what is on the disk before an installation.

Invariant: nothing is written, and all problems are reported at once. A dotfile that is a link stays one: its target is
read and replaced.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from upbeat.adapters.system.files import atomic
from upbeat.core.errors import UserError

MAX_BYTES = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class FileChange:
    """The old and the new content of one file; None for no file.

    A settings file also has content that is not upbeat's; a foreign file is not upbeat's, but in one of its folders.
    """

    path: Path
    old: bytes | None
    new: bytes | None
    is_settings: bool = False
    is_foreign: bool = False


def resolve_link(path: Path) -> Path:
    """Return ``path`` with links resolved.

    Raises:
        UserError: A link has no target.
    """
    target = Path(os.path.realpath(path))
    if target.is_symlink():
        raise UserError(f"{path} is a link that leads to itself; fix it, and try again")
    if path.is_symlink() and not target.parent.is_dir():
        raise UserError(f"{path} is a link to {target}, and that folder does not exist; fix it, and try again")
    return target


def read_regular_file(path: Path) -> bytes | None:
    """Return the content of the regular file ``path``; None if there is none.

    Raises:
        UserError: It is not a regular file, too large, or not readable.
    """
    try:
        status = os.lstat(path)
        if not stat.S_ISREG(status.st_mode):
            raise UserError(f"{path} is not a regular file; move it away, and try again")
        if status.st_size > MAX_BYTES:
            raise UserError(f"{path} is larger than {MAX_BYTES} bytes, which is too large for a settings file")
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise UserError(f"{path} cannot be read ({error.strerror}); nothing was changed") from error


def read_own_folder(folder: Path) -> dict[Path, bytes]:
    """Return the content of every file in a folder of upbeat.

    Raises:
        UserError: The folder holds something other than files and folders.
    """
    files: dict[Path, bytes] = {}
    for path in sorted(folder.rglob("*")):
        if not path.is_symlink() and path.is_dir():
            continue
        data = None if atomic.DRAFT_NAME.fullmatch(path.name) else read_regular_file(path)
        if data is not None:
            files[path] = data
    return files


def missing_folders(paths: Iterable[Path]) -> Iterator[Path]:
    """Yield the folders to create for ``paths``, outer ones first."""
    missing: set[Path] = set()
    for path in paths:
        for folder in path.parents:
            if folder in missing or folder.is_dir():
                break
            missing.add(folder)
    yield from sorted(missing)


def verify_applicable(changes: Iterable[FileChange]) -> None:
    """Check that every one of ``changes`` can be applied.

    Raises:
        UserError: At least one cannot; the message has all reasons.
    """
    problems = [problem for change in changes for problem in _change_problems(change)]
    if problems:
        raise UserError("\n".join([*dict.fromkeys(problems), "nothing was changed"]))


def _change_problems(change: FileChange) -> Iterator[str]:
    path = change.path
    if read_regular_file(path) != change.old:
        yield f"{path} was changed by another program just now; try again"
        return
    folder = next((folder for folder in path.parents if os.path.lexists(folder)), Path("/"))
    if not folder.is_dir():
        yield f"{folder} is not a folder; move it away"
    elif not _is_writable(folder, os.W_OK | os.X_OK):
        yield f"{folder} is read-only, but {path.name} must be changed there; make it writable (chmod u+w)"
    if change.old is None:
        return
    status = path.stat()
    if not _is_writable(path, os.W_OK):
        yield f"{path} is read-only; make it writable (chmod u+w)"
    if status.st_nlink > 1:
        links = f"{status.st_nlink} hard links"
        yield f"{path} has {links}, and replacing it would detach it from the others; make it a single file"
    if os.geteuid() not in (0, status.st_uid):
        yield f"{path} belongs to another user; run this as its owner"


def _is_writable(path: Path, access: int) -> bool:
    """Return whether its owner and this process may write it: a read-only mode counts for root, too."""
    return bool(path.stat().st_mode & stat.S_IWUSR) and os.access(path, access)
