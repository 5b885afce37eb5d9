"""Stored blobs are private, complete or missing, and limited in number."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from upbeat.adapters.code.index import storage


def test_a_blob_is_read_back_and_private(tmp_path: Path) -> None:
    """What is stored is loaded; only the owner can read file and folder."""
    path = tmp_path / "state" / "a.json"
    storage.store_blob(path, b"data" * 1000)

    assert b"data" * 1000 == storage.load_blob(path)
    assert (0o600, 0o700) == (stat.S_IMODE(path.stat().st_mode), stat.S_IMODE(path.parent.stat().st_mode))


@pytest.mark.parametrize("damage", [lambda data: data[:-1], lambda data: data + b"x", lambda _: b""])
def test_a_damaged_blob_counts_as_missing(tmp_path: Path, damage: Callable[[bytes], bytes]) -> None:
    """A blob that is cut, extended or emptied is not read."""
    path = tmp_path / "a.json"
    storage.store_blob(path, b"data")
    path.write_bytes(damage(path.read_bytes()))

    assert storage.load_blob(path) is None
    assert storage.load_blob(tmp_path / "missing") is None


def test_only_the_newest_files_are_kept(tmp_path: Path) -> None:
    """The oldest files that match are removed."""
    for number in range(4):
        path = tmp_path / f"h-{number}"
        path.write_bytes(b"")
        os.utime(path, ns=(number, number))
    storage.remove_oldest(tmp_path, "h-*", 2)

    assert ["h-3", "h-2"] == [path.name for path in storage.newest_files(tmp_path, "h-*")]


def test_a_file_in_place_of_the_folder_is_an_error(tmp_path: Path) -> None:
    """A folder that is not one is not used."""
    (tmp_path / "x").write_text("")

    with pytest.raises(OSError, match="x"):
        storage.ensure_private_folder(tmp_path / "x")
