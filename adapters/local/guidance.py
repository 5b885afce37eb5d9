"""Finds the rules that other programs have in a repository, and those of Claude Code that its user has.

Law: a project's file counts once its user has trusted it as it is; nothing that lies there raises, hangs or grows.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice
from pathlib import Path

from ...core.rules.guidance import COPILOT_FILE, EVERY, KINDS, Guidance, Kind, read
from .documents import MAX_ENTRIES, entries_of, listed, read_text, settled, stamp
from .environment import Environment
from .opening import is_below, real_path
from .trust import TRUST_FILE, trusted_contents

USER_FOLDER = "rules"
"""In the user's folder of Claude Code."""
MAX_FILES = 200
"""Files of one folder and all below it."""
MAX_DEPTH = 6
"""Folders inside each other, in a folder of rules and above a file."""
MAX_BYTES = 64 * 1024
MAX_FOLDERS = 20_000
"""Folders of a repository that are looked through for such files."""
SKIPPED_FOLDERS = frozenset({"node_modules", "vendor"})
MAX_KEPT = 256
"""Folders whose rules are kept in memory."""


@dataclass(frozen=True, slots=True)
class GuidanceFile:
    """One file that may hold such a rule. ``base`` is the folder of the repository that its globs begin at."""

    path: Path
    shown: str
    kind: Kind | None
    base: str = ""
    is_users: bool = False


class GuidanceFiles:
    """The rules about files of a repository; a folder is read again when something in it has changed."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        self._kept: dict[tuple[str, str], tuple[tuple[str, ...], tuple[object, ...], tuple[Guidance, ...]]] = {}

    def about(self, root: str, paths: Iterable[str]) -> tuple[Guidance, ...]:
        """The trusted rules about ``paths`` (absolute) in the repository at ``root`` (real), the nearest first."""
        inside = [path[len(root) + 1 :] for path in paths if path.startswith(root.rstrip("/") + "/")]
        bases = dict.fromkeys(base for path in inside for base in _above(path))
        found = [one for base in bases for one in self._of(root, base) if any(map(one.is_about, inside))]
        return tuple(sorted(found, key=lambda one: (-one.depth, one.globs == EVERY, one.path)))

    def _of(self, root: str, base: str) -> tuple[Guidance, ...]:
        known = self._kept.get((root, base))
        if known is not None and known[1] == tuple(map(stamp, known[0])):
            return known[2]
        found, stamps = settled(lambda: _find(root, base, self._environment), self._places)
        rules = tuple(self._read(root, found[1]))
        if len(self._kept) >= MAX_KEPT:
            self._kept.clear()
        self._kept[root, base] = (self._places(found), stamps, rules)
        return rules

    def _places(self, found: tuple[list[str], list[GuidanceFile]]) -> tuple[str, ...]:
        folders, files = found
        return (*folders, *(str(file.path) for file in files), str(self._environment.state_home / TRUST_FILE))

    def _read(self, root: str, files: Iterable[GuidanceFile]) -> Iterator[Guidance]:
        trusted = trusted_contents(self._environment)
        for file in files:
            text = read_text(file.path, None if file.is_users else root, MAX_BYTES)
            real = real_path(file.path)
            if text.problem or (not file.is_users and trusted.get(real) != text.digest):
                continue
            if rule := read(text.text, file.kind, file.shown, real, text.digest, file.base):
                yield replace(rule, is_users=file.is_users)


def guidance_files(root: str) -> tuple[GuidanceFile, ...]:
    """The project's files of this kind, wherever in it: what its user is asked to trust."""
    found = [file for base in _bases(root) for file in _of_base(root, base)[1]]
    return tuple(found[:MAX_FILES])


def _bases(root: str) -> list[str]:
    """The folders of the repository that have rules in them; the repository itself first."""
    found, todo, seen = [""], [("", 0)], 0
    owners = {kind.folder.partition("/")[0] for kind in KINDS.values()}
    while todo and seen < MAX_FOLDERS:
        below, depth = todo.pop(0)
        names = _folders(os.path.join(root, below), root)
        seen += 1
        if below and not owners.isdisjoint(names):
            found.append(below)
        if depth < 4 * MAX_DEPTH:
            inner = (name for name in names if not name.startswith(".") and name not in SKIPPED_FOLDERS)
            todo += [(os.path.join(below, name), depth + 1) for name in inner]
    return found


def _find(root: str, base: str, environment: Environment) -> tuple[list[str], list[GuidanceFile]]:
    folders, files = _of_base(root, base)
    found, more = list(folders), list(files)
    if not base:
        users = str(environment.claude_home / USER_FOLDER)
        kind = KINDS["claude"]
        below, names = _tree(users, None, kind.ending)
        found += below
        more += [
            GuidanceFile(Path(users, name), f"~/.claude/{USER_FOLDER}/{_shown(name)}", kind, "", True) for name in names
        ]
    return found, more


def _of_base(root: str, base: str) -> tuple[tuple[str, ...], tuple[GuidanceFile, ...]]:
    """The folders that were looked at below ``base``, and the files in them."""
    folders: list[str] = []
    files: list[GuidanceFile] = []
    for kind in KINDS.values():
        if base and not kind.is_nested:
            continue
        folder = os.path.join(root, base, kind.folder)
        below, names = _tree(folder, root, kind.ending)
        folders += below
        shown = os.path.join(base, kind.folder)
        files += [GuidanceFile(Path(folder, name), _shown(f"{shown}/{name}"), kind, base) for name in names]
    if not base:
        path = Path(root, COPILOT_FILE)
        folders.append(str(path))
        if path.is_file():
            files.append(GuidanceFile(path, COPILOT_FILE, None))
    return tuple(folders), tuple(files)


def _tree(folder: str, inside: str | None, ending: str) -> tuple[list[str], list[str]]:
    """The folders from ``folder`` down, and the names of the files in them that end so; no link is followed down."""
    folders: list[str] = []
    names: list[str] = []
    todo = [("", 0)]
    while todo and len(names) < MAX_FILES and len(folders) < MAX_FILES:
        below, depth = todo.pop(0)
        here = os.path.join(folder, below)
        folders.append(here)
        listing = listed(here, inside, MAX_FILES, ending=ending)
        names += [os.path.join(below, name) for name in listing.names]
        if depth < MAX_DEPTH:
            todo += [(os.path.join(below, name), depth + 1) for name in _folders(here, inside)]
    return folders, sorted(names)[:MAX_FILES]


def _folders(folder: str, inside: str | None) -> list[str]:
    real = real_path(folder)
    if inside is not None and not is_below(inside, real):
        return []
    try:
        with entries_of(real, inside) as entries:
            looked = islice(entries, MAX_ENTRIES)
            return sorted(entry.name for entry in looked if entry.is_dir(follow_symlinks=False))[:MAX_FILES]
    except OSError:
        return []


@lru_cache(maxsize=1024)
def _above(path: str) -> tuple[str, ...]:
    """The folders above ``path``, the nearest first, the repository itself (empty) last; of deep ones the outer."""
    parts = path.split("/")[:-1]
    return tuple("/".join(parts[:count]) for count in range(min(len(parts), 4 * MAX_DEPTH), -1, -1))


def _shown(name: str) -> str:
    from ...core.turn.strip import strip

    return strip(name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")).replace("\n", " ")
