"""Read files and folders of users and of untrusted repositories.

Invariant: no content makes this module raise, hang or use unbounded memory. A link counts if it leads to a file of the
same repository. Everything else (a FIFO, a device, a folder, a file outside) is reported as a problem.
"""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from upbeat.adapters.system.config.trust import digest_of
from upbeat.adapters.system.files.safe_open import (
    NotRegularError,
    is_below,
    open_file,
    read_bytes,
    read_file,
    real_path,
    scan_folder,
)
from upbeat.adapters.system.files.tail import parse_json_object
from upbeat.core.lazy_dataclass import dataclass

T = TypeVar("T")
OUTSIDE_PROBLEM = "leads out of the repository; not read"
MAX_TRIES = 3
RECENT_NS = 50_000_000
"""Nanoseconds; the time stamps of file systems have steps of some milliseconds."""
MAX_ENTRIES = 20_000
"""Entries to read per folder."""
MAX_SETTINGS_BYTES = 8 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class FileContent:
    """The bytes of a file, all of them if ``problem`` is empty."""

    data: bytes = b""
    problem: str = ""
    exists: bool = True


@dataclass(frozen=True, slots=True)
class FileText:
    """The text of a file, all of it if ``problem`` is empty, and the digest that identifies its content."""

    text: str = ""
    digest: str = ""
    problem: str = ""


@dataclass(frozen=True, slots=True)
class FolderListing:
    """The sorted matching names in a folder, the number of names left out, and a problem if any."""

    folder: str
    names: tuple[str, ...] = ()
    omitted: int = 0
    problem: str = ""


def read_text(path: Path, containing_root: str | None, max_bytes: int) -> FileText:
    """Read UTF-8 text of at most ``max_bytes``; with ``containing_root`` (real), only from below it."""
    content = read_content(path, containing_root, max_bytes)
    if content.problem:
        return FileText(problem=content.problem if content.exists else "cannot be read (No such file or directory)")
    try:
        return FileText(content.data.decode("utf-8-sig"), digest_of(content.data))
    except UnicodeDecodeError as error:
        return FileText(problem=f"not UTF-8 (byte {error.start})")


def read_content(path: Path, containing_root: str | None, max_bytes: int) -> FileContent:
    """Read the bytes of a file; limits as for ``read_text``."""
    try:
        descriptor = open_path(path, containing_root)
    except FileNotFoundError:
        return FileContent(problem="does not exist", exists=False)
    except NotRegularError:
        return FileContent(problem="not a regular file")
    except OSError as error:
        is_outside = error.errno == errno.EXDEV
        return FileContent(problem=OUTSIDE_PROBLEM if is_outside else f"cannot be read ({error.strerror})")
    try:
        if os.fstat(descriptor).st_size <= max_bytes:
            data = read_bytes(descriptor, max_bytes + 1)
            if len(data) <= max_bytes:
                return FileContent(data)
    except OSError as error:
        return FileContent(problem=f"cannot be read ({error.strerror})")
    finally:
        os.close(descriptor)
    return FileContent(problem=f"larger than {max_bytes} bytes; not read")


def read_json_object(path: Path) -> dict[str, Any]:
    """Return the object in a JSON file of the user; empty if there is none or the file cannot be read."""
    return parse_json_object(read_settings_bytes(path))


def read_settings_bytes(path: Path) -> bytes:
    """Return the first ``MAX_SETTINGS_BYTES`` of a regular file of the user; empty if it cannot be read."""
    try:
        return read_file(os.path.realpath(path), MAX_SETTINGS_BYTES)
    except (OSError, ValueError):
        return b""


def open_path(path: str | Path, containing_root: str | None) -> int:
    """Open the regular file at ``path``; with ``containing_root`` (real), only below it.

    Raises:
        OSError: ``NotRegularError``, or EXDEV if the path leads out of the root.
    """
    try:
        real = real_path(path)
        if containing_root is None or real == containing_root:
            return open_file(real)
        if is_below(containing_root, real):
            return open_file(os.path.relpath(real, containing_root), containing_root)
    except ValueError as error:  # an invalid path
        raise FileNotFoundError(errno.ENOENT, str(error), os.fspath(path)) from error
    raise OSError(errno.EXDEV, "leads out of the repository", os.fspath(path))


def list_folder(
    folder: str, containing_root: str | None, max_names: int, *, prefix: str = "", suffix: str = ""
) -> FolderListing:
    """List at most ``max_names`` names with this prefix and suffix; with ``containing_root`` (real), only below it."""
    real = real_path(folder)
    if containing_root is not None and not is_below(containing_root, real):
        return FolderListing(folder, problem=OUTSIDE_PROBLEM)
    try:
        with scan_entries(real, containing_root) as entries:
            present = [entry.name for entry in islice(entries, MAX_ENTRIES + 1)]
    except (FileNotFoundError, NotADirectoryError):
        return FolderListing(folder)
    except OSError as error:
        return FolderListing(folder, problem=f"cannot be read ({error.strerror})")
    problem = f"more than {MAX_ENTRIES} entries; the others are not read" if len(present) > MAX_ENTRIES else ""
    names = sorted(
        name
        for name in present[:MAX_ENTRIES]
        if name.startswith(prefix) and name.endswith(suffix) and len(name) > len(suffix)
    )
    return FolderListing(folder, tuple(names[:max_names]), max(len(names) - max_names, 0), problem)


def scan_entries(real: str, containing_root: str | None) -> AbstractContextManager[Iterator[os.DirEntry[str]]]:
    """Scan the entries of a real folder, below ``containing_root`` if given. Raises OSError."""
    root = real if containing_root is None else containing_root
    return scan_folder(root, "" if real == root else os.path.relpath(real, root))


def file_stamp(path: str) -> tuple[int, int, int, int] | None:
    """Return a value that changes with the file or folder and its permissions; None if there is none."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    return status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino


def stable_stamps(paths: Iterable[str]) -> tuple[object, ...]:
    """Return the stamps of ``paths``; none if one changed just now: its next change could have the same time."""
    stamps, now = tuple(map(file_stamp, paths)), time.time_ns()
    is_new = any(now - RECENT_NS < max(stamp[:2]) for stamp in stamps if stamp)
    return () if is_new else stamps


def find_stable(find: Callable[[], T], paths_of: Callable[[T], Iterable[str]]) -> tuple[T, tuple[object, ...]]:
    """Return the result of ``find`` and the stamps of its paths, such that no later change goes unnoticed.

    The stamps are empty, so that the caller searches again, if a file keeps changing or changed just now.
    """
    result = find()
    for _ in range(MAX_TRIES):
        stamps = stable_stamps(paths_of(result))
        again = find()
        if again == result:
            return result, stamps
        result = again
    return result, ()
