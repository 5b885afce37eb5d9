"""``specs/features`` on disk. Law: nothing outside the repository is read or written, and nothing is overwritten.

A folder moves in one rename. A file changes in one replacement, under a lock on its folder: two agents may tick at
the same time. The four methods of ``core.ports.Workspace`` that are here never raise; the others raise ``UserError``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ...core.errors import UserError
from ...core.workflow.registry import Registry, Workflow
from ...core.workflow.specs import (
    FEATURES,
    FOLDERS,
    LIVE,
    MOVES,
    Status,
    archive_name,
    archived,
    bdd_text,
    is_feature,
    name_problem,
    refusal,
    tasks_text,
)
from ...core.workflow.tasks import Tasks
from . import atomic
from .documents import read_content
from .lock import take
from .opening import real_path

if TYPE_CHECKING:
    from ...core.ports import Clock

TASKS = "tasks.md"
BDD = "bdd.md"
MAX_BYTES = 1024 * 1024
LOCK_SECONDS = 4.0
"""How long somebody else's lock is waited for; then the file is changed without one. Each holder writes one small file
through to the disk, which takes a busy one tens of milliseconds."""
MAX_FEATURES = 1000


@dataclass(frozen=True, slots=True)
class Feature:
    """One feature. ``folder`` is absolute; ``day`` is when it was archived; ``tasks`` is its ``tasks.md``."""

    name: str
    status: Status
    folder: Path
    day: str = ""
    tasks: Tasks | None = None


class SpecFiles:
    """The features of repositories; ``root`` is always real and absolute."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    # core.ports.Workspace

    def tasks(self, root: str, feature: str) -> str | None:
        """The text of the feature's ``tasks.md``, wherever it stands but in the archive; None when there is none."""
        found = _live(root, feature)
        text = _read(root, found.folder / TASKS) if found else None
        return None if text is None else text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")

    def tick(self, root: str, feature: str, boxes: tuple[str, ...]) -> None:
        """Tick the open boxes of the feature's ``tasks.md`` that answer to one of ``boxes``."""
        if found := _live(root, feature):
            _change_tasks(root, found.folder, lambda tasks: tasks.tick(boxes))

    def archive(self, root: str, feature: str) -> None:
        """Move the feature to the archive, if it is in progress."""
        found = _live(root, feature)
        if found and found.status is Status.IN_PROGRESS:
            try:
                self._move(root, found, Status.ARCHIVED)
            except (UserError, OSError):
                return  # the work is done; where its notes lie is not worth a turn

    def in_progress(self, root: str) -> tuple[str, ...]:
        """The names of the features in progress, sorted."""
        return self.named(root, Status.IN_PROGRESS)

    def named(self, root: str, status: Status) -> tuple[str, ...]:
        """The names of the features of that status, sorted; never raises."""
        return tuple(feature.name for feature in _features(root, status))

    # for people

    def features(self, root: str) -> tuple[Feature, ...]:
        """All features, with their tasks: those in progress first, those in the archive last."""
        return tuple(_with_tasks(root, feature) for status in Status for feature in _features(root, status))

    def find(self, root: str, name: str) -> Feature:
        """The feature called ``name``; of several that are in the archive the latest."""
        if problem := name_problem(name):
            raise UserError(problem)
        found = _live(root, name)
        if found is None:
            put_away = [feature for feature in _features(root, Status.ARCHIVED) if feature.name == name]
            if not put_away:
                raise UserError(f"no feature '{name}' in {FEATURES}; upbeat specs list shows all")
            found = put_away[-1]
        return _with_tasks(root, found)

    def create(
        self, root: str, name: str, workflow: Workflow, registry: Registry, status: Status, language: str
    ) -> Feature:
        """A new feature with the files that its workflow has."""
        if problem := name_problem(name):
            raise UserError(problem)
        if (there := _live(root, name)) is not None:
            raise UserError(f"there is a feature '{name}' already: {_shown(root, there.folder)}")
        texts = {TASKS: tasks_text(name, workflow, registry, status, self._day(), language)}
        if "bdd" in workflow.files:
            texts[BDD] = bdd_text(name, language)
        folder = _folder(root, status, make=True) / name
        if os.path.lexists(folder):
            raise UserError(
                f"{_shown(root, folder)} is there already, and is no feature; move it away or choose a name"
            )
        atomic.write_folder(folder, {file: text.encode() for file, text in texts.items()})
        return _with_tasks(root, Feature(name, status, folder))

    def move(self, root: str, name: str, verb: str) -> Feature:
        """Send the feature where ``verb`` of ``core.workflow.specs.MOVES`` says."""
        feature = self.find(root, name)
        if no := refusal(verb, name, feature.status):
            raise UserError(no)
        return self._move(root, feature, MOVES[verb].to)

    def _move(self, root: str, feature: Feature, to: Status) -> Feature:
        parent = _folder(root, to, make=True)
        day = self._day() if to is Status.ARCHIVED else ""
        target = parent / (archive_name(feature.name, day, _names(parent)) if day else feature.name)
        if os.path.lexists(target):
            raise UserError(f"{_shown(root, target)} is there already; move it away first")
        feature.folder.rename(target)
        _change_tasks(root, target, lambda tasks: tasks.with_field("status", to))
        return _with_tasks(root, Feature(feature.name, to, target, day))

    def _day(self) -> str:
        return self._clock.now().date().isoformat()


# Finding


def _live(root: str, name: str) -> Feature | None:
    """The feature that is not in the archive; where it stands twice, the one that is further on."""
    if not is_feature(name):
        return None
    for status in LIVE:
        folder = Path(root, FOLDERS[status], name)
        if _is_own_folder(root, folder):
            return Feature(name, status, folder)
    return None


def _features(root: str, status: Status) -> Iterator[Feature]:
    parent = Path(root, FOLDERS[status])
    if not _is_own_folder(root, parent):
        return
    for entry in sorted(_names(parent))[:MAX_FEATURES]:
        day, name = (archived(entry) or ("", "")) if status is Status.ARCHIVED else ("", entry)
        if is_feature(name) and _is_own_folder(root, parent / entry):
            yield Feature(name, status, parent / entry, day)


def _with_tasks(root: str, feature: Feature) -> Feature:
    text = _read(root, feature.folder / TASKS)
    tasks = None if text is None else Tasks.parse(text)
    return Feature(feature.name, feature.status, feature.folder, feature.day, tasks)


def _folder(root: str, status: Status, *, make: bool = False) -> Path:
    """The folder of that status, made if it is to be."""
    path = Path(root, FOLDERS[status])
    if not _is_inside(root, path):
        raise UserError(f"{FOLDERS[status]} leads out of {root}; make it a folder of the repository")
    if make:
        path.mkdir(parents=True, exist_ok=True)
    return path


def _names(folder: Path) -> set[str]:
    try:
        return set(os.listdir(folder))
    except OSError:
        return set()


def _is_own_folder(root: str, path: Path) -> bool:
    return path.is_dir() and _is_inside(root, path)


def _is_inside(root: str, path: Path) -> bool:
    """Whether ``path``, wherever links lead, lies below ``root``."""
    return Path(root) in Path(real_path(path)).parents


def _shown(root: str, path: Path) -> str:
    return str(path.relative_to(root))


# Reading and changing


def _read(root: str, path: Path) -> str | None:
    """The file's text, with its bytes that are no UTF-8 as surrogates; None for what is no readable file of ours."""
    content = read_content(path, root, MAX_BYTES)
    return None if content.problem else content.data.decode("utf-8", "surrogateescape")


def _change_tasks(root: str, folder: Path, change: Callable[[Tasks], Tasks]) -> None:
    """Replace ``tasks.md`` by what ``change`` makes of it; what cannot be changed stays as it is."""
    path = Path(real_path(folder / TASKS))
    try:
        with _locked(folder):
            text = _read(root, path)
            if text is None:
                return
            after = change(Tasks.parse(text)).text
            if after != text:
                atomic.write(path, after.encode("utf-8", "surrogateescape"))
    except OSError:
        return


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        take(descriptor, LOCK_SECONDS)
        yield
    finally:
        os.close(descriptor)
