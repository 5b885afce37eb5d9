"""The identity of the journal's file."""

from __future__ import annotations

from pathlib import Path

import pytest

from upbeat.adapters.system.journal import faults
from upbeat.adapters.system.journal.faults import StorageError, StorageErrorKind, file_identity
from upbeat.adapters.system.journal.store import SqliteJournal


def test_a_regular_file_is_identified_by_device_and_inode(tmp_path: Path) -> None:
    """A folder and a link have no identity."""
    path, link = tmp_path / "journal", tmp_path / "link"
    path.touch()
    link.symlink_to(path)
    status = path.stat()

    assert [(status.st_dev, status.st_ino), None, None] == [file_identity(each) for each in (path, tmp_path, link)]


def test_a_missing_file_is_a_storage_error(tmp_path: Path) -> None:
    """The error names the path and says that nothing can be stored."""
    with pytest.raises(StorageError, match="gone: No such file or directory") as raised:
        file_identity(tmp_path / "gone")

    assert StorageErrorKind.OTHER is raised.value.kind


def test_a_disk_without_room_is_told(stored: SqliteJournal, monkeypatch: pytest.MonkeyPatch) -> None:
    """The status reports a full disk before an event is lost."""
    monkeypatch.setattr(faults, "MIN_FREE_BYTES", 2**80)

    assert f"no room left at {stored.file.folder}" == stored.health().problem


def test_where_nothing_can_be_stored(tmp_path: Path) -> None:
    """A folder below a file can never be made; one that does not exist yet can."""
    (tmp_path / "file").touch()

    assert ("", f"{tmp_path}/file is not a folder") == (
        faults.storage_problem(tmp_path / "a" / "b"),
        faults.storage_problem(tmp_path / "file" / "b"),
    )
