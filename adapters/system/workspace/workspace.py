"""The working tree of workflows: its digest and the features in ``specs/features``.

Invariant: nothing outside the repository is read or written, and nothing is overwritten. A folder moves in one rename;
a file changes in one atomic replacement under a lock on its folder, because two agents may check boxes at once.
The methods of ``ports.Workspace`` never raise; the others raise ``UserError``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from upbeat.adapters.system.files import atomic
from upbeat.adapters.system.files.bounded_read import read_content
from upbeat.adapters.system.files.lock import try_lock
from upbeat.adapters.system.files.safe_open import real_path
from upbeat.core.errors import UserError
from upbeat.core.workflow import specs
from upbeat.core.workflow.registry import Registry, Workflow
from upbeat.core.workflow.specs import FeatureStatus
from upbeat.core.workflow.tasks import TasksFile

if TYPE_CHECKING:
    from upbeat.core.engine.ports import Clock

TASKS_FILE = "tasks.md"
BDD_FILE = "bdd.md"
MAX_TASKS_BYTES = 1024 * 1024
LOCK_SECONDS = 4.0
"""Maximum wait for the lock; then the file is changed without it. A holder writes one small file, which takes tens of
milliseconds on a busy disk."""
MAX_FEATURES = 1000


@dataclass(frozen=True, slots=True)
class Feature:
    """One feature. ``folder`` is absolute; ``archived_on`` is a date; ``tasks`` is its ``tasks.md``."""

    name: str
    status: FeatureStatus
    folder: Path
    archived_on: str = ""
    tasks: TasksFile | None = None


class LocalWorkspace:
    """Implements ``core.engine.ports.Workspace``, and the features commands; ``root`` is real and absolute."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    # core.engine.ports.Workspace

    def tree_digest(self, root: str) -> str:
        """Return a digest of all files of the working tree; empty if that takes too long."""
        from upbeat.adapters.system.git.tree_digest import tree_digest

        return tree_digest(root)

    def base_commit(self, root: str) -> str:
        """Return the commit that is checked out; empty if there is none. Starts no process."""
        from upbeat.adapters.system.git.root import find_root, read_head

        return read_head(find_root(root))

    def changed_files(self, root: str, since: str) -> tuple[str, ...] | None:
        """Return the files that differ from the commit ``since``, or from the last one if that is empty."""
        from upbeat.adapters.system.workspace.uncommitted import MAX_CHANGED_SINCE, changed_files

        changed = changed_files(root, since, MAX_CHANGED_SINCE)
        return None if changed is None else tuple(file.path for file in changed)

    def read_tasks(self, root: str, feature: str) -> str | None:
        """Return the text of the feature's ``tasks.md``; None if the feature is archived or has none."""
        live = _find_live_feature(root, feature)
        text = _read_text(root, live.folder / TASKS_FILE) if live else None
        return None if text is None else text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")

    def tick_tasks(self, root: str, feature: str, boxes: tuple[str, ...]) -> None:
        """Check the open boxes of the feature's ``tasks.md`` that match one of ``boxes``."""
        if live := _find_live_feature(root, feature):
            _change_tasks(root, live.folder, lambda tasks: tasks.tick(boxes))

    def tick_subtask(self, root: str, feature: str, title: str, occurrence: int = 1) -> None:
        """Check the open box with this text in the feature's ``tasks.md``, and those below it."""
        if live := _find_live_feature(root, feature):
            _change_tasks(root, live.folder, lambda tasks: tasks.tick_subtask(title, occurrence))

    def archive_feature(self, root: str, feature: str) -> None:
        """Move the feature to the archive if it is in progress. A failure is ignored: the work itself is done."""
        self._move_from(root, feature, FeatureStatus.IN_PROGRESS, FeatureStatus.ARCHIVED)

    def start_feature(self, root: str, feature: str) -> None:
        """Move the feature from the backlog to those in progress. A failure is ignored: its folder is still found."""
        self._move_from(root, feature, FeatureStatus.BACKLOG, FeatureStatus.IN_PROGRESS)

    def _move_from(self, root: str, feature: str, status: FeatureStatus, to_status: FeatureStatus) -> None:
        live = _find_live_feature(root, feature)
        if live and live.status is status:
            with suppress(UserError, OSError):
                self._move_folder(root, live, to_status)

    def features_in_progress(self, root: str) -> tuple[str, ...]:
        """Return the names of the features in progress, sorted."""
        return self.names_with_status(root, FeatureStatus.IN_PROGRESS)

    def features_in_backlog(self, root: str) -> tuple[str, ...]:
        """Return the names of the features in the backlog, sorted."""
        return self.names_with_status(root, FeatureStatus.BACKLOG)

    def names_with_status(self, root: str, status: FeatureStatus) -> tuple[str, ...]:
        """Return the names of the features with that status, sorted."""
        return tuple(feature.name for feature in _iter_features(root, status))

    # commands of users

    def list_features(self, root: str) -> tuple[Feature, ...]:
        """Return all features with their tasks, those in progress first and archived ones last."""
        return tuple(_with_tasks(root, feature) for status in FeatureStatus for feature in _iter_features(root, status))

    def find(self, root: str, name: str) -> Feature:
        """Return the feature called ``name``; of several archived ones, the latest."""
        if problem := specs.feature_name_problem(name):
            raise UserError(problem)
        feature = _find_live_feature(root, name)
        if feature is None:
            archived = [other for other in _iter_features(root, FeatureStatus.ARCHIVED) if other.name == name]
            if not archived:
                raise UserError(f"no feature '{name}' in {specs.FEATURES_FOLDER}; upbeat features list shows all")
            feature = archived[-1]
        return _with_tasks(root, feature)

    def create(
        self, root: str, name: str, workflow: Workflow, registry: Registry, status: FeatureStatus, language: str
    ) -> Feature:
        """Create a feature with the files of its workflow."""
        if problem := specs.feature_name_problem(name):
            raise UserError(problem)
        if (existing := _find_live_feature(root, name)) is not None:
            raise UserError(f"feature '{name}' already exists: {existing.folder.relative_to(root)}")
        texts = {TASKS_FILE: specs.render_new_tasks(name, workflow, registry, status, self._today(), language)}
        if "bdd" in workflow.files:
            texts[BDD_FILE] = specs.render_new_bdd(name, language)
        folder = _status_folder(root, status, create=True) / name
        if os.path.lexists(folder):
            raise UserError(f"{folder.relative_to(root)} exists but is not a feature; move it or choose another name")
        atomic.write_folder(folder, {file: text.encode() for file, text in texts.items()})
        return _with_tasks(root, Feature(name, status, folder))

    def move(self, root: str, name: str, transition: str) -> Feature:
        """Apply a transition of ``core.workflow.specs.STATUS_TRANSITIONS`` to the feature."""
        feature = self.find(root, name)
        if problem := specs.transition_problem(transition, name, feature.status):
            raise UserError(problem)
        return self._move_folder(root, feature, specs.STATUS_TRANSITIONS[transition].to_status)

    def _move_folder(self, root: str, feature: Feature, to_status: FeatureStatus) -> Feature:
        parent = _status_folder(root, to_status, create=True)
        day = self._today() if to_status is FeatureStatus.ARCHIVED else ""
        target = parent / (specs.archive_folder_name(feature.name, day, _list_names(parent)) if day else feature.name)
        if os.path.lexists(target):
            raise UserError(f"{target.relative_to(root)} already exists; move it first")
        feature.folder.rename(target)
        _change_tasks(root, target, lambda tasks: tasks.with_field("status", to_status))
        return _with_tasks(root, Feature(feature.name, to_status, target, day))

    def _today(self) -> str:
        return self._clock.now().date().isoformat()


# Lookup


def _find_live_feature(root: str, name: str) -> Feature | None:
    """Return the feature that is not archived; of duplicates, the one with the more advanced status."""
    if not specs.is_feature_name(name):
        return None
    for status in specs.LIVE_STATUSES:
        folder = Path(root, specs.STATUS_FOLDERS[status], name)
        if _is_own_folder(root, folder):
            return Feature(name, status, folder)
    return None


def _iter_features(root: str, status: FeatureStatus) -> Iterator[Feature]:
    parent = Path(root, specs.STATUS_FOLDERS[status])
    if not _is_own_folder(root, parent):
        return
    for entry in sorted(_list_names(parent))[:MAX_FEATURES]:
        day, name = "", entry
        if status is FeatureStatus.ARCHIVED:
            day, name = specs.parse_archive_folder_name(entry) or ("", "")
        if specs.is_feature_name(name) and _is_own_folder(root, parent / entry):
            yield Feature(name, status, parent / entry, day)


def _with_tasks(root: str, feature: Feature) -> Feature:
    text = _read_text(root, feature.folder / TASKS_FILE)
    tasks = None if text is None else TasksFile.parse(text)
    return Feature(feature.name, feature.status, feature.folder, feature.archived_on, tasks)


def _status_folder(root: str, status: FeatureStatus, *, create: bool = False) -> Path:
    """Return the folder of that status; ``create`` makes it."""
    path = Path(root, specs.STATUS_FOLDERS[status])
    if not _is_inside(root, path):
        raise UserError(f"{specs.STATUS_FOLDERS[status]} is outside {root}; make it a folder of the repository")
    if create:
        path.mkdir(parents=True, exist_ok=True)
    return path


def _list_names(folder: Path) -> set[str]:
    try:
        return set(os.listdir(folder))
    except OSError:
        return set()


def _is_own_folder(root: str, path: Path) -> bool:
    return path.is_dir() and _is_inside(root, path)


def _is_inside(root: str, path: Path) -> bool:
    """Return whether ``path``, with links resolved, is below ``root``."""
    return Path(root) in Path(real_path(path)).parents


# Files


def _read_text(root: str, path: Path) -> str | None:
    """Return the file's text, with invalid UTF-8 as surrogates; None if it is not a readable file below ``root``."""
    content = read_content(path, root, MAX_TASKS_BYTES)
    return None if content.problem else content.data.decode("utf-8", "surrogateescape")


def _change_tasks(root: str, folder: Path, change: Callable[[TasksFile], TasksFile]) -> None:
    """Replace ``tasks.md`` with the result of ``change``; a file that cannot be changed stays unchanged."""
    path = Path(real_path(folder / TASKS_FILE))
    try:
        with _folder_lock(folder):
            text = _read_text(root, path)
            if text is None:
                return
            after = change(TasksFile.parse(text)).text
            if after != text:
                atomic.write_file(path, after.encode("utf-8", "surrogateescape"))
    except OSError:
        return


@contextmanager
def _folder_lock(folder: Path) -> Iterator[None]:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        try_lock(descriptor, LOCK_SECONDS)
        yield
    finally:
        os.close(descriptor)
