"""``upbeat status`` shows the sessions and the state of the journal."""

from __future__ import annotations

import json
from pathlib import Path

from commands import Here
from session_journal import STATE

from upbeat.adapters.system.journal.store import SqliteJournal

WAY_OUT = "the next event of a client sets it aside and begins a new one"


def test_status(here: Here, journal: SqliteJournal, repo: Path, home: Path) -> None:
    """The sessions of this repository, the latest first, and the journal's health."""
    lines = (
        here("status", cwd=repo / "shop" if (repo / "shop").is_dir() else repo, home=home).stdout.decode().splitlines()
    )
    told = json.loads(here("status", "--json", cwd=repo, home=home).stdout)

    assert str(repo) == lines[0]
    running, stored_at = "standard running  PLAN (0/3 done)", "2026-01-02 03:04:05Z"
    assert [
        f"  claude-code  second  {running}  continued 0 times  Tea at {stored_at}",
        f"  claude-code  first  {running}  continued 1 times  TurnEnding at {stored_at}",
    ] == lines[1:3]
    assert f"journal: {journal.file.path}: 5 records of 3 sessions" in lines[3]
    assert ["second", "first"] == [one["session_id"] for one in told["sessions"]]
    assert (5, "wal", "") == (told["journal"]["records"], told["journal"]["journal_mode"], told["journal"]["problem"])


def test_status_in_chinese(here: Here, repo: Path, home: Path) -> None:
    """The same in Chinese; looking makes no file."""
    said = here("status", cwd=repo, home=home, LANG="zh_CN.UTF-8").stdout.decode()

    assert (
        f"{repo}\n  这个仓库还没有会话\n日志：{home}/{STATE}/upbeat/journal.db：尚不存在；第一个事件会创建它\n" == said
    )
    assert not home.exists()
