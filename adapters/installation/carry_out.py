"""Carries out a plan. Law: wherever it is killed, every file is the old one or the new one, and the receipt knows it.

The receipt is stored before the first change and taken away after the last one; settings are changed last by an install
and first by an uninstall, so that they never name what is not there. After a power cut the settings and the receipt are
whole; a file of ours that is not is mended by the next install.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from ...core.errors import UserError
from ..local import atomic
from ..local.environment import Environment
from ..local.lock import take
from ..local.receipt import read_receipt, receipt_path, write_receipt
from .disk import Change, check, content, real
from .plan import Plan

AGAIN = "run it again"


def carry_out(plan: Plan, environment: Environment) -> list[Path]:
    """Do what ``plan`` says; the folders of ours that stay because something else is in them.

    Raises UserError before anything is touched where the disk is no longer as the plan found it, or does not let it
    be done; and between two files where somebody changes one at this very moment.
    """
    check(plan.changes)
    place = receipt_path(environment, plan.client)
    place = real(place.parent) / place.name
    if plan.afterwards is not None:
        place.parent.parent.mkdir(parents=True, exist_ok=True)
        place.parent.mkdir(exist_ok=True, mode=0o700)
    with _alone(place.parent):
        if read_receipt(environment, plan.client) != plan.stored:
            raise UserError(f"another upbeat has just changed {place}; {AGAIN}")
        sweep([place.parent, *plan.places()])
        if plan.receipt is not None:
            write_receipt(environment, plan.receipt)
        for change in plan.changes:
            _change(change)
        left = _take_away(folder for folder in plan.folders if not place.is_relative_to(folder))
        if plan.afterwards is not None:
            write_receipt(environment, plan.afterwards)
            return left
        if plan.stored is not None:
            place.unlink()
    return left + _take_away(folder for folder in plan.folders if place.is_relative_to(folder))


def tidy(environment: Environment, client: str) -> None:
    """Take away what an install leaves that was killed before it had a receipt: a draft, and empty folders."""
    place = receipt_path(environment, client)
    with _alone(place.parent):
        sweep([place.parent])
    _take_away([place.parent.parent, place.parent])


def sweep(folders: Iterable[Path]) -> None:
    """Take away the drafts that killed runs left in ``folders``."""
    for folder in folders:
        with contextlib.suppress(FileNotFoundError):
            descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                atomic.sweep(descriptor)
            finally:
                os.close(descriptor)


def _change(change: Change) -> None:
    if content(change.path) != change.old:
        raise UserError(
            f"{change.path} was changed by somebody else just now; what comes after it is not done; {AGAIN}"
        )
    if change.new is None:
        change.path.unlink()
        return
    if not change.path.parent.is_dir():
        change.path.parent.mkdir(parents=True)
    is_private = change.is_settings and change.old is None
    atomic.write(change.path, change.new, private=is_private, durable=change.is_settings)


def _take_away(folders: Iterable[Path]) -> list[Path]:
    """Take away those of ``folders`` (outer ones first) that are empty; those that are not."""
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
def _alone(folder: Path) -> Iterator[None]:
    """Nobody else carries out a plan meanwhile. Without a receipt there may be no folder to tell it by."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except FileNotFoundError:
        yield
        return
    try:
        if take(descriptor) is False:
            raise UserError(f"another upbeat is at work in {folder}; wait for it, and try again")
        yield
    finally:
        os.close(descriptor)
