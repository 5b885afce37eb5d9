"""Plan an installation file by file, before anything is changed.

Invariant: planning writes nothing. An uninstall restores what was there before the first installation, over any number
of upgrades. An installation without a receipt is recognized by its files.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from upbeat import __version__
from upbeat.adapters.install.disk import FileChange, missing_folders, read_own_folder, read_regular_file, resolve_link
from upbeat.adapters.install.plugin import DesiredInstallation, Route, SettingsEdit
from upbeat.adapters.install.receipt import FileReceipt, Receipt, read_receipt, receipt_path
from upbeat.adapters.system.environment import Environment
from upbeat.adapters.system.files.settings_edit import (
    NotEditableError,
    has_entry,
    insert_entries,
    remove_entries,
    remove_key_paths,
)
from upbeat.core.errors import UserError


@dataclass(frozen=True, slots=True)
class InstallationPlan:
    """File changes in their order, and the receipt as read, before the first change, and after the last.

    A receipt that does not exist is None.
    """

    client: str
    changes: tuple[FileChange, ...]
    stored_receipt: Receipt | None
    pending_receipt: Receipt | None
    final_receipt: Receipt | None
    removable_folders: tuple[Path, ...] = ()
    """Folders to remove if they are empty then, outer ones first."""
    drifts: tuple[Drift, ...] = ()
    """Files changed since the install that an uninstall cannot restore."""
    kept: tuple[Path, ...] = ()
    """Files changed since the install that an uninstall leaves alone."""
    merged: tuple[Path, ...] = ()
    """Files changed since the install that lose only upbeat's entries in an uninstall."""
    own_folders: tuple[Path, ...] = ()
    """Folders that only upbeat writes to."""

    @property
    def is_up_to_date(self) -> bool:
        """Whether there is nothing to do."""
        return not self.changes and self.stored_receipt == self.final_receipt

    def draft_folders(self) -> set[Path]:
        """Return the folders in which a killed run may have left a draft."""
        known = [receipt for receipt in (self.stored_receipt, self.pending_receipt) if receipt]
        paths = [*(change.path for change in self.changes), *(file.path for receipt in known for file in receipt.files)]
        return {path.parent for path in paths}


@dataclass(frozen=True, slots=True)
class Drift:
    """A file that is no longer as an install left it, and why it cannot be restored."""

    path: Path
    installed: bytes | None
    current: bytes | None
    reason: str = ""


@dataclass(slots=True)
class _PlanBuilder:
    """Collects the files and changes of a plan."""

    previous: Receipt
    files: list[FileReceipt] = field(default_factory=list)
    changes: list[FileChange] = field(default_factory=list)

    def add(self, file: FileReceipt, now: bytes | None) -> None:
        """Add ``file``, which is to have the content ``after``; ``now`` is its current content."""
        if now != file.after:
            self.changes.append(FileChange(file.path, now, file.after, bool(file.format)))
            file = replace(file, earlier=(now,) if now is not None and now != file.before else ())
        self.files.append(file)


def plan_install(client: str, desired: DesiredInstallation, environment: Environment, route: Route) -> InstallationPlan:
    """Return the plan that reaches ``desired``.

    Raises:
        UserError: Something on the disk prevents it.
    """
    stored = read_receipt(environment, client)
    draft = _PlanBuilder(
        _with_current_paths(stored)
        or infer_receipt(client, desired, environment)
        or Receipt(client, route, __version__)
    )
    folders: set[Path] = set()
    for folder, own in desired.own_folders.items():
        folders |= _plan_own_folder(draft, resolve_link(folder), own)
    for path, data in desired.files.items():
        _plan_whole_file(draft, resolve_link(path), data)
    for edit in desired.edits:
        _plan_settings(draft, edit)
    _plan_obsolete_files(draft, desired)
    paths = [receipt_path(environment, client), *(file.path for file in draft.files)]
    folders |= {*draft.previous.folders, *missing_folders(paths), *_previously_made_folders(client, environment, paths)}
    receipt = Receipt(client, route, __version__, tuple(draft.files), _current_folders(folders))
    changed = (replace(file, earlier=()) for file in receipt.files if file.before != file.after)
    final = replace(receipt, files=tuple(changed))
    begun = receipt if draft.changes else final
    left_over, ours = tuple(_emptied_folders(draft, desired)), tuple(map(resolve_link, desired.own_folders))
    return InstallationPlan(client, tuple(draft.changes), stored, begun, final, left_over, own_folders=ours)


def plan_uninstall(client: str, desired: DesiredInstallation, environment: Environment) -> InstallationPlan | None:
    """Return the plan that takes upbeat out; None if nothing is installed.

    A file that is as the install left it gets its bytes from before. A settings file that was changed since keeps those
    changes and loses only upbeat's entries; any other changed file is left alone.

    Raises:
        UserError: Something on the disk prevents it.
    """
    stored = read_receipt(environment, client)
    receipt = _with_current_paths(stored) or infer_receipt(client, desired, environment)
    if receipt is None:
        return None
    edits = {resolve_link(edit.path): edit for edit in desired.edits}
    ours = {} if stored else _own_files(desired)
    changes, drifted, kept, merged = [], [], [], []
    for file in sorted(receipt.files, key=lambda file: (file.is_own, not file.format)):
        now = read_regular_file(file.path)
        if now == file.before:
            continue
        try:
            data = _restored_content(file, now, edits.get(file.path))
        except NotEditableError as error:
            drifted.append(Drift(file.path, file.after, now, str(error)))
            continue
        if data == now:
            kept += [file.path] if now is not None else []
        else:
            is_foreign = ours.get(file.path, now) != now
            changes.append(FileChange(file.path, now, data, bool(file.format), is_foreign))
            merged += [file.path] if data != file.before else []
    own = tuple(map(resolve_link, desired.own_folders))
    return InstallationPlan(
        client, tuple(changes), stored, stored, None, receipt.folders, tuple(drifted), tuple(kept), tuple(merged), own
    )


def _with_current_paths(stored: Receipt | None) -> Receipt | None:
    """Return ``stored`` with the paths that links lead to now: a file, or a folder above it, may have been moved since
    the install and replaced by a link. A link in one of upbeat's folders is not upbeat's, and stays."""
    if stored is None:
        return None
    found: dict[Path, FileReceipt] = {}
    for file in stored.files:
        path = resolve_link(file.path.parent) / file.path.name if file.is_own else resolve_link(file.path)
        if path not in found or path == file.path:
            found[path] = replace(file, path=path)
    return replace(stored, files=tuple(found.values()), folders=_current_folders(stored.folders))


def _current_folders(folders: Iterable[Path]) -> tuple[Path, ...]:
    """Return ``folders`` with links resolved, outer ones first. One that was replaced by a link is the user's now."""
    return tuple(sorted({resolve_link(folder) for folder in folders if not folder.is_symlink()}))


def infer_receipt(client: str, desired: DesiredInstallation, environment: Environment) -> Receipt | None:
    """Return a receipt for an installation whose receipt is missing; None if there is no sign of one: no file as upbeat
    writes it in its folders, and no settings file with all of its entries."""
    own = _own_files_present(desired)
    edits = [file for edit in desired.edits if (file := _inferred_settings(edit, requires_all=not own))]
    if not own and not edits:
        return None
    files = [FileReceipt(path, None, data, is_own=True) for path, data in own.items()]
    copies = {*own.values(), *desired.files.values()}
    for path in map(resolve_link, desired.files):
        now = read_regular_file(path)
        if now in copies:
            files.append(FileReceipt(path, None, now))
    folders = {receipt_path(environment, client).parent.parent}
    for folder in map(resolve_link, desired.own_folders):
        folders |= _folders_needed(folder, (path for path in own if path.is_relative_to(folder)))
    return Receipt(client, "", "", (*files, *edits), _current_folders(folders))


def _own_files(desired: DesiredInstallation) -> dict[Path, bytes]:
    """Return the files that upbeat writes into its own folders."""
    return {
        resolve_link(folder) / name: data for folder, own in desired.own_folders.items() for name, data in own.items()
    }


def _own_files_present(desired: DesiredInstallation) -> dict[Path, bytes]:
    """Return the files in upbeat's folders under names that it writes, if at least one has the bytes that it writes.

    Otherwise return nothing: an uninstall leaves changed files, which are no longer upbeat's.
    """
    ours = _own_files(desired)
    there = {
        path: data
        for folder in desired.own_folders
        for path, data in read_own_folder(resolve_link(folder)).items()
        if path in ours
    }
    return there if any(data == ours[path] for path, data in there.items()) else {}


def _inferred_settings(edit: SettingsEdit, *, requires_all: bool) -> FileReceipt | None:
    """Return the receipt of a settings file that has some (with ``requires_all``: all) of upbeat's entries, else None.

    With ``requires_all``, return None for a file that cannot be read, too.
    """
    try:
        path = resolve_link(edit.path)
        now = read_regular_file(path)
        places = tuple(part.key_path for part in edit.entries if has_entry(edit.format, now, part))
        if now is None or not places or (requires_all and len(places) < len(edit.entries)):
            return None
        return FileReceipt(path, remove_key_paths(edit.format, now, places), now, format=edit.format, key_paths=places)
    except UserError as error:
        if requires_all or isinstance(error, NotEditableError):
            return None
        raise


def _plan_own_folder(builder: _PlanBuilder, folder: Path, own: Mapping[str, bytes]) -> set[Path]:
    """Plan that ``folder`` holds exactly ``own``; return it and all folders in it."""
    there = read_own_folder(folder)
    files = {folder / name: data for name, data in own.items()}
    for path, data in files.items():
        builder.add(FileReceipt(path, None, data, is_own=True), there.get(path))
    for path in sorted(there.keys() - files.keys()):
        known = builder.previous.for_path(path)
        if known and known.is_ours(there[path]):
            builder.add(FileReceipt(path, None, None, is_own=True), there[path])
        else:
            builder.changes.append(FileChange(path, there[path], None, is_foreign=True))
    return _folders_needed(folder, (*files, *there))


def _folders_needed(folder: Path, paths: Iterable[Path]) -> set[Path]:
    """Return ``folder`` and the folders in it that contain ``paths``."""
    folders = {folder}
    for path in paths:
        parent = path.parent
        while parent not in folders:
            folders.add(parent)
            parent = parent.parent
    return folders


def _plan_whole_file(builder: _PlanBuilder, path: Path, data: bytes) -> None:
    """Plan the file ``path`` with the content ``data`` in a folder of the user."""
    now, known = read_regular_file(path), builder.previous.for_path(path)
    if known is None and now == data:
        return  # it was there before upbeat, and stays
    is_as_left = known is not None and (now in (known.before, data) or known.is_ours(now))
    builder.add(FileReceipt(path, known.before if known and is_as_left else now, data), now)


def _plan_settings(builder: _PlanBuilder, edit: SettingsEdit) -> None:
    """Plan upbeat's entries in a settings file of the user."""
    path = resolve_link(edit.path)
    now, known = read_regular_file(path), builder.previous.for_path(path)
    try:
        new = insert_entries(edit.format, now, edit.entries)
    except NotEditableError as error:
        fix = "correct it there and try again; " if str(error).startswith("line ") else ""
        raise UserError(f"{edit.path}: {error}\n{fix}nothing was changed") from error
    places = tuple(part.key_path for part in edit.entries)
    if new == now and known is None:
        return
    if new == now and known and not known.is_ours(now):
        builder.files.append(known)  # another program changed it, and kept upbeat's entries
        return
    before = now
    if known is not None and (now == known.before or known.is_ours(now)):
        before = known.before
    elif known is not None and now is not None:
        with contextlib.suppress(NotEditableError):
            before = remove_entries(known.format, known.key_paths, (known.before, known.after, now))
    builder.add(FileReceipt(path, before, new, format=edit.format, key_paths=places), now)


def _plan_obsolete_files(builder: _PlanBuilder, desired: DesiredInstallation) -> None:
    """Plan the removal of files that only an earlier install wrote. Files in another home folder stay."""
    seen = {file.path for file in builder.files}
    here = {resolve_link(path).parent for path in desired.files}
    own = tuple(map(resolve_link, desired.own_folders))
    for known in builder.previous.files:
        if known.path in seen or any(known.path.is_relative_to(folder) for folder in own):
            continue
        if known.path.parent not in here:
            builder.files.append(known)
            continue
        now = read_regular_file(known.path)
        if known.is_ours(now):
            builder.add(replace(known, after=known.before), now)


def _previously_made_folders(client: str, environment: Environment, paths: list[Path]) -> Iterator[Path]:
    """Yield upbeat's existing folders: those of the data folder, and those that another client's install made."""
    place = receipt_path(environment, client)
    yield from (place.parent, place.parent.parent)
    for other in sorted(place.parent.glob("*.json")):
        receipt = read_receipt(environment, other.stem) if other != place else None
        for folder in _current_folders(receipt.folders) if receipt else ():
            if any(path.is_relative_to(folder) for path in paths):
                yield folder


def _emptied_folders(builder: _PlanBuilder, desired: DesiredInstallation) -> Iterator[Path]:
    """Yield upbeat's folders that an upgrade empties."""
    kept = _folders_needed(Path("/"), (file.path for file in builder.files if file.after is not None))
    own = tuple(map(resolve_link, desired.own_folders))
    for folder in builder.previous.folders:
        if folder not in kept and any(folder.is_relative_to(own_folder) for own_folder in own):
            yield folder


def _restored_content(file: FileReceipt, now: bytes | None, edit: SettingsEdit | None) -> bytes | None:
    """Return the restored content of ``file``, or ``now`` to leave it alone.

    Raises:
        NotEditableError: upbeat's entries cannot be taken out of a settings file.
    """
    if file.is_ours(now):
        return file.before
    if not file.format or now is None:
        return now
    return remove_entries(
        file.format, file.key_paths, (file.before, file.after, now), edit.client_key_prefixes if edit else ()
    )
