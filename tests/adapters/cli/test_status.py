"""``upbeat status`` shows the sessions and the state of the journal."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commands import Here

from upbeat.adapters.system.journal.store import SqliteJournal


def test_status(here: Here, journal: SqliteJournal, repo: Path, home: Path) -> None:
    """The sessions of this repository, the latest first, and the journal's health."""
    lines = (
        here("status", cwd=repo / "shop" if (repo / "shop").is_dir() else repo, home=home).stdout.decode().splitlines()
    )
    document = json.loads(here("status", "--json", cwd=repo, home=home).stdout)

    assert "2 workflows are open here, 0 of them waiting for you." == lines[0]
    rows = [line.partition(" · active")[0].strip() for line in lines if "session" in line]
    assert ["claude-code · session second", "claude-code · session first"] == rows[:2]
    assert "5 records of 3 sessions" in lines[-2] + lines[-1]
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

    assert text.startswith("这个仓库还没有装有 upbeat 的客户端的会话记录。\n")
    assert "尚不存在；第一个事件会创建它" in "".join(text.split())
    assert not home.exists()


def test_sessions_of_other_repositories(here: Here, journal: SqliteJournal, tmp_path: Path, home: Path) -> None:
    """Where a repository has no session or record, the commands name those that have, the latest first."""
    empty = tmp_path / "empty"
    empty.mkdir()
    elsewhere = f"the journal has sessions of {tmp_path}/repo, /elsewhere; pass one with --repo"
    status = here("status", cwd=empty, home=home, COLUMNS="500")
    stats = here("stats", "--repo", ".", cwd=empty, home=home)
    why = here("why", cwd=empty, home=home)

    assert elsewhere == status.stdout.decode().splitlines()[2]
    assert elsewhere == stats.stdout.decode().splitlines()[-1]
    assert (1, f"upbeat: nothing is recorded for {empty}; {elsewhere}\n") == (why.code, why.stderr)
