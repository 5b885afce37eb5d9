"""Observations on disk: one private JSON file for each project, and one for the user.

Law: what is written was redacted first, is written whole or not at all, and by one process at a time. The name of a
file is a digest of the project's identity. ``record`` never raises and never waits long: an observation is not worth
a turn. A file that cannot be understood is set aside, not overwritten.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from ...core.errors import UserError
from ...core.observations import Observation, ObservationType, Sighting, graduate, observe, without
from ...core.turn.clean import clean
from . import atomic
from .git_root import find_root
from .lock import locked

FOLDER = "upbeat/observations"
EVERYWHERE = ""
"""The identity of the user's own list."""

MAX_BYTES = 4 * 1024 * 1024
MAX_TEXT = 200
LOCK_SECONDS = 0.5
SCHEMA_VERSION = "1.0"


def project_identity(root: str) -> str:
    """What tells the project at ``root`` from others: where its git keeps its objects, or the folder without git.

    Worktrees of one repository are one project. Found without a process and without reading history, because this is
    asked within a turn.
    """
    return find_root(root).common_dir or os.path.realpath(root)


class ObservationFiles:
    """The observations in ``<state_home>/upbeat/observations``."""

    def __init__(self, state_home: Path) -> None:
        self._folder = state_home / FOLDER

    def load(self, identity: str) -> tuple[Observation, ...]:
        """What is known of the project (or of ``EVERYWHERE``); nothing when its file cannot be read."""
        return _load(self._path(identity))

    def record(self, identity: str, sightings: Sequence[Sighting], now: float) -> bool:
        """Add ``sightings`` to the project, and to the user's list what has become sure; False when that failed."""
        if not sightings:
            return True
        washed = [_washed(sighting) for sighting in sightings]
        try:
            with self._locked():
                known = observe(self._kept(identity), washed, now)
                self._save(identity, known)
                everywhere = self._kept(EVERYWHERE)
                grown = graduate(everywhere, known, now)
                if grown != everywhere:
                    self._save(EVERYWHERE, grown)
        except (OSError, TimeoutError):
            return False
        return True

    def forget(self, identity: str, observation_id: str) -> bool:
        """Take one away, from the project and from the user's list; False when there is none. Raises OSError."""
        found = False
        with self._locked():
            for name in dict.fromkeys((identity, EVERYWHERE)):
                known = self.load(name)
                left = without(known, observation_id)
                if left != known:
                    self._save(name, left)
                    found = True
        return found

    def clear(self, identity: str) -> int:
        """Take all of a project's away; how many there were. Raises OSError."""
        with self._locked():
            known = self.load(identity)
            self._path(identity).unlink(missing_ok=True)
        return len(known)

    def _path(self, identity: str) -> Path:
        name = hashlib.sha256(identity.encode("utf-8", "replace")).hexdigest()[:32] if identity else "everywhere"
        return self._folder / f"{name}.json"

    def _kept(self, identity: str) -> tuple[Observation, ...]:
        """What is known; a file that is there and cannot be understood is set aside first.

        Raises OSError for one that the disk does not give: it is not to be taken for broken, or for empty.
        """
        path = self._path(identity)
        try:
            document = _stored(path)
        except FileNotFoundError:
            return ()
        if document is None:
            path.replace(path.with_suffix(".broken"))
            return ()
        return _observations(document)

    def _save(self, identity: str, known: Iterable[Observation]) -> None:
        path = self._path(identity)
        document = {
            "schema_version": SCHEMA_VERSION,
            "identity": clean(identity).text,
            "observations": [asdict(one) for one in known],
        }
        text = json.dumps(document, ensure_ascii=False, indent=1)
        atomic.write(path, text.encode("utf-8", "replace"), private=True)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """One process at a time. Raises TimeoutError when another one keeps the lock."""
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with locked(self._folder / ".lock", LOCK_SECONDS) as is_ours:
            if is_ours is False:
                raise UserLocked
            yield


class ProjectMemory:
    """Implements ``core.ports.Memory`` on the files of ``ObservationFiles``."""

    def __init__(self, state_home: Path) -> None:
        self._files = ObservationFiles(state_home)

    def known(self, root: str) -> tuple[Observation, ...]:
        return self._files.load(project_identity(root))

    def record(self, root: str, sightings: Sequence[Sighting], now: float) -> None:
        self._files.record(project_identity(root), sightings, now)


class UserLocked(UserError, TimeoutError):
    """Another process writes observations."""

    def __init__(self) -> None:
        super().__init__("another upbeat is writing observations; try again")


def _load(path: Path) -> tuple[Observation, ...]:
    try:
        return _observations(_stored(path) or {})
    except OSError:
        return ()


def _stored(path: Path) -> dict[str, Any] | None:
    """The document in ``path``; None where it is none of ours. Raises OSError."""
    if path.is_symlink() or path.stat().st_size > MAX_BYTES or not path.is_file():
        return None
    try:
        value = json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) and isinstance(value.get("observations"), list) else None


def _observations(document: dict[str, Any]) -> tuple[Observation, ...]:
    return tuple(one for row in document.get("observations", ()) if (one := _observation(row)))


def _observation(row: Any) -> Observation | None:
    """One row as an observation; None when it is none, or one of a later version's types."""
    try:
        one = Observation(
            str(row["id"]),
            ObservationType(row["type"]),
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
    return one if 0.0 <= one.confidence <= 1.0 and one.first_seen <= one.last_seen < 1e12 else None


def _washed(sighting: Sighting) -> Sighting:
    return replace(
        sighting,
        trigger=_line(sighting.trigger),
        action=_line(sighting.action),
        tag=_line(sighting.tag),
    )


def _line(text: str) -> str:
    return " ".join(clean(text).text.split())[:MAX_TEXT]
