"""The files of a working tree, opened only when it is safe.

Invariant: nothing outside the real root is read, only regular files are opened, credential files are skipped by name,
and unreadable files are counted and never raise.
"""

from __future__ import annotations

import os
import stat
from collections import Counter, OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from threading import Lock

from upbeat.adapters.system.files.safe_open import NotRegularError, open_file
from upbeat.adapters.system.git.root import find_root
from upbeat.core.sanitize.sensitive_files import is_credential_path

MAX_FILE_BYTES = 500_000
BINARY_CHECK_BYTES = 8192
CACHE_BYTES = 160_000_000

is_sensitive_path = lru_cache(maxsize=32768)(is_credential_path)


class SkipReason(StrEnum):
    """Why a listed file is not searched."""

    MISSING = "missing"
    SENSITIVE = "sensitive"
    LINK = "link"
    """A symbolic link, or below one: its target is listed under its own name, or lies outside the tree."""
    SPECIAL = "special"
    UNREADABLE = "unreadable"
    BINARY = "binary"
    LARGE = "large"


@dataclass(slots=True)
class SourceFile:
    """One readable file: its lowercased bytes, and cached counts of needles in them."""

    path: str
    stamp: tuple[int, int]
    lowercase_bytes: bytes
    needle_counts: dict[bytes, int] = field(default_factory=dict)


class SourceCache:
    """Files that were read before, by root and path; valid as long as time and size stay the same."""

    def __init__(self, max_bytes: int = CACHE_BYTES) -> None:
        self.size = 0
        """Bytes held."""
        self._max_bytes = max_bytes
        self._files: OrderedDict[tuple[str, str], SourceFile] = OrderedDict()
        self._lock = Lock()

    def get(self, root: str, path: str, stamp: tuple[int, int]) -> SourceFile | None:
        """Return the cached file if its time and size are ``stamp``."""
        source = self._files.get((root, path))
        return source if source and source.stamp == stamp else None

    def put(self, root: str, source: SourceFile) -> None:
        """Cache ``source``; files of other roots are evicted first, those of this root never."""
        with self._lock:
            old = self._files.pop((root, source.path), None)
            self.size -= len(old.lowercase_bytes) if old else 0
            while self._files and self.size + len(source.lowercase_bytes) > self._max_bytes:
                oldest = next(iter(self._files))
                if oldest[0] == root:
                    return
                self.size -= len(self._files.pop(oldest).lowercase_bytes)
            if len(source.lowercase_bytes) <= self._max_bytes:
                self._files[(root, source.path)] = source
                self.size += len(source.lowercase_bytes)


class WorkingTree:
    """Reads files below one real root; records which files were skipped."""

    def __init__(self, root: str, cache: SourceCache) -> None:
        self.root = root
        self.skipped: Counter[SkipReason] = Counter()
        self.oversized: list[tuple[str, int]] = []
        self._cache = cache
        self._is_inside_by_folder: dict[str, bool] = {"": True}

    def read_source(self, path: str) -> SourceFile | None:
        """Return the file at ``path`` for searching; None, with the reason counted, if it cannot be searched."""
        source = self._load_source(path)
        if isinstance(source, SkipReason):
            self.skipped[source] += 1
            return None
        return source

    def read_text(self, path: str) -> str | None:
        """Return the decoded content of ``path``; None when it cannot be read."""
        data = self.read_bytes(path)
        return None if data is None else data.decode("utf-8", "replace")

    def file_stamp(self, path: str) -> tuple[int, int] | None:
        """Return size and modification time (ns, never 0) of ``path`` without opening it; None if it is skipped."""
        status = self._status(path)
        return None if isinstance(status, SkipReason) else (status.st_size, status.st_mtime_ns or 1)

    def read_bytes(self, path: str) -> bytes | None:
        """Return the content of ``path``; None when it cannot be read."""
        status = self._status(path)
        data = self._read(path, status) if not isinstance(status, SkipReason) else status
        return None if isinstance(data, SkipReason) else data

    def _load_source(self, path: str) -> SourceFile | SkipReason:
        status = self._status(path)
        if isinstance(status, SkipReason):
            return status
        stamp = (status.st_mtime_ns, status.st_size)
        cached = self._cache.get(self.root, path, stamp)
        if cached:
            return cached
        data = self._read(path, status)
        if isinstance(data, SkipReason):
            return data
        source = SourceFile(path, stamp, data.lower())
        self._cache.put(self.root, source)
        return source

    def _status(self, path: str) -> os.stat_result | SkipReason:
        """Return the status of ``path``, or why it is skipped. Opens nothing."""
        if is_sensitive_path(path):
            return SkipReason.SENSITIVE
        if not self._is_inside(path.rpartition("/")[0]):
            return SkipReason.LINK
        try:
            status = os.lstat(f"{self.root}/{path}")
        except (FileNotFoundError, NotADirectoryError):
            return SkipReason.MISSING
        except (OSError, ValueError):
            return SkipReason.UNREADABLE
        if stat.S_ISLNK(status.st_mode):
            return SkipReason.LINK
        if not stat.S_ISREG(status.st_mode):
            return SkipReason.SPECIAL
        if status.st_size > MAX_FILE_BYTES:
            self.oversized.append((path, status.st_size))
            return SkipReason.LARGE
        return status

    def _is_inside(self, folder: str) -> bool:
        """Return whether ``folder`` really is below the root: no part of it is a link or ``..``."""
        known = self._is_inside_by_folder.get(folder)
        if known is None:
            known, whole = True, ""
            for part in folder.split("/"):
                whole = f"{whole}/{part}" if whole else part
                if known and whole not in self._is_inside_by_folder:
                    self._is_inside_by_folder[whole] = part not in ("", ".", "..") and not os.path.islink(
                        f"{self.root}/{whole}"
                    )
                known = known and self._is_inside_by_folder[whole]
            self._is_inside_by_folder[folder] = known
        return known

    def _read(self, path: str, status: os.stat_result) -> bytes | SkipReason:
        try:
            descriptor = open_file(path, self.root, is_known_regular=True)
        except NotRegularError:
            return SkipReason.SPECIAL
        except OSError:
            return SkipReason.UNREADABLE
        try:
            if os.fstat(descriptor).st_ino != status.st_ino:
                return SkipReason.SPECIAL
            data = os.read(descriptor, MAX_FILE_BYTES + 1)
        except OSError:
            return SkipReason.UNREADABLE
        finally:
            os.close(descriptor)
        if len(data) > MAX_FILE_BYTES:
            return SkipReason.LARGE
        return SkipReason.BINARY if b"\0" in data[:BINARY_CHECK_BYTES] else data


def listing_stamps(root: str, folders: Iterable[str]) -> dict[str, dict[str, int]]:
    """Return when the entries of ``folders`` and the files by which git lists the tree last changed.

    The times are in nanoseconds, by folder and by file; that of a missing one is 0.
    """
    git_dir = find_root(root).git_dir
    stamps: dict[str, dict[str, int]] = {"folders": {}, "git": {}}
    for kind, parent, names in (
        ("folders", root, folders),
        ("git", git_dir, ("index", "info/exclude") if git_dir else ()),
    ):
        for name in names:
            try:
                stamps[kind][name] = os.lstat(f"{parent}/{name}" if name else parent).st_mtime_ns
            except OSError:
                stamps[kind][name] = 0
    return stamps
