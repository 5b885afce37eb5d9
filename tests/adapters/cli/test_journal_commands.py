"""``upbeat log``, ``why`` and ``status`` on a real journal: what they print and exit with."""

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
from journal_values import record, step
from processes import UPBEAT, environment
from repositories import make_repository

from upbeat.adapters.local.journal import SqliteJournal

STATE = ".local/state"
WAY_OUT = "the next event of a client sets it aside and begins a new one"


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return make_repository(tmp_path / "repo").resolve()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def journal(repo: Path, home: Path) -> SqliteJournal:
    """Two sessions here, one elsewhere, and an event at which nobody said anything."""
    made = SqliteJournal(home / STATE, FakeClock())
    happen(made, "first", repo)
    happen(made, "second", repo)
    happen(made, "first", repo)
    happen(made, "other", Path("/elsewhere"))
    with made.transaction() as transaction:
        transaction.append(record("second", str(repo), "Tea", said=(), effects=()))
    made.close()
    return made


def happen(journal: SqliteJournal, session_id: str, root: Path) -> None:
    with journal.transaction() as transaction:
        facts, state = step(transaction.state(session_id), 1)
        transaction.append(record(session_id, str(root), facts=facts), state)


def test_log(here: Here, journal: SqliteJournal, home: Path) -> None:
    """The records of all sessions, a line each, the latest last."""
    done = here("log", cwd=home)
    lines = done.stdout.decode().splitlines()

    assert (0, "", ["1", "2", "3", "4", "5"]) == (done.code, done.stderr, [line.split()[0] for line in lines])
    assert (
        "     4  2026-01-02 03:04:05Z  claude-code  other     TurnEnding          "
        "loop send on; → keep_going 15  3.2 ms" == lines[3]
    )


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--last", "2"], [4, 5]),
        (["--session", "first"], [1, 3]),
        (["--session", "first", "--last", "1"], [3]),
        (["--session", "nobody"], []),
    ],
    ids=str,
)
def test_log_as_data(here: Here, journal: SqliteJournal, home: Path, arguments: list[str], expected: list[int]) -> None:
    """The records that are asked for, as one versioned object."""
    told = json.loads(here("log", "--json", *arguments, cwd=home).stdout)

    assert ("1.0", expected) == (told["schema_version"], [one["seq"] for one in told["records"]])


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--last", "0"], "argument --last: takes a whole number from 1 on; found '0'"),
        (["--before", "2026-01-01"], "--before goes with prune"),
        (["prune", "--before", "soon"], "argument --before: takes a date such as 2026-01-31; found 'soon'"),
        (["burn"], "invalid choice: 'burn'"),
    ],
    ids=str,
)
def test_log_with_other_arguments(here: Here, home: Path, tmp_path: Path, arguments: list[str], problem: str) -> None:
    """What is wrong with the arguments is told."""
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
        told = [json.loads(process.stdout.readline())]
        for session_id in ("first", "other", "first"):
            happen(journal, session_id, Path("/repo"))
        told += [json.loads(process.stdout.readline()) for _ in range(2)]

    assert [("1.0", 3), ("1.0", 6), ("1.0", 8)] == [(one["schema_version"], one["seq"]) for one in told]


def test_follow_begins_before_the_first_record(home: Path) -> None:
    """Following an empty journal shows the first record when it comes."""
    with following(home) as process:
        assert process.stdout
        happen(SqliteJournal(home / STATE, FakeClock()), "s", Path("/repo"))

        assert process.stdout.readline().startswith("     1  ")


def test_verify(here: Here, journal: SqliteJournal, home: Path) -> None:
    """A whole journal is said to be whole; a changed one exits 1."""
    whole = here("log", "verify", cwd=home)
    path = journal.file.path
    assert (
        b"5 records, 3 sessions: unchanged since they were written, each state what its records say\n" == whole.stdout
    )
    import apsw

    with apsw.Connection(str(path)) as connection:
        connection.execute("DELETE FROM records WHERE seq = 2")
    broken = here("log", "verify", cwd=home)
    told = json.loads(here("log", "verify", "--json", cwd=home).stdout)

    assert (0, 1) == (whole.code, broken.code)
    assert broken.stdout.startswith(b"BROKEN at record 3: it does not follow")
    assert ("1.0", False, 3, ["second"]) == (
        *(told["schema_version"], told["is_whole"], told["broken"]["seq"]),
        told["differing"],
    )


def test_prune(here: Here, journal: SqliteJournal, home: Path) -> None:
    """What is older than a date goes, with sessions that nobody has touched for months; what is left is whole."""
    none = here("log", "prune", "--before", "2026-01-02", cwd=home).stdout.decode()
    gone = json.loads(here("log", "prune", "--before", "2026-01-02T03:05", "--json", cwd=home).stdout)

    assert re.fullmatch(r"0 records and 0 sessions taken out; the journal takes \d\.\d MB\n", none)
    assert {"schema_version": "1.0", "records": 5, "sessions": 3, "is_finished": True} == {
        name: value for name, value in gone.items() if name != "bytes"
    }
    assert (b"nothing is recorded yet\n", 0) == (here("log", cwd=home).stdout, here("log", "verify", cwd=home).code)


@pytest.mark.parametrize(("mine", "projects", "gone"), [(1, 36500, 5), (36500, 1, 0)])
def test_prune_keeps_to_the_settings(
    here: Here, journal: SqliteJournal, repo: Path, home: Path, mine: int, projects: int, gone: int
) -> None:
    """Without a date what is over the user's own limits goes, whatever a project says."""
    for path, days in ((home / ".config/upbeat/auto-tools.toml", mine), (repo / ".upbeat/auto-tools.toml", projects)):
        path.parent.mkdir(parents=True)
        path.write_text(f"[journal]\nmax_days = {days}\n")

    assert f"{gone} records and " in here("log", "prune", cwd=repo, home=home).stdout.decode()


@pytest.mark.parametrize(
    ("arguments", "seq"),
    [([], 3), (["--last"], 3), (["2"], 2), (["4"], 4), (["--session", "second"], 2), (["--session", "other"], 4)],
    ids=str,
)
def test_why(here: Here, journal: SqliteJournal, repo: Path, home: Path, arguments: list[str], seq: int) -> None:
    """The record that is asked for; without a number the latest of this repository in which something was said."""
    text = here("why", *arguments, cwd=repo, home=home)
    told = json.loads(here("why", *arguments, "--json", cwd=repo, home=home).stdout)

    assert (0, "1.0", seq) == (text.code, told["schema_version"], told["record"]["seq"])
    assert text.stdout.startswith(f"record {seq}: TurnEnding at 2026-01-02T03:04:05.678Z, claude-code\n".encode())
    assert b"\n  configured at /home/auto-tools.toml:3\n" in text.stdout


def test_why_where_nobody_said_anything(here: Here, journal: SqliteJournal, repo: Path, home: Path) -> None:
    """A record without a word is explained, too, when it is asked for."""
    assert b"no part of upbeat had a say in it" in here("why", "5", cwd=repo, home=home).stdout


@pytest.mark.parametrize(
    ("arguments", "language", "problem"),
    [
        (
            [],
            "C",
            "upbeat: nothing is recorded yet; work with a client that has upbeat (upbeat install), then ask again\n",
        ),
        (["7"], "C", "upbeat: no record 7; upbeat log lists what there is\n"),
        (["7"], "zh_CN.UTF-8", "upbeat: 没有记录 7；upbeat log 列出已有的记录\n"),
    ],
)
def test_why_without_a_record(
    here: Here, repo: Path, home: Path, arguments: list[str], language: str, problem: str
) -> None:
    """Where there is no record, what to do is said, and nothing is made."""
    done = here("why", *arguments, cwd=repo, home=home, LANG=language)

    assert (1, b"", problem) == (done.code, done.stdout, done.stderr)
    assert not home.exists()


def test_status(here: Here, journal: SqliteJournal, repo: Path, home: Path) -> None:
    """The sessions of this repository, the latest first, and the journal's health."""
    lines = (
        here("status", cwd=repo / "shop" if (repo / "shop").is_dir() else repo, home=home).stdout.decode().splitlines()
    )
    told = json.loads(here("status", "--json", cwd=repo, home=home).stdout)

    assert str(repo) == lines[0]
    assert [
        "  claude-code  second  standard running  PLAN (0/3 done)  sent on 0 times  Tea at 2026-01-02 03:04:05Z",
        "  claude-code  first  standard running  PLAN (0/3 done)  sent on 1 times  TurnEnding at 2026-01-02 03:04:05Z",
    ] == lines[1:3]
    assert f"journal: {journal.file.path}: 5 records of 3 sessions" in lines[3]
    assert ["second", "first"] == [one["session_id"] for one in told["sessions"]]
    assert (5, "wal", "") == (told["journal"]["records"], told["journal"]["mode"], told["journal"]["problem"])


def test_status_in_chinese(here: Here, repo: Path, home: Path) -> None:
    """The same in Chinese; looking makes no file."""
    said = here("status", cwd=repo, home=home, LANG="zh_CN.UTF-8").stdout.decode()

    assert (
        f"{repo}\n  这个仓库还没有会话\n日志：{home}/{STATE}/upbeat/journal.db：尚不存在；第一个事件会创建它\n" == said
    )
    assert not home.exists()


@pytest.mark.parametrize("command", [["log"], ["log", "verify"], ["log", "prune"], ["why"]], ids=str)
def test_a_damaged_journal_is_told(
    here: Here, journal: SqliteJournal, repo: Path, home: Path, command: list[str]
) -> None:
    """One sentence says what is wrong, with what, and the way out; status shows it and goes on."""
    for path in journal.file.folder.iterdir():
        path.write_bytes(b"garbage " * 1000)
    done = here(*command, cwd=repo, home=home)
    status = here("status", cwd=repo, home=home)

    assert (
        1,
        b"",
        f"upbeat: {journal.file.path} cannot be used (file is not a database); {WAY_OUT}\n",
    ) == (done.code, done.stdout, done.stderr)
    assert (0, True) == (status.code, b"NOTHING CAN BE STORED: file is not a database" in status.stdout)
