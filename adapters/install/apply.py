"""Apply an installation plan.

Invariant: wherever the process is killed, every file has its old or its new content, and the receipt lists it. The
receipt is stored before the first change and removed after the last one; settings are changed last by an install and
first by an uninstall, so that they never name a missing file. After a power failure the settings and the receipt are
whole; the next install repairs any other file of upbeat.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from upbeat.adapters.install.disk import FileChange, read_regular_file, resolve_link, verify_applicable
from upbeat.adapters.install.plan import InstallationPlan
from upbeat.adapters.install.receipt import read_receipt, receipt_path, write_receipt
from upbeat.adapters.system.environment import Environment
from upbeat.adapters.system.files import atomic
from upbeat.adapters.system.files.lock import try_lock
from upbeat.core.errors import UserError

RETRY_HINT = "run it again"


def apply_plan(plan: InstallationPlan, environment: Environment) -> list[Path]:
    """Apply ``plan``; return upbeat's folders that remain because they are not empty.

    Raises:
        UserError: Before any change, if the disk has changed since the plan or is not writable; between two files, if
            another program changes one at the same time.
    """
    verify_applicable(plan.changes)
    place = receipt_path(environment, plan.client)
    place = resolve_link(place.parent) / place.name
    if plan.final_receipt is not None:
        place.parent.parent.mkdir(parents=True, exist_ok=True)
        place.parent.mkdir(exist_ok=True, mode=0o700)
    with _exclusively(place.parent):
        if read_receipt(environment, plan.client) != plan.stored_receipt:
            raise UserError(f"another upbeat process has just changed {place}; {RETRY_HINT}")
        remove_drafts([place.parent, *plan.draft_folders()])
        if plan.pending_receipt is not None:
            write_receipt(environment, plan.pending_receipt)
        for change in plan.changes:
            _apply_change(change)
        left = _remove_empty_folders(folder for folder in plan.removable_folders if not place.is_relative_to(folder))
        if plan.final_receipt is not None:
            write_receipt(environment, plan.final_receipt)
            return left
        if plan.stored_receipt is not None:
            place.unlink()
    return left + _remove_empty_folders(folder for folder in plan.removable_folders if place.is_relative_to(folder))


def remove_leftovers(environment: Environment, client: str) -> None:
    """Remove what an install leaves that was killed before it stored a receipt: a draft, and empty folders."""
    place = receipt_path(environment, client)
    with _exclusively(place.parent):
        remove_drafts([place.parent])
    _remove_empty_folders([place.parent.parent, place.parent])


def remove_drafts(folders: Iterable[Path]) -> None:
    """Remove the drafts that killed runs left in ``folders``."""
    for folder in folders:
        with contextlib.suppress(FileNotFoundError):
            descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                atomic.remove_stale_drafts(descriptor)
            finally:
                os.close(descriptor)


def _apply_change(change: FileChange) -> None:
    if read_regular_file(change.path) != change.old:
        raise UserError(
            f"{change.path} was changed by another program just now; the remaining changes were not made; {RETRY_HINT}"
        )
    if change.new is None:
        change.path.unlink()
        return
    if not change.path.parent.is_dir():
        change.path.parent.mkdir(parents=True)
    is_private = change.is_settings and change.old is None
    atomic.write_file(change.path, change.new, is_private=is_private, is_durable=change.is_settings)


def _remove_empty_folders(folders: Iterable[Path]) -> list[Path]:
    """Remove the empty ones of ``folders`` (outer ones first); return the others."""
    left = []
    for folder in reversed(list(folders)):
        try:
            folder.rmdir()
        except FileNotFoundError:
            continue
        except OSError:
            left.append(folder)
    return left


@contextlib.contextmanager
def _exclusively(folder: Path) -> Iterator[None]:
    """Keep other processes from applying a plan. Without a receipt there may be no folder to lock."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except FileNotFoundError:
        yield
        return
    try:
        if try_lock(descriptor) is False:
            raise UserError(f"another upbeat process is using {folder}; wait until it ends, and try again")
        yield
    finally:
        os.close(descriptor)
