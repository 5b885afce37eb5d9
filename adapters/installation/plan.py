"""What an installation will do, file by file, before anything is touched. Law: it only looks, and only decides.

What was there before the first installation stays what an uninstall gives back, over any number of upgrades. An
installation without a receipt counts as ours: what is put where is known, and found again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from ... import __version__
from ...core.errors import UserError
from ..local.environment import Environment
from ..local.receipt import FileReceipt, Receipt, read_receipt, receipt_path
from ..local.settings_edit import NotEditable, put_in, says, take_out, without
from ..plugin import Edit, Route, Wanted
from .disk import Change, content, contents, missing_folders, real


@dataclass(frozen=True, slots=True)
class Plan:
    """``changes`` in their order. ``stored`` is the receipt as it was read, ``receipt`` the one that has to stand there
    before the first change, and ``afterwards`` the one that stands there after the last; None is none."""

    client: str
    changes: tuple[Change, ...]
    stored: Receipt | None
    receipt: Receipt | None
    afterwards: Receipt | None
    folders: tuple[Path, ...] = ()
    """What is taken away when it is empty then, outer ones first."""
    drifted: tuple[Drift, ...] = ()
    """Of an uninstall: what was changed since, and is in the way."""
    kept: tuple[Path, ...] = ()
    """Of an uninstall: what was changed since, and stays as it is."""
    own: tuple[Path, ...] = ()
    """Folders that are ours alone."""

    @property
    def is_done(self) -> bool:
        """Whether everything is so already."""
        return not self.changes and self.stored == self.afterwards

    def places(self) -> set[Path]:
        """The folders in which a killed run may have left a draft."""
        known = [receipt for receipt in (self.stored, self.receipt) if receipt]
        paths = [*(change.path for change in self.changes), *(file.path for one in known for file in one.files)]
        return {path.parent for path in paths}


@dataclass(frozen=True, slots=True)
class Drift:
    """A file that is no longer as an install left it, and why it is not simply put back."""

    path: Path
    after: bytes | None
    now: bytes | None
    reason: str = ""


@dataclass(slots=True)
class _Draft:
    """A plan as it grows."""

    known: Receipt
    files: list[FileReceipt] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)

    def add(self, file: FileReceipt, now: bytes | None) -> None:
        """``file`` is to be as the receipt says afterwards; ``now`` is what stands there."""
        if now != file.after:
            self.changes.append(Change(file.path, now, file.after, bool(file.format)))
            file = replace(file, earlier=(now,) if now is not None and now != file.before else ())
        self.files.append(file)


def plan_install(client: str, wanted: Wanted, environment: Environment, route: Route) -> Plan:
    """What has to be done so that everything stands as ``wanted``. Raises UserError for what stands in the way."""
    stored = read_receipt(environment, client)
    draft = _Draft(_of_today(stored) or adopted(client, wanted, environment) or Receipt(client, route, __version__))
    folders: set[Path] = set()
    for folder, own in wanted.own.items():
        folders |= _own_folder(draft, real(folder), own)
    for path, data in wanted.files.items():
        _whole_file(draft, real(path), data)
    for edit in wanted.edits:
        _settings(draft, edit)
    _no_longer_wanted(draft, wanted)
    paths = [receipt_path(environment, client), *(file.path for file in draft.files)]
    folders |= {*draft.known.folders, *missing_folders(paths), *_made_before(client, environment, paths)}
    receipt = Receipt(client, route, __version__, tuple(draft.files), _ours_today(folders))
    final = replace(receipt, files=tuple(_settled(receipt.files)))
    begun = receipt if draft.changes else final
    left_over, ours = tuple(_left_over(draft, wanted)), tuple(map(real, wanted.own))
    return Plan(client, tuple(draft.changes), stored, begun, final, left_over, own=ours)


def plan_uninstall(client: str, wanted: Wanted, environment: Environment, *, merge: bool) -> Plan | None:
    """What gives back the bytes that were there; None when nothing is installed.

    With ``merge`` a settings file that was changed since keeps those changes, and loses only what is ours; any other
    changed file stays as it is. Raises UserError for what stands in the way.
    """
    stored = read_receipt(environment, client)
    receipt = _of_today(stored) or adopted(client, wanted, environment)
    if receipt is None:
        return None
    edits = {real(edit.path): edit for edit in wanted.edits}
    ours = {} if stored else _own_files(wanted)
    changes, drifted, kept = [], [], []
    for file in sorted(receipt.files, key=lambda file: (file.is_own, not file.format)):
        now = content(file.path)
        if now == file.before:
            continue
        try:
            data = _given_back(file, now, edits.get(file.path), merge=merge)
        except NotEditable as error:
            drifted.append(Drift(file.path, file.after, now, str(error)))
            continue
        if data == now:
            kept += [file.path] if now is not None else []
        else:
            is_foreign = ours.get(file.path, now) != now
            changes.append(Change(file.path, now, data, bool(file.format), is_foreign))
    own = tuple(map(real, wanted.own))
    return Plan(client, tuple(changes), stored, stored, None, receipt.folders, tuple(drifted), tuple(kept), own)


def _of_today(stored: Receipt | None) -> Receipt | None:
    """``stored`` with its files where links lead today: since the install one may have been moved, or a folder above
    it, and a link left in its place. A link in a folder of our own is nothing of ours, and stays what it is."""
    if stored is None:
        return None
    found: dict[Path, FileReceipt] = {}
    for file in stored.files:
        path = real(file.path.parent) / file.path.name if file.is_own else real(file.path)
        if path not in found or path == file.path:
            found[path] = replace(file, path=path)
    return replace(stored, files=tuple(found.values()), folders=_ours_today(stored.folders))


def _ours_today(folders: Iterable[Path]) -> tuple[Path, ...]:
    """``folders`` where links lead today, outer ones first. One in whose place a link was put is its user's now."""
    return tuple(sorted({real(folder) for folder in folders if not folder.is_symlink()}))


def adopted(client: str, wanted: Wanted, environment: Environment) -> Receipt | None:
    """What a release without receipts installed, or one whose receipt is gone, as a receipt; None when nothing shows
    that there was one: no file in our folders as we write it, and no settings that say all that we put there."""
    own = _own_there(wanted)
    edits = [file for edit in wanted.edits if (file := _settings_there(edit, of_all=not own))]
    if not own and not edits:
        return None
    files = [FileReceipt(path, None, data, is_own=True) for path, data in own.items()]
    copies = {*own.values(), *wanted.files.values()}
    for path in map(real, wanted.files):
        now = content(path)
        if now in copies:
            files.append(FileReceipt(path, None, now))
    folders = {receipt_path(environment, client).parent.parent}
    for folder in map(real, wanted.own):
        folders |= _folders(folder, (path for path in own if path.is_relative_to(folder)))
    return Receipt(client, "", "", (*files, *edits), _ours_today(folders))


def _own_files(wanted: Wanted) -> dict[Path, bytes]:
    """What we write into folders of our own."""
    return {real(folder) / name: data for folder, own in wanted.own.items() for name, data in own.items()}


def _own_there(wanted: Wanted) -> dict[Path, bytes]:
    """What lies in our folders under names that we write; nothing unless some of it is byte for byte what we write:
    what somebody had changed is left by an uninstall, and is not ours any more."""
    ours = _own_files(wanted)
    there = {path: data for folder in wanted.own for path, data in contents(real(folder)).items() if path in ours}
    return there if any(data == ours[path] for path, data in there.items()) else {}


def _settings_there(edit: Edit, *, of_all: bool) -> FileReceipt | None:
    """A settings file that says something of ours, or all of it; what else it says was there before. Where all of it
    has to be said, one that cannot be read says nothing."""
    try:
        path = real(edit.path)
        now = content(path)
        places = tuple(part.place for part in edit.parts if says(edit.format, now, part))
        if now is None or not places or (of_all and len(places) < len(edit.parts)):
            return None
        return FileReceipt(path, without(edit.format, now, places), now, format=edit.format, places=places)
    except UserError as error:
        if of_all or isinstance(error, NotEditable):
            return None
        raise


def _own_folder(draft: _Draft, folder: Path, own: Mapping[str, bytes]) -> set[Path]:
    """Make ``folder`` hold exactly ``own``; all its folders, which are ours with it."""
    there = contents(folder)
    files = {folder / name: data for name, data in own.items()}
    for path, data in files.items():
        draft.add(FileReceipt(path, None, data, is_own=True), there.get(path))
    for path in sorted(there.keys() - files.keys()):
        known = draft.known.of(path)
        if known and known.is_ours(there[path]):
            draft.add(FileReceipt(path, None, None, is_own=True), there[path])
        else:
            draft.changes.append(Change(path, there[path], None, is_foreign=True))
    return _folders(folder, (*files, *there))


def _folders(folder: Path, paths: Iterable[Path]) -> set[Path]:
    """``folder`` and the folders in it that ``paths``, which lie in it, need."""
    found = {folder}
    for path in paths:
        parent = path.parent
        while parent not in found:
            found.add(parent)
            parent = parent.parent
    return found


def _whole_file(draft: _Draft, path: Path, data: bytes) -> None:
    """Make ``data`` a file among those of the user."""
    now, known = content(path), draft.known.of(path)
    if known is None and now == data:
        return  # it was there before us, and stays
    is_as_left = known is not None and (now in (known.before, data) or known.is_ours(now))
    draft.add(FileReceipt(path, known.before if known and is_as_left else now, data), now)


def _settings(draft: _Draft, edit: Edit) -> None:
    """Put our parts into a settings file of the user."""
    path = real(edit.path)
    now, known = content(path), draft.known.of(path)
    try:
        new = put_in(edit.format, now, edit.parts)
    except NotEditable as error:
        raise UserError(f"{edit.path}: {error}\nnothing was changed") from error
    places = tuple(part.place for part in edit.parts)
    if new == now and known is None:
        return
    if new == now and known and not known.is_ours(now):
        draft.files.append(known)  # somebody else changed it, and left what is ours
        return
    before = now
    if known is not None and (now == known.before or known.is_ours(now)):
        before = known.before
    elif known is not None and now is not None:
        before = _without_ours(known, now)
    draft.add(FileReceipt(path, before, new, format=edit.format, places=places), now)


def _without_ours(known: FileReceipt, now: bytes) -> bytes | None:
    """A file that was changed since, as it would be without us; as it is, where that cannot be told."""
    try:
        return take_out(known.format, known.places, (known.before, known.after, now))
    except NotEditable:
        return now


def _no_longer_wanted(draft: _Draft, wanted: Wanted) -> None:
    """What an earlier install wrote and this one does not. What lies in the folders of another home stays there."""
    seen = {file.path for file in draft.files}
    here = {real(path).parent for path in wanted.files}
    own = tuple(map(real, wanted.own))
    for known in draft.known.files:
        if known.path in seen or any(known.path.is_relative_to(folder) for folder in own):
            continue
        if known.path.parent not in here:
            draft.files.append(known)
            continue
        now = content(known.path)
        if known.is_ours(now):
            draft.add(replace(known, after=known.before), now)


def _settled(files: Iterable[FileReceipt]) -> Iterator[FileReceipt]:
    """The receipt once all is done: what is as it was before us needs none."""
    return (replace(file, earlier=()) for file in files if file.before != file.after)


def _made_before(client: str, environment: Environment, paths: list[Path]) -> Iterator[Path]:
    """Folders that are there, and ours: those of the data folder, and those that another client's install made."""
    place = receipt_path(environment, client)
    yield from (place.parent, place.parent.parent)
    for other in sorted(place.parent.glob("*.json")):
        found = read_receipt(environment, other.stem) if other != place else None
        for folder in _ours_today(found.folders) if found else ():
            if any(path.is_relative_to(folder) for path in paths):
                yield folder


def _left_over(draft: _Draft, wanted: Wanted) -> Iterator[Path]:
    """Folders of ours in which an upgrade leaves nothing."""
    kept = _folders(Path("/"), (file.path for file in draft.files if file.after is not None))
    own = tuple(map(real, wanted.own))
    for folder in draft.known.folders:
        if folder not in kept and any(folder.is_relative_to(one) for one in own):
            yield folder


def _given_back(file: FileReceipt, now: bytes | None, edit: Edit | None, *, merge: bool) -> bytes | None:
    """What is to stand in ``file``; ``now`` where it is to stay. Raises NotEditable with the reason where it was
    changed since, and may not be touched."""
    if file.is_ours(now):
        return file.before
    if not file.format or now is None:
        if merge:
            return now
        raise NotEditable("taken away since" if now is None else "changed since")
    data = take_out(file.format, file.places, (file.before, file.after, now), edit.traces if edit else ())
    if data == file.before or merge:
        return data
    raise NotEditable("changed since")
