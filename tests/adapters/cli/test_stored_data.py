"""Every stored file belongs to one kind, and a kind is deleted as a whole or for one repository."""

from __future__ import annotations

from pathlib import Path

import pytest
from fakes.clock import FakeClock
from journal_values import record
from repositories import make_repository

from upbeat.adapters.cli.stored_data import KINDS, PURGEABLE, StoredKind, purge_kind
from upbeat.adapters.code.index.store import exclusive_writer, repository_folder
from upbeat.adapters.system.environment import Environment, read_environment
from upbeat.adapters.system.git.root import find_root
from upbeat.adapters.system.journal.store import SqliteJournal
from upbeat.core.workflow.state import NEW_SESSION


@pytest.fixture
def environment(tmp_path: Path) -> Environment:
    return read_environment({"HOME": str(tmp_path)})


def fill(kind: StoredKind, environment: Environment) -> Path:
    """A file of the kind."""
    folder = kind.folder(environment) / kind.patterns[0].replace("*", "x")
    folder.mkdir(parents=True)
    (folder / "file").write_bytes(b"12345")
    return folder / "file"


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_what_is_measured(kind: StoredKind, environment: Environment) -> None:
    """Nothing exists at first; then a file counts for one kind only."""
    assert (0, 0) == kind.measure(environment)
    fill(kind, environment)

    assert [kind.name] == [each.name for each in KINDS if each.measure(environment) == (1, 5)]


@pytest.mark.parametrize("name", ["handoffs", "habits", "prompts"])
def test_a_kind_is_deleted(name: str, environment: Environment) -> None:
    """Folders go with all they have; what is outside of a link stays."""
    file = fill(PURGEABLE[name], environment)
    outside = environment.home / "outside"
    outside.mkdir()
    (file.parent / "link").symlink_to(outside)

    assert "" == purge_kind(PURGEABLE[name], "", environment)
    assert (0, 0) == PURGEABLE[name].measure(environment)
    assert outside.is_dir()


def test_the_journal_is_emptied(environment: Environment) -> None:
    """All records go, damaged copies too, and the journal is intact and usable afterwards."""
    journal = SqliteJournal(environment.state_home, FakeClock(), data_home=environment.data_home)
    with journal.transaction() as transaction:
        transaction.append(record(), NEW_SESSION)
    journal.close()
    damaged = journal.file.folder / "journal.damaged-20260101T000000Z.db"
    damaged.write_bytes(b"x")

    assert "" == purge_kind(PURGEABLE["journal"], "", environment)
    assert (0, True, False) == (journal.health().records, journal.verify().is_intact, damaged.exists())


def test_the_index_of_one_repository(environment: Environment, tmp_path: Path) -> None:
    """Another repository's stays, and one that is being written is reported."""
    roots = [str(make_repository(tmp_path / name).resolve()) for name in ("one", "two")]
    folders = [repository_folder(environment.state_home, find_root(root), root) for root in roots]
    for folder in folders:
        folder.mkdir(mode=0o700, parents=True)

    assert "" == purge_kind(PURGEABLE["index"], roots[0], environment)
    assert [False, True] == [folder.exists() for folder in folders]
    with exclusive_writer(folders[1]):
        assert purge_kind(PURGEABLE["index"], "", environment).startswith("1 indexes are being written")
