"""``upbeat status`` shows the sessions and the state of the journal."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commands import Here
from session_journal import STATE

from upbeat.adapters.system.journal.store import SqliteJournal


def test_status(here: Here, journal: SqliteJournal, repo: Path, home: Path) -> None:
    """The sessions of this repository, the latest first, and the journal's health."""
    lines = (
        here("status", cwd=repo / "shop" if (repo / "shop").is_dir() else repo, home=home).stdout.decode().splitlines()
    )
    document = json.loads(here("status", "--json", cwd=repo, home=home).stdout)

    assert str(repo) == lines[0]
    running, stored_at = "standard running  PLAN (0/3 done)", "2026-01-02 03:04:05Z"
    assert [
        f"  claude-code  second  {running}  continued 0 times  Tea at {stored_at}",
        f"  claude-code  first  {running}  continued 1 time  TurnEnding at {stored_at}",
    ] == lines[1:3]
    assert f"journal: {journal.file.path}: 5 records of 3 sessions" in lines[3]
    assert ["second", "first"] == [row["session_id"] for row in document["sessions"]]
    assert (5, "wal", "") == (
        document["journal"]["records"],
        document["journal"]["journal_mode"],
        document["journal"]["problem"],
    )


@pytest.mark.parametrize("count", ["0", "-1", "x"])
def test_the_number_of_sessions_is_at_least_one(here: Here, repo: Path, home: Path, count: str) -> None:
    """A number of sessions below 1 is refused."""
    done = here("status", f"--last={count}", cwd=repo, home=home)

    assert (2, b"") == (done.code, done.stdout)
    assert f"argument --last: expected a whole number from 1; got '{count}'" in done.stderr


def test_status_in_chinese(here: Here, repo: Path, home: Path) -> None:
    """The same in Chinese; looking makes no file."""
    text = here("status", cwd=repo, home=home, LANG="zh_CN.UTF-8").stdout.decode()

    assert (
        f"{repo}\n  这个仓库还没有会话\n日志：{home}/{STATE}/upbeat/journal.db：尚不存在；第一个事件会创建它\n" == text
    )
    assert not home.exists()


def test_sessions_of_other_repositories(here: Here, journal: SqliteJournal, tmp_path: Path, home: Path) -> None:
    """Where a repository has no session or record, the commands name those that have, the latest first."""
    empty = tmp_path / "empty"
    empty.mkdir()
    elsewhere = f"the journal has sessions of {tmp_path}/repo, /elsewhere; pass one with --repo"
    status = here("status", cwd=empty, home=home)
    stats = here("stats", "--repo", ".", cwd=empty, home=home)
    why = here("why", cwd=empty, home=home)

    assert ["  no session in this repository yet", f"  {elsewhere}"] == status.stdout.decode().splitlines()[1:3]
    assert elsewhere == stats.stdout.decode().splitlines()[1]
    assert (1, f"upbeat: nothing is recorded for {empty}; {elsewhere}\n") == (why.code, why.stderr)
