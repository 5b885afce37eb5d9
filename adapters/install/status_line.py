"""The client's status line as an optional entry of an installation: whose it is, and whether to offer it.

Invariant: a status line of the user is never replaced, neither by an install nor by an uninstall.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum, auto

from upbeat.adapters.install.disk import read_regular_file, resolve_link
from upbeat.adapters.install.plugin import DesiredInstallation, SettingsEdit
from upbeat.adapters.install.receipt import Receipt, read_receipt
from upbeat.adapters.system.environment import Environment
from upbeat.adapters.system.files.settings_edit import KeyPath, NotEditableError, SettingsEntry, read_value


class Owner(Enum):
    """Whose status line the settings have."""

    NOBODY = auto()
    UPBEAT = auto()
    USER = auto()


@dataclass(frozen=True, slots=True)
class StatusLine:
    """What an installation may do about the status line.

    ``is_removed``: an earlier install added it, and the user has removed it since.
    """

    entry: SettingsEntry
    owner: Owner
    is_removed: bool = False
    is_first_install: bool = True


def find_status_line(
    entry: SettingsEntry | None, desired: DesiredInstallation, client: str, environment: Environment
) -> StatusLine | None:
    """Return the state of the status line that ``entry`` would set; None without an entry, or in unreadable settings.

    Raises:
        UserError: Something on the disk prevents reading it.
    """
    if entry is None:
        return None
    edit = desired.edits[0]
    receipt = read_receipt(environment, client)
    installed = _installed_value(edit, receipt, entry.key_path)
    try:
        current = read_value(edit.format, read_regular_file(resolve_link(edit.path)), entry.key_path)
    except NotEditableError:
        return None
    if current is None:
        return StatusLine(entry, Owner.NOBODY, installed is not None, receipt is None)
    owner = Owner.UPBEAT if current in (entry.value, installed) else Owner.USER
    return StatusLine(entry, owner, False, receipt is None)


def with_status_line(desired: DesiredInstallation, entry: SettingsEntry) -> DesiredInstallation:
    """Return ``desired`` with ``entry`` in the client's settings."""
    first, *others = desired.edits
    return replace(desired, edits=(replace(first, entries=(*first.entries, entry)), *others))


def _installed_value(edit: SettingsEdit, receipt: Receipt | None, key_path: KeyPath) -> object:
    """Return the value that an install wrote; None for none."""
    known = receipt.for_path(resolve_link(edit.path)) if receipt else None
    if known is None or key_path not in known.key_paths:
        return None
    try:
        return read_value(known.format, known.after, key_path)
    except NotEditableError:
        return None
