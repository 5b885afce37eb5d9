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
from threading import Lock
from typing import TYPE_CHECKING

from .git import SKIPPED_FOLDERS, Kind, RootInfo, find_root

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

_OPEN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


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
    if info.kind is not Kind.GIT:
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
        with os.scandir(f"{walk.root}/{prefix}") as scan:
            entries = list(scan)
    except OSError:
        return
    if rules is not None and any(entry.name == ".gitignore" for entry in entries):
        rules = _with_file(rules, f"{walk.root}/{prefix}.gitignore", len(prefix))
    for entry in entries:
        walk.tick()
        path = prefix + entry.name
        try:
            is_folder = entry.is_dir(follow_symlinks=False)
        except OSError:
            continue
        if not is_folder:
            if _counts(path) and (path in tracked or rules is None or not rules.ignores(path)):
                _take(walk, path, entry)
        elif depth < MAX_DEPTH and _may_enter(path, entry.name, rules, folders):
            if rules is not None and os.path.lexists(f"{walk.root}/{path}/.git"):
                _walk_tree(walk, path + "/", depth + 1)
            else:
                _walk_folder(walk, path + "/", rules, tracked, folders, depth + 1)


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
    data = _read(os.path.join(info.git_dir, "index"), MAX_INDEX_BYTES)
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
    rules = _Rules()
    for path in (_users_file(), os.path.join(info.common_dir, "info", "exclude")):
        rules = _with_file(rules, path, skipped)
    folders = [folder for folder in ("", *reversed(list(_parents(above)))) if folder != above.rstrip("/")]
    if above:
        for folder in folders:
            rules = _with_file(rules, os.path.join(info.worktree, folder, ".gitignore"), skipped)
    return rules


@lru_cache(maxsize=1)
def _users_file() -> str:
    """The person's own ignore file: what ``core.excludesFile`` says, or git's default place."""
    home = os.path.expanduser("~")
    for name in (".gitconfig", ".config/git/config"):
        text = os.fsdecode(_read(os.path.join(home, name), MAX_IGNORE_BYTES))
        found = re.search(r"^[ \t]*\[core\][^\[]*?^[ \t]*excludesfile[ \t]*=[ \t]*\"?([^\"\n]+)", text, re.M | re.I)
        if found:
            return os.path.expanduser(found[1].strip())
    return os.path.join(home, ".config", "git", "ignore")


def _with_file(rules: _Rules, path: str, skipped: int) -> _Rules:
    """``rules`` and those of the ignore file at ``path``, which speak of names from offset ``skipped`` on."""
    data = _read(path, MAX_IGNORE_BYTES)
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


def _take(walk: _Walk, path: str, entry: os.DirEntry[str]) -> None:
    """Note what stands for the content of ``path``; what cannot be read stands for itself."""
    try:
        status = entry.stat(follow_symlinks=False)
        if stat.S_ISLNK(status.st_mode):
            walk.files[path] = b"l" + os.fsencode(os.readlink(f"{walk.root}/{path}")) + b"\0"
        elif stat.S_ISREG(status.st_mode):
            kind = b"x" if status.st_mode & stat.S_IXUSR else b"f"
            walk.files[path] = kind + _content(walk, path, status)
    except OSError:
        walk.files[path] = b"?"


def _content(walk: _Walk, path: str, status: os.stat_result) -> bytes:
    stamp = (status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)
    known = walk.known.get(path)
    if known and known.stamp == stamp:
        return known.digest
    now = time.time_ns()
    digest = _digest(walk, path)
    if now - max(status.st_mtime_ns, status.st_ctime_ns) > RACY_NS:
        walk.known[path] = _Known(stamp, digest)
    return digest


def _digest(walk: _Walk, path: str) -> bytes:
    descriptor = os.open(f"{walk.root}/{path}", _OPEN)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return b"?"
        digest = hashlib.sha256()
        while part := os.read(descriptor, CHUNK):
            digest.update(part)
            if len(part) == CHUNK and time.monotonic() > walk.deadline:
                raise _OutOfTime
        return digest.digest()
    finally:
        os.close(descriptor)


def _read(path: str, most: int) -> bytes:
    """The bytes of a regular file that has at most ``most``; nothing for any other."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return b""
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_size > most:
            return b""
        parts = []
        while part := os.read(descriptor, CHUNK):
            parts.append(part)
        return b"".join(parts)
    except OSError:
        return b""
    finally:
        os.close(descriptor)
