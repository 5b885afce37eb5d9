"""The files of a working tree, opened only when it is safe to.

Law: nothing outside the real root is read, nothing but regular files is opened, secrets are passed over by
name, and what cannot be read is counted instead of raised.
"""

from __future__ import annotations

import os
import stat
from collections import Counter, OrderedDict
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from threading import Lock

from ...core.turn.exclude import is_sensitive
from ..local.opening import NotRegularError, open_file

MAX_FILE_BYTES = 500_000
SNIFFED_BYTES = 8192
CACHE_BYTES = 160_000_000

is_secret = lru_cache(maxsize=32768)(is_sensitive)


class Skip(StrEnum):
    """Why a listed file is not searched."""

    MISSING = "missing"
    SENSITIVE = "sensitive"
    LINK = "link"
    """A link, or below a folder that is one: what it leads to is listed under its own name, or is not ours."""
    SPECIAL = "special"
    UNREADABLE = "unreadable"
    BINARY = "binary"
    LARGE = "large"


@dataclass(slots=True)
class Source:
    """One readable file: its bytes lower-cased, and how often a term was counted in them."""

    path: str
    stamp: tuple[int, int]
    lowered: bytes
    counts: dict[bytes, int] = field(default_factory=dict)


class SourceCache:
    """Files that were read before, by root and path; good as long as time and size stay the same."""

    def __init__(self, limit: int = CACHE_BYTES) -> None:
        self._limit = limit
        self._size = 0
        self._files: OrderedDict[tuple[str, str], Source] = OrderedDict()
        self._lock = Lock()

    def get(self, root: str, path: str, stamp: tuple[int, int]) -> Source | None:
        found = self._files.get((root, path))
        return found if found and found.stamp == stamp else None

    def put(self, root: str, source: Source) -> None:
        """Keep ``source``; files of other roots go first, and when only this root is left it is not kept."""
        with self._lock:
            old = self._files.pop((root, source.path), None)
            self._size -= len(old.lowered) if old else 0
            while self._files and self._size + len(source.lowered) > self._limit:
                oldest = next(iter(self._files))
                if oldest[0] == root:
                    return
                self._size -= len(self._files.pop(oldest).lowered)
            if len(source.lowered) <= self._limit:
                self._files[(root, source.path)] = source
                self._size += len(source.lowered)

    @property
    def size(self) -> int:
        """Bytes held."""
        return self._size


class Tree:
    """Reads files below one real root; remembers which folders lie inside it, and what was skipped."""

    def __init__(self, root: str, cache: SourceCache) -> None:
        self.root = root
        self.skipped: Counter[Skip] = Counter()
        self.large: list[tuple[str, int]] = []
        self._cache = cache
        self._inside: dict[str, bool] = {"": True}

    def source(self, path: str) -> Source | None:
        """The file at ``path`` for searching, or None with the reason counted."""
        found = self._load(path)
        if isinstance(found, Skip):
            self.skipped[found] += 1
            return None
        return found

    def text(self, path: str) -> str | None:
        """The decoded content of ``path``; None when it is not to be read, or cannot be any more."""
        data = self.data(path)
        return None if data is None else data.decode("utf-8", "replace")

    def stamp(self, path: str) -> tuple[int, int] | None:
        """Size and time of change (never 0) of ``path``; None when it is not to be read. Opens nothing."""
        status = self._status(path)
        return None if isinstance(status, Skip) else (status.st_size, status.st_mtime_ns or 1)

    def data(self, path: str) -> bytes | None:
        """The content of ``path``; None when it is not to be read, or cannot be any more."""
        status = self._status(path)
        data = self._read(path, status) if not isinstance(status, Skip) else status
        return None if isinstance(data, Skip) else data

    def _load(self, path: str) -> Source | Skip:
        status = self._status(path)
        if isinstance(status, Skip):
            return status
        stamp = (status.st_mtime_ns, status.st_size)
        cached = self._cache.get(self.root, path, stamp)
        if cached:
            return cached
        data = self._read(path, status)
        if isinstance(data, Skip):
            return data
        source = Source(path, stamp, data.lower())
        self._cache.put(self.root, source)
        return source

    def _status(self, path: str) -> os.stat_result | Skip:
        """What kind of file ``path`` is, or why it stays closed. Opens nothing."""
        if is_secret(path):
            return Skip.SENSITIVE
        if not self._is_inside(path.rpartition("/")[0]):
            return Skip.LINK
        try:
            status = os.lstat(f"{self.root}/{path}")
        except (FileNotFoundError, NotADirectoryError):
            return Skip.MISSING
        except (OSError, ValueError):
            return Skip.UNREADABLE
        if stat.S_ISLNK(status.st_mode):
            return Skip.LINK
        if not stat.S_ISREG(status.st_mode):
            return Skip.SPECIAL
        if status.st_size > MAX_FILE_BYTES:
            self.large.append((path, status.st_size))
            return Skip.LARGE
        return status

    def _is_inside(self, folder: str) -> bool:
        """Whether ``folder`` really lies below the root: no part of it is a link, and none leads up."""
        known = self._inside.get(folder)
        if known is None:
            known, whole = True, ""
            for part in folder.split("/"):
                whole = f"{whole}/{part}" if whole else part
                if known and whole not in self._inside:
                    self._inside[whole] = part not in ("", ".", "..") and not os.path.islink(f"{self.root}/{whole}")
                known = known and self._inside[whole]
            self._inside[folder] = known
        return known

    def _read(self, path: str, status: os.stat_result) -> bytes | Skip:
        try:
            descriptor = open_file(path, self.root, is_known=True)
        except NotRegularError:
            return Skip.SPECIAL
        except OSError:
            return Skip.UNREADABLE
        try:
            if os.fstat(descriptor).st_ino != status.st_ino:
                return Skip.SPECIAL
            data = os.read(descriptor, MAX_FILE_BYTES + 1)
        except OSError:
            return Skip.UNREADABLE
        finally:
            os.close(descriptor)
        if len(data) > MAX_FILE_BYTES:
            return Skip.LARGE
        return Skip.BINARY if b"\0" in data[:SNIFFED_BYTES] else data
