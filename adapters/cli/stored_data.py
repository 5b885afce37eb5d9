"""What upbeat stores on this machine: where, for how long, and how it is deleted."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from upbeat.adapters.system.environment import Environment
from upbeat.core.lazy_dataclass import dataclass

_END_OF_TIME = datetime(9999, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class StoredKind:
    """One kind of data. ``patterns`` are globs below upbeat's folder in ``base``: state, data or config."""

    name: str
    what: str
    base: str
    patterns: tuple[str, ...]
    kept: str
    removal: str
    is_per_repository: bool = False

    def folder(self, environment: Environment) -> Path:
        """Return upbeat's own folder in which the kind is."""
        homes = {"state": environment.state_home, "data": environment.data_home, "config": environment.config_home}
        return homes[self.base] / "upbeat"

    def location(self, environment: Environment) -> str:
        """Return the path to show: of the kind's own file or folder, or else of upbeat's."""
        folder = self.folder(environment)
        return str(folder / self.patterns[0] if len(self.patterns) == 1 and "*" not in self.patterns[0] else folder)

    def paths(self, environment: Environment) -> Iterator[Path]:
        """Yield the files and folders of the kind that exist."""
        for pattern in self.patterns:
            yield from sorted(self.folder(environment).glob(pattern))

    def measure(self, environment: Environment) -> tuple[int, int]:
        """Return the number of files and their bytes; links count as themselves."""
        sizes = [
            os.lstat(file).st_size for path in self.paths(environment) for file in _files(path) if os.path.lexists(file)
        ]
        return len(sizes), sum(sizes)


KINDS = (
    StoredKind(
        *("journal", "what happened in sessions, redacted, and their state", "state", ("journal*",)),
        *("journal.max_days (default 90), at most journal.max_mb", "upbeat data purge journal"),
    ),
    StoredKind(
        *("index", "indexes and histories of repositories", "state", ("index",)),
        *("until it is purged; each at most index.max_mb", "upbeat data purge index"),
        is_per_repository=True,
    ),
    StoredKind(
        *("handoffs", "whole reports of subagents, redacted", "state", ("handoffs",)),
        *("for 30 days, at most 500 runs", "upbeat data purge handoffs"),
    ),
    StoredKind(
        *("habits", "learned habits (off by default)", "state", ("observations",)),
        *("until it is forgotten", "upbeat data purge habits"),
        is_per_repository=True,
    ),
    StoredKind(
        *("prompts", "prompts typed into codex-auto", "state", ("codex-auto-history",)),
        *("until it is purged", "upbeat data purge prompts"),
    ),
    StoredKind(
        *(
            "approvals",
            "what you trust: projects' files, tools of servers",
            "state",
            ("trusted.json*", "mcp-tools.json*"),
        ),
        *("until you revoke it", "upbeat trust --revoke"),
    ),
    StoredKind(
        *("others", "keys, marks and hooks that wait for an answer", "state", ("exec.key*", "introduced", "pending")),
        *("until it is purged; made anew when needed", "upbeat data purge others"),
    ),
    StoredKind(
        *("plugins", "plugins for the clients, and receipts of installations", "data", ("*",)),
        *("until you uninstall", "upbeat uninstall"),
    ),
    StoredKind(
        *("settings", "your settings, rules and workflows", "config", ("*",)),
        *("until you change them", "upbeat config edit"),
    ),
)
PURGEABLE = {kind.name: kind for kind in KINDS if kind.removal.startswith("upbeat data purge")}


def purge_kind(kind: StoredKind, root: str, environment: Environment) -> str:
    """Delete what is stored of a kind, or of the repository at ``root``; return what could not be deleted.

    Raises:
        OSError: A file cannot be deleted.
        JournalError: The journal cannot be read.
    """
    match kind.name:
        case "journal":
            from upbeat.adapters.wiring import build_journal

            build_journal(environment).prune(_END_OF_TIME)
            for damaged in kind.folder(environment).glob("journal.damaged-*"):
                damaged.unlink()
        case "index":
            return _purge_indexes(kind, root, environment)
        case "habits" if root:
            from upbeat.adapters.system.config.learned import LocalLearnedHabits

            LocalLearnedHabits(environment.state_home).clear(root)
        case _:
            for path in kind.paths(environment):
                _delete(path)
    return ""


def _purge_indexes(kind: StoredKind, root: str, environment: Environment) -> str:
    """Delete the indexes and histories that no other process is writing."""
    from upbeat.adapters.code.index.store import exclusive_writer, repository_folder
    from upbeat.adapters.system.git.root import find_root

    folders = list((kind.folder(environment) / "index").glob("*"))
    if root:
        wanted = repository_folder(environment.state_home, find_root(root), root)
        folders = [folder for folder in folders if folder == wanted]
    busy = 0
    for folder in folders:
        with exclusive_writer(folder) as may_write:
            busy += not may_write
            if may_write:
                shutil.rmtree(folder)
    return f"{busy} indexes are being written now, and stay; run this again later" if busy else ""


def _delete(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _files(path: Path) -> Iterator[str]:
    if not path.is_dir() or path.is_symlink():
        yield str(path)
        return
    for folder, _, names in os.walk(path):
        yield from (os.path.join(folder, name) for name in names)
