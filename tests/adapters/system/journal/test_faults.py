"""The identity of the journal's file."""

from __future__ import annotations

from pathlib import Path

import pytest

from upbeat.adapters.system.journal.faults import StorageError, StorageErrorKind, file_identity


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
