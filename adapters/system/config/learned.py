"""Store learned habits: one private JSON file per project, and one for the user.

Invariant: content is redacted, written atomically, and by one process at a time. A file's name is a digest of the
project's identity. ``record`` never raises and never waits long. An invalid file is renamed, not overwritten.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from upbeat.adapters.system.files import atomic
from upbeat.adapters.system.files.lock import lock_private_file
from upbeat.adapters.system.git.root import find_root
from upbeat.core.learned.model import Habit, HabitObservation, HabitType, promote_habits, remove_habit, update_habits
from upbeat.core.sanitize.text import sanitize_text

FOLDER = "upbeat/observations"
EVERY_PROJECT = ""
"""In place of a root: the list of habits that hold in every project."""

MAX_BYTES = 4 * 1024 * 1024
MAX_TEXT_CHARS = 200
LOCK_SECONDS = 0.5
SCHEMA_VERSION = "1.0"


def project_identity(root: str) -> str:
    """Return the identity of the project at ``root``: its shared git directory, or the folder itself without git.

    The worktrees of a repository are one project. This starts no process and reads no history, because it runs in
    every turn. ``EVERY_PROJECT`` is its own identity.
    """
    return root and (find_root(root).common_dir or os.path.realpath(root))


class LocalLearnedHabits:
    """Implements ``core.engine.ports.LearnedHabits`` on the files in ``<state_home>/upbeat/observations``.

    A ``root`` is that of a project, or ``EVERY_PROJECT``.
    """

    def __init__(self, state_home: Path) -> None:
        self._folder = state_home / FOLDER

    def load(self, root: str) -> tuple[Habit, ...]:
        """Return the habits of the project; none if the file cannot be read."""
        try:
            return _parse_observations(_read_stored(self._path(root)) or {})
        except OSError:
            return ()

    def record(self, root: str, observations: Sequence[HabitObservation], now: float) -> None:
        """Add observations to the project, and established habits to the user's list. Never raises."""
        if not observations:
            return
        sanitized = [_sanitize_observation(observation) for observation in observations]
        with suppress(OSError), self._locked():
            habits = update_habits(self._load_for_update(root), sanitized, now)
            self._save(root, habits)
            user_habits = self._load_for_update(EVERY_PROJECT)
            promoted = promote_habits(user_habits, habits, now)
            if promoted != user_habits:
                self._save(EVERY_PROJECT, promoted)

    def forget(self, root: str, habit_id: str) -> bool:
        """Remove a habit from the project and the user's list; return whether there was one. Raises OSError."""
        is_removed = False
        with self._locked():
            for place in dict.fromkeys((root, EVERY_PROJECT)):
                habits = self.load(place)
                rest = remove_habit(habits, habit_id)
                if rest != habits:
                    self._save(place, rest)
                    is_removed = True
        return is_removed

    def clear(self, root: str) -> int:
        """Remove all habits of a project; return their number. Raises OSError."""
        with self._locked():
            count = len(self.load(root))
            self._path(root).unlink(missing_ok=True)
        return count

    def _path(self, root: str) -> Path:
        identity = project_identity(root)
        name = hashlib.sha256(identity.encode("utf-8", "replace")).hexdigest()[:32] if identity else "everywhere"
        return self._folder / f"{name}.json"

    def _load_for_update(self, root: str) -> tuple[Habit, ...]:
        """Return the habits; rename an invalid file first. Raises OSError if the file cannot be read."""
        path = self._path(root)
        try:
            document = _read_stored(path)
        except FileNotFoundError:
            return ()
        if document is None:
            path.replace(path.with_suffix(".broken"))
            return ()
        return _parse_observations(document)

    def _save(self, root: str, habits: Iterable[Habit]) -> None:
        document = {
            "schema_version": SCHEMA_VERSION,
            "identity": sanitize_text(project_identity(root)).text,
            "observations": [asdict(habit) for habit in habits],
        }
        text = json.dumps(document, ensure_ascii=False, indent=1)
        atomic.write_file(self._path(root), text.encode("utf-8", "replace"), is_private=True)

    def _locked(self) -> AbstractContextManager[None]:
        """Hold the lock of all lists. Raises TimeoutError if another process keeps it."""
        return lock_private_file(self._path(EVERY_PROJECT), LOCK_SECONDS)


def _read_stored(path: Path) -> dict[str, Any] | None:
    """Return the document in ``path``; None if it is invalid. Raises OSError."""
    if path.is_symlink() or path.stat().st_size > MAX_BYTES or not path.is_file():
        return None
    try:
        value = json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) and isinstance(value.get("observations"), list) else None


def _parse_observations(document: dict[str, Any]) -> tuple[Habit, ...]:
    return tuple(habit for row in document.get("observations", ()) if (habit := _parse_observation(row)))


def _parse_observation(row: Any) -> Habit | None:
    """Parse one row; return None if it is invalid or has an unknown type."""
    try:
        habit = Habit(
            str(row["id"]),
            HabitType(row["type"]),
            str(row["trigger"]),
            str(row["action"]),
            str(row["tag"]),
            float(row["confidence"]),
            int(row["count"]),
            float(row["first_seen"]),
            float(row["last_seen"]),
        )
    except (TypeError, KeyError, ValueError, OverflowError):
        return None
    return habit if 0.0 <= habit.confidence <= 1.0 and habit.first_seen <= habit.last_seen < 1e12 else None


def _sanitize_observation(observation: HabitObservation) -> HabitObservation:
    trigger, action, tag = (
        " ".join(sanitize_text(text).text.split())[:MAX_TEXT_CHARS]
        for text in (observation.trigger, observation.action, observation.tag)
    )
    return replace(observation, trigger=trigger, action=action, tag=tag)
