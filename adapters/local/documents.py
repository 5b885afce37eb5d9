"""Text files of a repository that may be hostile. Law: whatever lies there, nothing raises, hangs or grows.

A file is opened where links lead to, without waiting, and looked at once it is open: a FIFO, a device, a folder and
what leads out of the repository are told as what they are.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from .trust import digest_of

T = TypeVar("T")
TRIES = 3
JUST_NOW = 50_000_000
"""Nanoseconds; file systems tell times in steps of some milliseconds."""
MAX_ENTRIES = 20_000
"""Entries of one folder that are looked at."""


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
    real = os.path.realpath(path)
    if inside is not None and not Path(real).is_relative_to(inside):
        return Text(problem="leads out of the repository; not read")
    try:
        descriptor = os.open(real, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        return Text(problem=f"cannot be read ({error.strerror})")
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            return Text(problem="not a regular file")
        if found.st_size > most:
            return Text(problem=f"larger than {most} bytes; not read")
        data = _read(descriptor, most + 1)
    except OSError as error:
        return Text(problem=f"cannot be read ({error.strerror})")
    finally:
        os.close(descriptor)
    if len(data) > most:
        return Text(problem=f"larger than {most} bytes; not read")
    try:
        return Text(data.decode("utf-8-sig"), digest_of(data))
    except UnicodeDecodeError as error:
        return Text(problem=f"not UTF-8 (byte {error.start})")


def listed(folder: str, inside: str | None, most: int, *, beginning: str = "", ending: str = "") -> Listing:
    """The names in ``folder`` that begin and end so, at most ``most`` of them, if it lies in ``inside`` (real)."""
    if inside is not None and not Path(os.path.realpath(folder)).is_relative_to(inside):
        return Listing(folder, problem="leads out of the repository; not read")
    names: list[str] = []
    count = 0
    try:
        with os.scandir(folder) as entries:
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


def _read(descriptor: int, most: int) -> bytes:
    parts: list[bytes] = []
    left = most
    while left > 0 and (part := os.read(descriptor, left)):
        parts.append(part)
        left -= len(part)
    return b"".join(parts)
