"""A digest of what a working tree holds, so that it can be told whether a test run still speaks of these files.

Law: the digest depends on the names and bytes of the files that git tracks or does not ignore, and on nothing
else: a commit, a branch, a ``touch`` or another clone change nothing. Prose is left out, since it changes no
program. No process is started, nothing outside the root is read, links count by where they point.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
import struct
import time
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from .documents import read_content
from .git import SKIPPED_FOLDERS, users_ignore_file
from .git_root import Kind, RootInfo, find_root, problem_of
from .opening import open_at, open_folder

if TYPE_CHECKING:
    from dulwich.ignore import IgnoreFilter

SECONDS = 2.0
"""The longest that one digest may take; what was read until then is kept for the next time."""

MAX_FILES = 200_000
MAX_DEPTH = 60
MAX_INDEX_BYTES = 64_000_000
MAX_IGNORE_BYTES = 256_000
MAX_STARS = 8
"""Wildcards in one line of an ignore file; matching more of them may take for ever."""

MAX_ROOTS = 8
CHUNK = 1 << 20
RACY_NS = 100_000_000
"""A file that was written less than this before it was read may change again without a trace in its times."""

CACHES = frozenset(
    {
        *(".git", ".hg", ".svn", ".upbeat", "node_modules", "__pycache__", ".venv", ".tox", ".nox"),
        *(".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis", ".cache", ".gradle", ".idea", ".vs"),
    }
)
"""Folders that are never the program, ignored by git or not."""

LEFT_OUT = frozenset({"specs/features"})
"""Folders, from the root on, that only say what is to be done."""

_PROSE = frozenset({"md", "mdx", "markdown", "rst", "txt", "adoc", "asciidoc", "org"})
_PROSE_NAMES = frozenset(
    {
        *("license", "licence", "copying", "notice", "authors", "contributors", "changelog", "changes", "history"),
        *("readme", "news", "install", "maintainers", "codeowners", "thanks", "todo"),
    }
)
_CODE_IN_PROSE = re.compile(
    r"(?:requirements|constraints).*\.txt|cmakelists\.txt|robots\.txt|.*\.in\.txt", re.IGNORECASE
)
_LITTER = re.compile(r"\.git|.*\.(?:py[co]|sw[op]|tmp)|\.coverage(?:\..*)?|\.ds_store|.*~|#.*#", re.IGNORECASE)
_READ_BY_TESTS = re.compile(r"(?:^|/)(?:tests?|__tests__|fixtures?|testdata|snapshots?|__snapshots__)/")


class _OutOfTime(Exception):
    """The budget is spent."""


@dataclass(frozen=True, slots=True)
class _Known:
    """The digest of a file's bytes, good while ``stamp`` (size, times, inode) stays the same."""

    stamp: tuple[int, int, int, int]
    digest: bytes


@dataclass(slots=True)
class _Walk:
    """One digest in the making. ``files`` maps each path to what stands for its content."""

    root: str
    known: dict[str, _Known]
    deadline: float
    files: dict[str, bytes] = field(default_factory=dict)
    seen: int = 0

    def tick(self) -> None:
        """Raise when time is up, or when there are too many files to go on."""
        self.seen += 1
        if self.seen > MAX_FILES or (self.seen % 64 == 0 and time.monotonic() > self.deadline):
            raise _OutOfTime


@dataclass(frozen=True, slots=True)
class _Rules:
    """What git ignores in one folder: the filters from the outermost in, each with where its folder begins."""

    filters: tuple[tuple[int, IgnoreFilter], ...] = ()

    def ignores(self, path: str) -> bool:
        """Whether ``path`` (with ``/`` at its end for a folder) is ignored; its folders are known not to be."""
        for skipped, one in reversed(self.filters):
            if found := list(one.find_matching(path[skipped:])):
                return bool(found[-1].is_exclude)
        return False


_caches: OrderedDict[str, dict[str, _Known]] = OrderedDict()
_lock = Lock()


def tree_digest(root: str, seconds: float = SECONDS) -> str:
    """A digest (hexadecimal) of the files at ``root`` (real, absolute); empty when it cannot be had in ``seconds``.

    Never raises for what a repository holds.
    """
    walk = _Walk(root.rstrip("/") or "/", _cache_of(root), time.monotonic() + seconds)
    try:
        _walk_tree(walk, "", 0)
    except _OutOfTime:
        return ""
    digest = hashlib.sha256()
    for path in sorted(walk.files):
        digest.update(os.fsencode(path) + b"\0" + walk.files[path])
    for path in [path for path in walk.known if path not in walk.files]:
        walk.known.pop(path, None)
    return digest.hexdigest()


def is_prose(path: str) -> bool:
    """Whether ``path`` (relative) is text for people: a change of it changes no program. Fixtures of tests are not."""
    folder, _, name = path.rpartition("/")
    stem, dot, extension = name.lower().rpartition(".")
    if not dot:
        return extension in _PROSE_NAMES
    if extension not in _PROSE or _CODE_IN_PROSE.fullmatch(name):
        return False
    return stem in _PROSE_NAMES or not _READ_BY_TESTS.search(folder + "/")


def _cache_of(root: str) -> dict[str, _Known]:
    with _lock:
        known = _caches.setdefault(root, {})
        _caches.move_to_end(root)
        while len(_caches) > MAX_ROOTS:
            _caches.popitem(last=False)
    return known


# --- which files ----------------------------------------------------------------------------------------


def _walk_tree(walk: _Walk, prefix: str, depth: int) -> None:
    """Take the files of the repository at ``prefix`` (empty, or with ``/`` at its end); without git, all files."""
    top = walk.root + "/" + prefix.rstrip("/") if prefix else walk.root
    info = find_root(top)
    if info.kind is not Kind.GIT or problem_of(info):
        _walk_folder(walk, prefix, None, frozenset(), frozenset(), depth)
        return
    inside = os.path.relpath(top, info.worktree)
    above = "" if inside == "." else inside + "/"
    tracked = frozenset(
        prefix + name[len(above) :] for name in _tracked(info) if name.startswith(above) and len(name) > len(above)
    )
    folders = frozenset(parent for name in tracked for parent in _parents(name))
    _walk_folder(walk, prefix, _outer_rules(info, above, len(prefix)), tracked, folders, depth)


def _walk_folder(
    walk: _Walk, prefix: str, rules: _Rules | None, tracked: frozenset[str], folders: frozenset[str], depth: int
) -> None:
    """Take the files below ``prefix``. ``rules`` is None without git; ``folders`` have tracked files below them."""
    try:
        folder = open_folder(walk.root, prefix.rstrip("/"))
    except OSError:
        return
    try:
        with os.scandir(folder) as scan:
            entries = list(scan)
        if rules is not None and any(entry.name == ".gitignore" for entry in entries):
            rules = _with_file(rules, f"{prefix}.gitignore", len(prefix), walk.root)
        inner = [name for entry in entries if (name := _folder_or_file(walk, prefix, entry, folder, rules, tracked))]
    except OSError:
        return
    finally:
        os.close(folder)
    for path in inner:
        if depth >= MAX_DEPTH or not _may_enter(path, path.rpartition("/")[2], rules, folders):
            continue
        if rules is not None and os.path.lexists(f"{walk.root}/{path}/.git"):
            _walk_tree(walk, path + "/", depth + 1)
        else:
            _walk_folder(walk, path + "/", rules, tracked, folders, depth + 1)


def _folder_or_file(
    walk: _Walk, prefix: str, entry: os.DirEntry[str], folder: int, rules: _Rules | None, tracked: frozenset[str]
) -> str:
    """The path of an entry that is a folder; a file is taken, if it counts."""
    walk.tick()
    path = prefix + entry.name
    try:
        if entry.is_dir(follow_symlinks=False):
            return path
    except OSError:
        return ""
    if _counts(path) and (path in tracked or rules is None or not rules.ignores(path)):
        _take(walk, path, entry, folder)
    return ""


def _may_enter(path: str, name: str, rules: _Rules | None, folders: frozenset[str]) -> bool:
    if name in CACHES or path in LEFT_OUT:
        return False
    if rules is None:
        return name not in SKIPPED_FOLDERS
    return path in folders or not rules.ignores(path + "/")


def _counts(path: str) -> bool:
    return not _LITTER.fullmatch(path.rpartition("/")[2]) and not is_prose_cached(path)


is_prose_cached = lru_cache(maxsize=65536)(is_prose)


def _parents(name: str) -> Iterator[str]:
    at = name.rfind("/")
    while at > 0:
        yield name[:at]
        at = name.rfind("/", 0, at)


# --- what git says of them, without git -----------------------------------------------------------------


def _tracked(info: RootInfo) -> list[str]:
    """The names in the repository's index; none when it cannot be read."""
    data = _read("index", MAX_INDEX_BYTES, info.git_dir)
    try:
        return list(_index_names(data))
    except (struct.error, ValueError, IndexError):
        return []


def _index_names(data: bytes) -> Iterator[str]:
    """The names in an index of version 2, 3 or 4 (gitformat-index), with SHA-1 or SHA-256 object names."""
    if data[:4] != b"DIRC":
        return
    version, count = struct.unpack_from(">II", data, 4)
    if version not in (2, 3, 4):
        return
    width = _id_width(data, version)
    at, name = 12, b""
    for _ in range(count):
        flags_at = at + 40 + width
        (flags,) = struct.unpack_from(">H", data, flags_at)
        start = flags_at + (4 if flags & 0x4000 else 2)
        if version == 4:
            drop, start = _offset(data, start)
            end = data.index(b"\0", start)
            name = name[: len(name) - drop] + data[start:end]
            at = end + 1
        else:
            end = data.index(b"\0", start)
            name = data[start:end]
            at += (end - at) // 8 * 8 + 8
        yield os.fsdecode(name)


def _id_width(data: bytes, version: int) -> int:
    """20 or 32: only with the right one does the name of the first entry have the length that its flags say."""
    for width in (20, 32):
        flags_at = 12 + 40 + width
        (flags,) = struct.unpack_from(">H", data, flags_at)
        start = flags_at + (4 if flags & 0x4000 else 2)
        if version == 4:
            _, start = _offset(data, start)
        length = flags & 0xFFF
        if length and (length == 0xFFF or data.find(b"\0", start) - start == length):
            return width
    return 20


def _offset(data: bytes, at: int) -> tuple[int, int]:
    """A number in the variable width of version 4, and where it ends."""
    value = data[at] & 0x7F
    while data[at] & 0x80:
        at += 1
        value = ((value + 1) << 7) | (data[at] & 0x7F)
    return value, at + 1


def _outer_rules(info: RootInfo, above: str, skipped: int) -> _Rules:
    """The rules from outside the tree: the user's, the repository's own, and those of the folders above."""
    rules = _with_file(_Rules(), users_ignore_file(), skipped, None)
    rules = _with_file(rules, "info/exclude", skipped, info.common_dir)
    folders = [folder for folder in ("", *reversed(list(_parents(above)))) if folder != above.rstrip("/")]
    if above:
        for folder in folders:
            rules = _with_file(rules, os.path.join(folder, ".gitignore"), skipped, info.worktree)
    return rules


def _with_file(rules: _Rules, path: str, skipped: int, inside: str | None) -> _Rules:
    """``rules`` and those of the ignore file at ``path`` in ``inside``, for names from offset ``skipped`` on."""
    data = _read(path, MAX_IGNORE_BYTES, inside)
    if not data.strip():
        return rules
    one = _filter(data)
    return _Rules((*rules.filters, (skipped, one))) if one else rules


@lru_cache(maxsize=256)
def _filter(data: bytes) -> IgnoreFilter | None:
    import io

    from dulwich.ignore import IgnoreFilter, read_ignore_patterns

    lines = [line for line in read_ignore_patterns(io.BytesIO(data)) if line.count(b"*") <= MAX_STARS]
    try:
        return IgnoreFilter(lines)
    except (ValueError, re.error):
        return None


# --- what is in them ------------------------------------------------------------------------------------


def _take(walk: _Walk, path: str, entry: os.DirEntry[str], folder: int) -> None:
    """Note what stands for the content of ``path``; what cannot be read stands for itself."""
    try:
        status = entry.stat(follow_symlinks=False)
        if stat.S_ISLNK(status.st_mode):
            walk.files[path] = b"l" + os.fsencode(os.readlink(entry.name, dir_fd=folder)) + b"\0"
        elif stat.S_ISREG(status.st_mode):
            kind = b"x" if status.st_mode & stat.S_IXUSR else b"f"
            walk.files[path] = kind + _content(walk, path, status, folder)
    except OSError:
        walk.files[path] = b"?"


def _content(walk: _Walk, path: str, status: os.stat_result, folder: int) -> bytes:
    stamp = (status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)
    known = walk.known.get(path)
    if known and known.stamp == stamp:
        return known.digest
    now = time.time_ns()
    digest = _digest(walk, path.rpartition("/")[2], folder)
    if now - max(status.st_mtime_ns, status.st_ctime_ns) > RACY_NS:
        walk.known[path] = _Known(stamp, digest)
    return digest


def _digest(walk: _Walk, name: str, folder: int) -> bytes:
    descriptor = open_at(name, folder, is_known=True)
    try:
        digest = hashlib.sha256()
        while part := os.read(descriptor, CHUNK):
            digest.update(part)
            if len(part) == CHUNK and time.monotonic() > walk.deadline:
                raise _OutOfTime
        return digest.digest()
    finally:
        os.close(descriptor)


def _read(path: str, most: int, inside: str | None) -> bytes:
    """A regular file that has at most ``most`` bytes; nothing for any other. ``path`` is below ``inside``, if any."""
    return read_content(Path(inside or "", path), inside, most).data
