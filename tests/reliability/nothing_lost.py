"""Nothing lost: files under writers that are killed, disks that refuse, wrong clocks, crowds of hooks, odd homes.

What each file of upbeat is written with, and what a kill or a full disk leaves of it, is told in
``docs/decisions/0016-atomic-file-writes.md``.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import apsw
from test_architecture import OTHER_SQLITE, imported, sources

from upbeat.adapters.system.journal.database import Database, is_safe_version
from upbeat.adapters.system.journal.faults import StorageError

from . import lost_database, lost_files
from .lost_clock import set_clock_wrong
from .lost_crowd import run_crowds
from .lost_homes import take_homes_away
from .lost_kills import kill_writers
from .promise import Scenario, Seen

PART = "Nothing lost"

AFFECTED = ("3.7.0", "3.40.1", "3.44.5", "3.50.6", "3.51.0", "3.51.2")
"""Versions of SQLite with the WAL-reset bug: the first, the one of Debian and of Python's wheels, the last of each."""


def check_sqlite(_folder: Path, _amount: None) -> Iterator[Seen]:
    """Check that the SQLite in use is sound, that one that is not is refused, and that no other one is loaded."""
    version = apsw.sqlite_lib_version()
    refused = sum(_problem(affected).startswith(f"SQLite {affected} can damage") for affected in AFFECTED)
    paths = sources("core", "adapters", "src")
    offenders = [path for path in paths if any(name.partition(".")[0] in OTHER_SQLITE for name in imported(path))]
    yield Seen(
        "The SQLite in use is free of the WAL-reset bug, one that has it is refused with a sentence, and the SQLite of "
        "Python itself is imported nowhere",
        f"SQLite 3.51.3 or later, {len(AFFECTED)} affected versions refused, 0 imports",
        f"SQLite {version}, {refused} of {len(AFFECTED)} refused, {len(offenders)} imports in {len(paths)} files",
        is_safe_version(version) and refused == len(AFFECTED) and not offenders and bool(paths),
    )


def _problem(version: str) -> str:
    """Return what a connection with an SQLite of this version is refused with; empty when it is not."""
    try:
        Database(Path("/nowhere/journal.db"), version=version)
    except StorageError as error:
        return str(error)
    return ""


SCENARIOS = (
    Scenario(check_sqlite),
    Scenario(set_clock_wrong, 4, 300),
    Scenario(take_homes_away, False, True),
    Scenario(run_crowds, (4, 2, 1), (200, 20, 50)),
    Scenario(lost_database.fail_calls, False, True),
    Scenario(lost_files.fail_calls, False, True),
    Scenario(kill_writers, (4, 2), (1000, 3)),
)
"""The quick ones first."""
