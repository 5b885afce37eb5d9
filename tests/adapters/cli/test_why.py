"""``upbeat why`` explains the right record."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commands import Here

from upbeat.adapters.system.journal.store import SqliteJournal


@pytest.mark.parametrize(
    ("arguments", "seq"),
    [([], 3), (["--last"], 3), (["2"], 2), (["4"], 4), (["--session", "second"], 2), (["--session", "oth"], 4)],
    ids=str,
)
def test_why(here: Here, journal: SqliteJournal, repo: Path, home: Path, arguments: list[str], seq: int) -> None:
    """The requested record is explained; by default the latest of this repository with a decision or an effect."""
    text = here("why", *arguments, cwd=repo, home=home)
    document = json.loads(here("why", *arguments, "--json", cwd=repo, home=home).stdout)

    assert (0, "1.0", seq) == (text.code, document["schema_version"], document["record"]["seq"])
    assert text.stdout.startswith(b"When the turn was about to end, upbeat let the agent continue.\n")
    assert f"\nrecord {seq} · TurnEnding · claude-code · 2026-01-02 03:04:05Z".encode() in text.stdout
    assert b"configured at /home/auto-tools.toml:3" in text.stdout


def test_why_where_nobody_said_anything(here: Here, journal: SqliteJournal, repo: Path, home: Path) -> None:
    """A record without a word is explained, too, when it is asked for."""
    assert b"No component made a decision" in here("why", "5", cwd=repo, home=home).stdout


def test_why_of_a_session_that_is_not_recorded(here: Here, journal: SqliteJournal, repo: Path, home: Path) -> None:
    """With records of other sessions only, the command says that no session begins so."""
    done = here("why", "--session", "nope", cwd=repo, home=home)

    assert (1, b"") == (done.code, done.stdout)
    assert "upbeat: no session begins with 'nope'; upbeat log lists the records of all sessions\n" == done.stderr


@pytest.mark.parametrize(
    ("arguments", "language", "problem"),
    [
        (
            [],
            "C",
            (
                "upbeat: nothing is recorded yet; use a client that has upbeat installed (upbeat install), "
                "then run this again\n"
            ),
        ),
        (["7"], "C", "upbeat: no record 7; upbeat log lists the records\n"),
        (["7"], "zh_CN.UTF-8", "upbeat: 没有记录 7；upbeat log 列出已有的记录\n"),
    ],
)
def test_why_without_a_record(
    here: Here, repo: Path, home: Path, arguments: list[str], language: str, problem: str
) -> None:
    """Without a record the command tells what to do, and creates nothing."""
    done = here("why", *arguments, cwd=repo, home=home, LANG=language)

    assert (1, b"", problem) == (done.code, done.stdout, done.stderr)
    assert not home.exists()
