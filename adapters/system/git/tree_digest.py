"""Compute a digest of a working tree, to check whether a test run still applies to the present files.

Invariant: the digest depends only on the names and bytes of the files that git tracks or does not ignore. A commit, a
branch, a ``touch`` or another clone do not change it. Prose is left out, because it does not change the program. No
process is started, nothing outside the root is read, and a link counts by its target's name.
"""

from __future__ import annotations

import contextlib
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

from upbeat.adapters.system.files.bounded_read import read_content
from upbeat.adapters.system.files.safe_open import open_at, open_folder
from upbeat.adapters.system.git.commands import SKIPPED_FOLDERS, user_ignore_file
from upbeat.adapters.system.git.root import RepositoryKind, RootInfo, find_root, git_problem

MAX_SECONDS = 2.0
"""The time limit of one digest; files that were read by then stay cached for the next one."""

MAX_FILES = 200_000
MAX_DEPTH = 60
MAX_INDEX_BYTES = 64_000_000
MAX_IGNORE_BYTES = 256_000
MAX_WILDCARDS = 8
"""Wildcards in one line of an ignore file; matching more could take forever."""

MAX_CACHED_ROOTS = 8
CHUNK_BYTES = 1 << 20
RACY_NS = 100_000_000
"""A file written less than this before it was read may change again without a change of its times."""

CACHE_FOLDERS = frozenset(
    {
        *(".git", ".hg", ".svn", ".upbeat", "node_modules", "__pycache__", ".venv", ".tox", ".nox"),
        *(".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis", ".cache", ".gradle", ".idea", ".vs"),
    }
)
"""Folders that are never part of the program, ignored by git or not."""

EXCLUDED_FOLDERS = frozenset({"specs/features"})
"""Folders, relative to the root, that only describe planned work."""

_PROSE_EXTENSIONS = frozenset({"md", "mdx", "markdown", "rst", "txt", "adoc", "asciidoc", "org"})
_PROSE_NAMES = frozenset(
    {
        *("license", "licence", "copying", "notice", "authors", "contributors", "changelog", "changes", "history"),
        *("readme", "news", "install", "maintainers", "codeowners", "thanks", "todo"),
    }
)
_CODE_IN_PROSE = re.compile(
    r"(?:requirements|constraints).*\.txt|cmakelists\.txt|robots\.txt|.*\.in\.txt", re.IGNORECASE
)
_TEMPORARY_FILE = re.compile(r"\.git|.*\.(?:py[co]|sw[op]|tmp)|\.coverage(?:\..*)?|\.ds_store|.*~|#.*#", re.IGNORECASE)
_TEST_DATA_PATH = re.compile(r"(?:^|/)(?:tests?|__tests__|fixtures?|testdata|snapshots?|__snapshots__)/")


_IgnorePatterns = tuple[tuple[bool, re.Pattern[bytes]], ...]
"""Whether a match ignores or re-includes, and the expression; the last match decides."""


class _OutOfTime(Exception):
    """The time or file limit is reached."""


@dataclass(frozen=True, slots=True)
class _CachedDigest:
    """The digest of a file's bytes, valid while ``stamp`` (size, times, inode) stays the same."""

    stamp: tuple[int, int, int, int]
    digest: bytes


@dataclass(slots=True)
class _TreeWalk:
    """The state of one walk. ``entries`` maps each path to the digest of its content."""

    root: str
    cache: dict[str, _CachedDigest]
    deadline: float
    entries: dict[str, bytes] = field(default_factory=dict)
    file_count: int = 0

    def check_limits(self) -> None:
        """Raise ``_OutOfTime`` if the time or the number of files is over the limit."""
        self.file_count += 1
        if self.file_count > MAX_FILES or (self.file_count % 64 == 0 and time.monotonic() > self.deadline):
            raise _OutOfTime


@dataclass(frozen=True, slots=True)
class _IgnoreRules:
    """What git ignores in one folder: the ignore files from the outermost in, each with the length of its prefix."""

    files: tuple[tuple[int, _IgnorePatterns], ...] = ()

    def is_ignored(self, path: str) -> bool:
        """Return whether ``path`` (a folder ends with ``/``) is ignored, given that its parents are not."""
        for skipped, patterns in reversed(self.files):
            name = os.fsencode(path[skipped:])
            for ignores, pattern in reversed(patterns):
                if pattern.match(name):
                    return ignores
        return False


_digest_caches: OrderedDict[str, dict[str, _CachedDigest]] = OrderedDict()
_lock = Lock()


def tree_digest(root: str, max_seconds: float = MAX_SECONDS) -> str:
    """Return a hexadecimal digest of the files at ``root`` (real, absolute); empty if it takes over ``max_seconds``.

    The content of a repository never makes it raise.
    """
    walk = _TreeWalk(root.rstrip("/") or "/", _cache_of(root), time.monotonic() + max_seconds)
    try:
        _walk_tree(walk, "", 0)
    except _OutOfTime:
        return ""
    digest = hashlib.sha256()
    for path in sorted(walk.entries):
        digest.update(os.fsencode(path) + b"\0" + walk.entries[path])
    for path in [path for path in walk.cache if path not in walk.entries]:
        walk.cache.pop(path, None)
    return digest.hexdigest()


def is_prose(path: str) -> bool:
    """Return whether ``path`` (relative) is prose, which does not change the program. Test fixtures are not prose."""
    folder, _, name = path.rpartition("/")
    stem, dot, extension = name.lower().rpartition(".")
    if not dot:
        return extension in _PROSE_NAMES
    if extension not in _PROSE_EXTENSIONS or _CODE_IN_PROSE.fullmatch(name):
        return False
    return stem in _PROSE_NAMES or not _TEST_DATA_PATH.search(folder + "/")


def _cache_of(root: str) -> dict[str, _CachedDigest]:
    with _lock:
        cache = _digest_caches.setdefault(root, {})
        _digest_caches.move_to_end(root)
        while len(_digest_caches) > MAX_CACHED_ROOTS:
            _digest_caches.popitem(last=False)
    return cache


# --- which files ----------------------------------------------------------------------------------------


def _walk_tree(walk: _TreeWalk, prefix: str, depth: int) -> None:
    """Add the files of the repository at ``prefix`` (empty, or ends with ``/``); without git, all files."""
    top = walk.root + "/" + prefix.rstrip("/") if prefix else walk.root
    info = find_root(top)
    if info.kind is not RepositoryKind.GIT or git_problem(info):
        _walk_folder(walk, prefix, None, frozenset(), frozenset(), depth)
        return
    inside = os.path.relpath(top, info.worktree)
    above = "" if inside == "." else inside + "/"
    tracked = frozenset(
        prefix + name[len(above) :]
        for name in _tracked_files(info)
        if name.startswith(above) and len(name) > len(above)
    )
    folders = frozenset(parent for name in tracked for parent in _parents(name))
    _walk_folder(walk, prefix, _outer_ignore_rules(info, above, len(prefix)), tracked, folders, depth)


def _walk_folder(
    walk: _TreeWalk,
    prefix: str,
    rules: _IgnoreRules | None,
    tracked: frozenset[str],
    folders: frozenset[str],
    depth: int,
) -> None:
    """Add the files below ``prefix``. ``rules`` is None without git; ``folders`` contain tracked files."""
    try:
        folder = open_folder(walk.root, prefix.rstrip("/"))
    except OSError:
        return
    try:
        with os.scandir(folder) as scan:
            entries = list(scan)
        if rules is not None and any(entry.name == ".gitignore" for entry in entries):
            rules = _with_ignore_file(rules, f"{prefix}.gitignore", len(prefix), walk.root)
        inner = [name for entry in entries if (name := _visit_entry(walk, prefix, entry, folder, rules, tracked))]
    except OSError:
        return
    finally:
        os.close(folder)
    for path in inner:
        name = path.rpartition("/")[2]
        is_ignored = name in SKIPPED_FOLDERS if rules is None else path not in folders and rules.is_ignored(path + "/")
        if is_ignored or name in CACHE_FOLDERS or path in EXCLUDED_FOLDERS or depth >= MAX_DEPTH:
            continue
        if rules is not None and os.path.lexists(f"{walk.root}/{path}/.git"):
            _walk_tree(walk, path + "/", depth + 1)
        else:
            _walk_folder(walk, path + "/", rules, tracked, folders, depth + 1)


def _visit_entry(
    walk: _TreeWalk,
    prefix: str,
    entry: os.DirEntry[str],
    folder: int,
    rules: _IgnoreRules | None,
    tracked: frozenset[str],
) -> str:
    """Add the entry if it is a relevant file; return its path if it is a folder."""
    walk.check_limits()
    path = prefix + entry.name
    try:
        if entry.is_dir(follow_symlinks=False):
            return path
    except OSError:
        return ""
    if _TEMPORARY_FILE.fullmatch(entry.name) or is_prose_cached(path):
        return ""
    if path in tracked or rules is None or not rules.is_ignored(path):
        _record_content(walk, path, entry, folder)
    return ""


is_prose_cached = lru_cache(maxsize=65536)(is_prose)


def _parents(name: str) -> Iterator[str]:
    index = name.rfind("/")
    while index > 0:
        yield name[:index]
        index = name.rfind("/", 0, index)


# --- git's index and ignore files, read without git -----------------------------------------------------


def _tracked_files(info: RootInfo) -> list[str]:
    """Return the names in the repository's index; none if it cannot be read."""
    data = _read_bytes("index", MAX_INDEX_BYTES, info.git_dir)
    try:
        return list(_index_names(data))
    except (struct.error, ValueError, IndexError):
        return []


def _index_names(data: bytes) -> Iterator[str]:
    """Yield the names in an index of version 2, 3 or 4 (gitformat-index), with SHA-1 or SHA-256 object names."""
    if data[:4] != b"DIRC":
        return
    version, count = struct.unpack_from(">II", data, 4)
    if version not in (2, 3, 4):
        return
    width = _object_id_width(data, version)
    offset, name = 12, b""
    for _ in range(count):
        flags_offset = offset + 40 + width
        (flags,) = struct.unpack_from(">H", data, flags_offset)
        start = flags_offset + (4 if flags & 0x4000 else 2)
        if version == 4:
            drop, start = _decode_offset(data, start)
            end = data.index(b"\0", start)
            name = name[: len(name) - drop] + data[start:end]
            offset = end + 1
        else:
            end = data.index(b"\0", start)
            name = data[start:end]
            offset += (end - offset) // 8 * 8 + 8
        yield os.fsdecode(name)


def _object_id_width(data: bytes, version: int) -> int:
    """Return 20 or 32: only the right width gives the first entry's name the length that its flags state."""
    for width in (20, 32):
        flags_offset = 12 + 40 + width
        (flags,) = struct.unpack_from(">H", data, flags_offset)
        start = flags_offset + (4 if flags & 0x4000 else 2)
        if version == 4:
            _, start = _decode_offset(data, start)
        length = flags & 0xFFF
        if length and (length == 0xFFF or data.find(b"\0", start) - start == length):
            return width
    return 20


def _decode_offset(data: bytes, offset: int) -> tuple[int, int]:
    """Return a number in the variable width of version 4, and the offset after it."""
    value = data[offset] & 0x7F
    while data[offset] & 0x80:
        offset += 1
        value = ((value + 1) << 7) | (data[offset] & 0x7F)
    return value, offset + 1


def _outer_ignore_rules(info: RootInfo, above: str, skipped: int) -> _IgnoreRules:
    """Return the rules from outside the tree: the user's, the repository's own, and those of its parent folders."""
    rules = _with_ignore_file(_IgnoreRules(), user_ignore_file(), skipped, None)
    rules = _with_ignore_file(rules, "info/exclude", skipped, info.common_dir)
    folders = [folder for folder in ("", *reversed(list(_parents(above)))) if folder != above.rstrip("/")]
    if above:
        for folder in folders:
            rules = _with_ignore_file(rules, os.path.join(folder, ".gitignore"), skipped, info.worktree)
    return rules


def _with_ignore_file(rules: _IgnoreRules, path: str, skipped: int, root: str | None) -> _IgnoreRules:
    """Return ``rules`` with those of the ignore file at ``path``, which apply to names from offset ``skipped`` on."""
    data = _read_bytes(path, MAX_IGNORE_BYTES, root)
    if not data.strip():
        return rules
    return _IgnoreRules((*rules.files, (skipped, _parse_ignore_file(data))))


@lru_cache(maxsize=256)
def _parse_ignore_file(data: bytes) -> _IgnorePatterns:
    """Return the patterns of an ignore file; lines that git does not accept are left out."""
    from pathspec.patterns.gitignore.basic import GitIgnoreBasicPattern

    patterns: list[tuple[bool, re.Pattern[bytes]]] = []
    for line in data.split(b"\n"):
        if line.count(b"*") > MAX_WILDCARDS or not line.strip(b"\r /!"):
            continue
        with contextlib.suppress(ValueError, re.error):
            regex, ignores = GitIgnoreBasicPattern.pattern_to_regex(line.rstrip(b"\r"))
            if regex is not None and ignores is not None:
                patterns.append((ignores, re.compile(regex, re.DOTALL)))
    return tuple(patterns)


# --- their content --------------------------------------------------------------------------------------


def _record_content(walk: _TreeWalk, path: str, entry: os.DirEntry[str], folder: int) -> None:
    """Record the kind and digest of ``path``; an unreadable file is recorded as such."""
    try:
        status = entry.stat(follow_symlinks=False)
        if stat.S_ISLNK(status.st_mode):
            walk.entries[path] = b"l" + os.fsencode(os.readlink(entry.name, dir_fd=folder)) + b"\0"
        elif stat.S_ISREG(status.st_mode):
            kind = b"x" if status.st_mode & stat.S_IXUSR else b"f"
            walk.entries[path] = kind + _content_digest(walk, path, status, folder)
    except OSError:
        walk.entries[path] = b"?"


def _content_digest(walk: _TreeWalk, path: str, status: os.stat_result, folder: int) -> bytes:
    stamp = (status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)
    known = walk.cache.get(path)
    if known and known.stamp == stamp:
        return known.digest
    now = time.time_ns()
    digest = _hash_file(walk, path.rpartition("/")[2], folder)
    if now - max(status.st_mtime_ns, status.st_ctime_ns) > RACY_NS:
        walk.cache[path] = _CachedDigest(stamp, digest)
    return digest


def _hash_file(walk: _TreeWalk, name: str, folder: int) -> bytes:
    descriptor = open_at(name, folder, is_known_regular=True)
    try:
        digest = hashlib.sha256()
        while part := os.read(descriptor, CHUNK_BYTES):
            digest.update(part)
            if len(part) == CHUNK_BYTES and time.monotonic() > walk.deadline:
                raise _OutOfTime
        return digest.digest()
    finally:
        os.close(descriptor)


def _read_bytes(path: str, max_bytes: int, root: str | None) -> bytes:
    """Return the content of a regular file of at most ``max_bytes``, below ``root`` if given; else nothing."""
    return read_content(Path(root or "", path), root, max_bytes).data
