"""Which SQLite may be used, and where its write-ahead log works."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest
from fakes.clock import FakeClock
from journal_values import record

from upbeat.adapters.system.journal import database
from upbeat.adapters.system.journal.database import Database, is_on_network, is_safe_version
from upbeat.adapters.system.journal.faults import StorageError
from upbeat.adapters.system.journal.store import SqliteJournal

MOUNTS = """\
22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
30 22 0:{minor} / /home rw,relatime shared:5 - {kind} server:/home rw
"""


@pytest.mark.parametrize("version", ["3.51.3", "3.51.4", "3.53.0", "4.0.0", "3.50.7", "3.44.6", "3.44.10"])
def test_a_sound_sqlite(version: str) -> None:
    """3.51.3 and later, and the branches with the backported fix, do not have the bug."""
    assert is_safe_version(version)


@pytest.mark.parametrize("version", ["3.7.0", "3.40.1", "3.44.5", "3.45.6", "3.50.6", "3.51.0", "3.51.2"])
def test_an_sqlite_with_the_bug(version: str, tmp_path: Path) -> None:
    """Other versions are rejected, and the error says what to install."""
    (tmp_path / "x.db").touch()

    assert not is_safe_version(version)
    with pytest.raises(StorageError, match=rf"^SQLite {version} can damage .* install apsw>=3\.51\.3"):
        Database(tmp_path / "x.db", version=version)


def test_the_installed_sqlite_is_sound() -> None:
    """The package that upbeat depends on brings one without the bug."""
    assert is_safe_version(apsw.sqlite_lib_version())


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        *((kind, True) for kind in ("nfs4", "nfs", "fuse.sshfs", "9p", "cifs")),
        *((kind, False) for kind in ("tmpfs", "overlay", "btrfs")),
    ],
)
def test_network_file_systems(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, expected: bool) -> None:
    """A network file system is recognized by the type of its mount."""
    mounts = tmp_path / "mountinfo"
    mounts.write_text(MOUNTS.format(minor=tmp_path.stat().st_dev & 0xFF, kind=kind))
    monkeypatch.setattr("os.major", lambda device: 0)
    monkeypatch.setattr("os.minor", lambda device: tmp_path.stat().st_dev & 0xFF)

    assert expected == is_on_network(tmp_path, str(mounts))


def test_a_disk_of_this_machine_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk needs no look at the mounts, and without them nothing is a network."""
    monkeypatch.setattr("os.major", lambda device: 8)
    assert not is_on_network(tmp_path, "/nowhere")
    monkeypatch.setattr("os.major", lambda device: 0)
    assert not is_on_network(tmp_path, "/nowhere")


def test_without_shared_memory_it_is_a_rollback_journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a network file system there is no write-ahead log, whatever the file was made with."""
    journal = SqliteJournal(tmp_path, FakeClock())
    with journal.transaction() as transaction:
        transaction.append(record())
    journal.close()
    assert "wal" == journal.health().journal_mode
    monkeypatch.setattr(database, "is_on_network", lambda path: True)
    with journal.transaction() as transaction:
        transaction.append(record())

    assert ("delete", 2, True) == (journal.health().journal_mode, len(journal.records()), journal.verify().is_intact)
