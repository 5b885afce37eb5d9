"""Files of people and of repositories that may be hostile. Law: whatever lies there, nothing raises, hangs or grows.

A link counts when it leads to a file of the same repository. A FIFO, a device, a folder and what leads out of the
repository are told as what they are.
"""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from .opening import NotRegularError, is_below, open_file, read, real_path, scanned
from .trust import digest_of

T = TypeVar("T")
TRIES = 3
JUST_NOW = 50_000_000
"""Nanoseconds; file systems tell times in steps of some milliseconds."""
MAX_ENTRIES = 20_000
"""Entries of one folder that are looked at."""


@dataclass(frozen=True, slots=True)
class Content:
    """The bytes of a file; without ``problem`` all of them. ``is_there`` tells an absent file from an empty one."""

    data: bytes = b""
    problem: str = ""
    is_there: bool = True


@dataclass(frozen=True, slots=True)
class Text:
    """A file as read. Without ``problem`` it is whole; ``digest`` is how its content is remembered."""

    text: str = ""
    digest: str = ""
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Listing:
    """The names in a folder that are wanted, sorted; how many more there are; why there are none to be had."""

    folder: str
    names: tuple[str, ...] = ()
    left_out: int = 0
    problem: str = ""


def read_text(path: Path, inside: str | None, most: int) -> Text:
    """The UTF-8 text at ``path``, of at most ``most`` bytes, that lies in ``inside`` (real), if that is given."""
    found = read_content(path, inside, most)
    if found.problem:
        return Text(problem=found.problem if found.is_there else "cannot be read (No such file or directory)")
    try:
        return Text(found.data.decode("utf-8-sig"), digest_of(found.data))
    except UnicodeDecodeError as error:
        return Text(problem=f"not UTF-8 (byte {error.start})")


def read_content(path: Path, inside: str | None, most: int) -> Content:
    """What ``read_text`` reads, as it is stored."""
    try:
        descriptor = open_path(path, inside)
    except FileNotFoundError:
        return Content(problem="is not there", is_there=False)
    except NotRegularError:
        return Content(problem="not a regular file")
    except OSError as error:
        told = "leads out of the repository; not read" if error.errno == errno.EXDEV else ""
        return Content(problem=told or f"cannot be read ({error.strerror})")
    try:
        data = read(descriptor, most + 1) if os.fstat(descriptor).st_size <= most else b" " * (most + 1)
    except OSError as error:
        return Content(problem=f"cannot be read ({error.strerror})")
    finally:
        os.close(descriptor)
    return Content(data) if len(data) <= most else Content(problem=f"larger than {most} bytes; not read")


def open_path(path: str | Path, inside: str | None) -> int:
    """A descriptor of the regular file that ``path`` leads to, which lies in ``inside`` (real), if that is given.

    Raises OSError: ``NotRegularError``, and EXDEV for what leads out.
    """
    try:
        real = real_path(path)
        if inside is None or real == inside:
            return open_file(real)
        if is_below(inside, real):
            return open_file(os.path.relpath(real, inside), inside)
    except ValueError as error:  # a path that the system does not take
        raise FileNotFoundError(errno.ENOENT, str(error), os.fspath(path)) from error
    raise OSError(errno.EXDEV, "leads out of the repository", os.fspath(path))


def listed(folder: str, inside: str | None, most: int, *, beginning: str = "", ending: str = "") -> Listing:
    """The names in ``folder`` that begin and end so, at most ``most`` of them, if it lies in ``inside`` (real)."""
    real = real_path(folder)
    if inside is not None and not is_below(inside, real):
        return Listing(folder, problem="leads out of the repository; not read")
    names: list[str] = []
    count = 0
    try:
        with entries_of(real, inside) as entries:
            for entry in entries:
                count += 1
                if count > MAX_ENTRIES:
                    break
                name = entry.name
                if name.startswith(beginning) and name.endswith(ending) and len(name) > len(ending):
                    names.append(name)
    except (FileNotFoundError, NotADirectoryError):
        return Listing(folder)
    except OSError as error:
        return Listing(folder, problem=f"cannot be read ({error.strerror})")
    problem = f"more than {MAX_ENTRIES} entries; what comes after them is not read" if count > MAX_ENTRIES else ""
    names.sort()
    return Listing(folder, tuple(names[:most]), max(len(names) - most, 0), problem)


def entries_of(real: str, inside: str | None) -> AbstractContextManager[Iterator[os.DirEntry[str]]]:
    """The entries of a real folder, which lies in ``inside``, if that is given. Raises OSError."""
    root = real if inside is None else inside
    return scanned(root, "" if real == root else os.path.relpath(real, root))


def stamp(path: str) -> tuple[int, int, int] | None:
    """What changes when a file or a folder does; None while there is none."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def settled(find: Callable[[], T], places: Callable[[T], Iterable[str]]) -> tuple[T, tuple[object, ...]]:
    """What ``find`` finds, and the stamps of its ``places``, taken so that no later change goes unnoticed.

    No stamps, so that it is looked for again the next time, where something keeps changing or has changed just now:
    the next change could bear the same time.
    """
    found = find()
    for _ in range(TRIES):
        stamps = tuple(map(stamp, places(found)))
        again = find()
        if again == found:
            now = time.time_ns()
            is_new = any(now - JUST_NOW < one[0] <= now for one in stamps if one)
            return found, () if is_new else stamps
        found = again
    return found, ()
