"""``upbeat log`` on a real journal: what it prints, and its exit codes."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from commands import Here
from fakes.clock import FakeClock
from processes import UPBEAT, environment
from session_journal import STATE, happen

from upbeat.adapters.system.journal.store import SqliteJournal

WAY_OUT = "the next event of a client sets it aside and begins a new one"


def test_log(here: Here, journal: SqliteJournal, home: Path) -> None:
    """What happened in all sessions, a line each, the latest last, in a pipe without colors."""
    done = here("log", cwd=home)
    lines = done.stdout.decode().splitlines()
    numbered = [line.split()[0] for line in lines if line[:5].strip().isdigit()]

    assert (0, "", ["1", "2", "3", "4", "5"]) == (done.code, done.stderr, numbered)
    assert lines[0].startswith("5 events in 3 sessions, the last ")
    assert any(line.startswith("    4  ") and "turn ended" in line for line in lines)
    assert b"\x1b" not in done.stdout


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--last", "2"], [4, 5]),
        (["--session", "first"], [1, 3]),
        (["--session", "first", "--last", "1"], [3]),
        (["--session", "fir"], [1, 3]),
        (["--session", "nobody"], []),
    ],
    ids=str,
)
def test_log_as_data(here: Here, journal: SqliteJournal, home: Path, arguments: list[str], expected: list[int]) -> None:
    """The records that are asked for, as one versioned object."""
    document = json.loads(here("log", "--json", *arguments, cwd=home).stdout)

    assert ("1.0", expected) == (document["schema_version"], [row["seq"] for row in document["records"]])


def test_log_of_a_session_that_is_not_recorded(here: Here, journal: SqliteJournal, home: Path) -> None:
    """With records of other sessions only, the command says that no session begins so."""
    done = here("log", "--session", "nobody", cwd=home)

    assert b"no session begins with 'nobody'; upbeat log lists the records of all sessions\n" == done.stdout


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--last", "0"], "argument --last: expected a whole number from 1; got '0'"),
        (["--before", "2026-01-01"], "--before requires prune"),
        (["prune", "--before", "soon"], "argument --before: expected a date such as 2026-01-31; got 'soon'"),
        (["burn"], "action takes no 'burn'"),
    ],
    ids=str,
)
def test_log_with_other_arguments(here: Here, home: Path, tmp_path: Path, arguments: list[str], problem: str) -> None:
    """Wrong arguments are reported with the reason."""
    done = here("log", *arguments, cwd=tmp_path)

    assert (2, b"", True) == (done.code, done.stdout, problem in done.stderr)


@contextmanager
def following(home: Path, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [UPBEAT, "log", "--follow", *arguments], env=environment(home), stdout=subprocess.PIPE, text=True
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def test_follow(journal: SqliteJournal, home: Path) -> None:
    """New records are shown as they come, one object a line, none twice, none of other sessions."""
    with following(home, "--json", "--last", "1", "--session", "first") as process:
        assert process.stdout
        rows = [json.loads(process.stdout.readline())]
        for session_id in ("first", "other", "first"):
            happen(journal, session_id, Path("/repo"))
        rows += [json.loads(process.stdout.readline()) for _ in range(2)]

    assert [("1.0", 3), ("1.0", 6), ("1.0", 8)] == [(row["schema_version"], row["seq"]) for row in rows]


def test_follow_begins_before_the_first_record(home: Path) -> None:
    """Following an empty journal shows the first record when it comes."""
    with following(home) as process:
        assert process.stdout
        happen(SqliteJournal(home / STATE, FakeClock()), "s", Path("/repo"))

        shown = [process.stdout.readline() for _ in range(3)]
        assert shown[2].startswith("    1  ")


def test_verify(here: Here, journal: SqliteJournal, home: Path) -> None:
    """An intact journal exits with 0, a changed one with 1."""
    whole = here("log", "verify", cwd=home)
    path = journal.file.path
    assert (
        b"5 records, 3 sessions: unchanged since they were written, and every state matches its records\n"
        == whole.stdout
    )
    import apsw

    with apsw.Connection(str(path)) as connection:
        connection.execute("DELETE FROM records WHERE seq = 2")
    broken = here("log", "verify", cwd=home)
    document = json.loads(here("log", "verify", "--json", cwd=home).stdout)

    assert (0, 1) == (whole.code, broken.code)
    assert broken.stdout.startswith(b"BROKEN at record 3: it does not follow")
    assert ("1.0", False, 3, ["second"]) == (
        *(document["schema_version"], document["is_intact"], document["chain_break"]["seq"]),
        document["inconsistent_sessions"],
    )


def test_prune(here: Here, journal: SqliteJournal, home: Path) -> None:
    """Records before a date are removed, with sessions unused for months; the rest is intact."""
    none = here("log", "prune", "--before", "2026-01-02", cwd=home).stdout.decode()
    gone = json.loads(here("log", "prune", "--before", "2026-01-02T03:05", "--json", cwd=home).stdout)

    assert re.fullmatch(r"0 records and 0 sessions removed; the journal takes \d\.\d MB\n", none)
    assert {"schema_version": "1.0", "records": 5, "sessions": 3, "is_finished": True} == {
        name: value for name, value in gone.items() if name != "size_bytes"
    }
    assert (b"nothing is recorded yet\n", 0) == (here("log", cwd=home).stdout, here("log", "verify", cwd=home).code)


@pytest.mark.parametrize(("mine", "projects", "gone"), [(1, 36500, 5), (36500, 1, 0)])
def test_prune_keeps_to_the_settings(
    here: Here, journal: SqliteJournal, repo: Path, home: Path, mine: int, projects: int, gone: int
) -> None:
    """Without a date the user's own limits apply, not those of a project."""
    for path, days in ((home / ".config/upbeat/auto-tools.toml", mine), (repo / ".upbeat/auto-tools.toml", projects)):
        path.parent.mkdir(parents=True)
        path.write_text(f"[journal]\nmax_days = {days}\n")

    assert f"{gone} records and " in here("log", "prune", cwd=repo, home=home).stdout.decode()


@pytest.mark.parametrize("command", [["log"], ["log", "verify"], ["log", "prune"], ["why"], ["stats"]], ids=str)
def test_a_damaged_journal_is_told(
    here: Here, journal: SqliteJournal, repo: Path, home: Path, command: list[str]
) -> None:
    """One sentence names the file, the fault and the fix; status shows the fault and exits with 4."""
    for path in journal.file.folder.iterdir():
        path.write_bytes(b"garbage " * 1000)
    done = here(*command, cwd=repo, home=home)
    status = here("status", cwd=repo, home=home)

    assert (
        1,
        b"",
        f"upbeat: {journal.file.path} cannot be used (file is not a database); {WAY_OUT}\n",
    ) == (done.code, done.stdout, done.stderr)
    assert (4, True) == (status.code, b"NOTHING CAN BE STORED: file is not a database" in status.stdout)
