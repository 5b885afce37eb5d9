"""Find guidance files: rules of other programs in a repository, and the user's rules of Claude Code.

Invariant: a project's file counts only if its user trusts its content, and no content makes this module raise, hang or
use unbounded memory.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import islice
from pathlib import Path

from upbeat.adapters.system.config.rules import to_display_text
from upbeat.adapters.system.config.trust import TRUST_FILE, trusted_digests
from upbeat.adapters.system.environment import Environment
from upbeat.adapters.system.files.bounded_read import (
    MAX_ENTRIES,
    file_stamp,
    find_stable,
    list_folder,
    read_text,
    scan_entries,
)
from upbeat.adapters.system.files.safe_open import is_below, real_path
from upbeat.core.lazy_dataclass import dataclass, replace
from upbeat.core.rules.formats.guidance import (
    ALL_FILES,
    COPILOT_FILE,
    GUIDANCE_FORMATS,
    Guidance,
    GuidanceFormat,
    parse_guidance,
)

MAX_FILES = 200
"""Files per folder tree."""
MAX_DEPTH = 6
"""Nesting of folders, below a folder of rules and above a file."""
MAX_BYTES = 64 * 1024
MAX_FOLDERS = 20_000
"""Folders of a repository that are searched."""
SKIPPED_FOLDERS = frozenset({"node_modules", "vendor"})
MAX_CACHED = 256
"""Folders whose rules are cached."""


@dataclass(frozen=True, slots=True)
class GuidanceFile:
    """A guidance file; its globs are relative to the folder ``base`` of the repository."""

    path: Path
    display_name: str
    kind: GuidanceFormat | None
    base: str = ""
    is_user_owned: bool = False


class GuidanceFiles:
    """Loads the guidance for files of a repository; a changed folder is read again."""

    def __init__(self, environment: Environment, user_folders: Mapping[str, Path] | None = None) -> None:
        self._environment = environment
        self._user_folders = user_folders or {}
        self._kept: dict[tuple[str, str], tuple[tuple[str, ...], tuple[object, ...], tuple[Guidance, ...]]] = {}

    def guidance_for(self, root: str, paths: Iterable[str]) -> tuple[Guidance, ...]:
        """Return the trusted guidance for ``paths`` (absolute) in the repository at ``root`` (real), nearest first."""
        inside = [path[len(root) + 1 :] for path in paths if path.startswith(root.rstrip("/") + "/")]
        bases = dict.fromkeys(base for path in inside for base in _folders_above(path))
        rules = [rule for base in bases for rule in self._load_base(root, base) if any(map(rule.applies_to, inside))]
        return tuple(sorted(rules, key=lambda rule: (-rule.depth, rule.globs == ALL_FILES, rule.path)))

    def _load_base(self, root: str, base: str) -> tuple[Guidance, ...]:
        known = self._kept.get((root, base))
        if known is not None and known[1] == tuple(map(file_stamp, known[0])):
            return known[2]
        listing, stamps = find_stable(lambda: _find_files(root, base, self._user_folders), self._watched_paths)
        rules = tuple(self._read_files(root, listing[1]))
        if len(self._kept) >= MAX_CACHED:
            self._kept.clear()
        self._kept[root, base] = (self._watched_paths(listing), stamps, rules)
        return rules

    def _watched_paths(self, listing: tuple[list[str], list[GuidanceFile]]) -> tuple[str, ...]:
        folders, files = listing
        return (*folders, *(str(file.path) for file in files), str(self._environment.state_home / TRUST_FILE))

    def _read_files(self, root: str, files: Iterable[GuidanceFile]) -> Iterator[Guidance]:
        trusted = trusted_digests(self._environment)
        for file in files:
            text = read_text(file.path, None if file.is_user_owned else root, MAX_BYTES)
            real = real_path(file.path)
            if text.problem or (not file.is_user_owned and trusted.get(real) != text.digest):
                continue
            if rule := parse_guidance(text.text, file.kind, file.display_name, real, text.digest, file.base):
                yield replace(rule, is_user_level=file.is_user_owned)


def guidance_files(root: str) -> tuple[GuidanceFile, ...]:
    """Return the guidance files of the project that its user can trust."""
    files = [file for base in _bases(root) for file in _files_of_base(root, base)[1]]
    return tuple(files[:MAX_FILES])


def _bases(root: str) -> list[str]:
    """Return the folders of the repository with guidance, the repository itself first."""
    bases, pending, count = [""], [("", 0)], 0
    owners = {kind.folder.partition("/")[0] for kind in GUIDANCE_FORMATS.values()}
    while pending and count < MAX_FOLDERS:
        below, depth = pending.pop(0)
        names = _subfolders(os.path.join(root, below), root)
        count += 1
        if below and not owners.isdisjoint(names):
            bases.append(below)
        if depth < 4 * MAX_DEPTH:
            inner = (name for name in names if not name.startswith(".") and name not in SKIPPED_FOLDERS)
            pending += [(os.path.join(below, name), depth + 1) for name in inner]
    return bases


def _find_files(root: str, base: str, user_folders: Mapping[str, Path]) -> tuple[list[str], list[GuidanceFile]]:
    folders, files = _files_of_base(root, base)
    for name, users in user_folders.items() if not base else ():
        kind = GUIDANCE_FORMATS[name]
        below, files_below = _list_tree(str(users), None, kind.suffix)
        folders += below
        for file in files_below:
            shown = f"~/{kind.folder}/{to_display_text(file)}"
            files.append(GuidanceFile(users / file, shown, kind, is_user_owned=True))
    return folders, files


def _files_of_base(root: str, base: str) -> tuple[list[str], list[GuidanceFile]]:
    """Return the folders searched below ``base``, and the files in them."""
    folders: list[str] = []
    files: list[GuidanceFile] = []
    for kind in GUIDANCE_FORMATS.values():
        if base and not kind.is_nested:
            continue
        folder = os.path.join(root, base, kind.folder)
        below, names = _list_tree(folder, root, kind.suffix)
        folders += below
        shown = os.path.join(base, kind.folder)
        files += [GuidanceFile(Path(folder, name), to_display_text(f"{shown}/{name}"), kind, base) for name in names]
    if not base:
        path = Path(root, COPILOT_FILE)
        folders.append(str(path))
        if path.is_file():
            files.append(GuidanceFile(path, COPILOT_FILE, None))
    return folders, files


def _list_tree(folder: str, containing_root: str | None, suffix: str) -> tuple[list[str], list[str]]:
    """Return the folders below ``folder`` and the names of their files with this suffix, without following links."""
    folders: list[str] = []
    names: list[str] = []
    pending = [("", 0)]
    while pending and len(names) < MAX_FILES and len(folders) < MAX_FILES:
        below, depth = pending.pop(0)
        here = os.path.join(folder, below)
        folders.append(here)
        listing = list_folder(here, containing_root, MAX_FILES, suffix=suffix)
        names += [os.path.join(below, name) for name in listing.names]
        if depth < MAX_DEPTH:
            pending += [(os.path.join(below, name), depth + 1) for name in _subfolders(here, containing_root)]
    return folders, sorted(names)[:MAX_FILES]


def _subfolders(folder: str, containing_root: str | None) -> list[str]:
    real = real_path(folder)
    if containing_root is not None and not is_below(containing_root, real):
        return []
    try:
        with scan_entries(real, containing_root) as entries:
            first = islice(entries, MAX_ENTRIES)
            return sorted(entry.name for entry in first if entry.is_dir(follow_symlinks=False))[:MAX_FILES]
    except OSError:
        return []


@lru_cache(maxsize=1024)
def _folders_above(path: str) -> tuple[str, ...]:
    """Return the parent folders of ``path``, nearest first, the repository (empty) last; the outer ones if deep."""
    parts = path.split("/")[:-1]
    return tuple("/".join(parts[:count]) for count in range(min(len(parts), 4 * MAX_DEPTH), -1, -1))
