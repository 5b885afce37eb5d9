"""``upbeat data`` shows what is stored where, and deletes only what it was told to."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commands import Here
from session_journal import STATE

from upbeat.adapters.cli.data import format_size
from upbeat.adapters.system.journal.store import SqliteJournal


def test_list(here: Here, journal: SqliteJournal, repo: Path, home: Path) -> None:
    """Each kind has its size, its place, how long it is kept and how it is removed."""
    document = json.loads(here("data", "list", "--json", cwd=repo, home=home).stdout)
    text = here("data", "list", cwd=repo, home=home).stdout.decode()
    rows = {row["kind"]: row for row in document["data"]}

    assert rows["journal"]["bytes"] >= journal.file.path.stat().st_size
    assert (0, f"{home}/{STATE}/upbeat/index") == (rows["index"]["bytes"], rows["index"]["path"])
    assert "kept journal.max_days (default 90)" in text
    assert max(len(line) for line in text.splitlines() if str(home) not in line) <= 80
    assert "remove: upbeat uninstall\n" in text


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("purge", "name what to purge: journal, index, handoffs, habits, prompts, others, all"),
        ("purge indx", "no kind 'indx'; did you mean 'index'?"),
        ("purge settings", "'settings' cannot be purged; use `upbeat config edit`"),
        ("purge journal --repo .", "journal is stored for all repositories together; purge it without --repo"),
        ("purge index", "nothing was purged: cannot prompt without a terminal; pass --yes to purge"),
    ],
)
def test_what_is_refused(here: Here, repo: Path, home: Path, words: str, message: str) -> None:
    """Nothing is deleted without a kind and an answer."""
    done = here("data", *words.split(), cwd=repo, home=home)

    assert (1, b"") == (done.code, done.stdout)
    assert done.stderr.startswith(f"upbeat: {message}")


def test_purge(here: Here, journal: SqliteJournal, repo: Path, home: Path) -> None:
    """With --yes the kind is deleted, and the other kinds stay."""
    history = home / STATE / "upbeat/codex-auto-history"
    history.write_bytes(b"x" * 2048)
    done = here("data", "purge", "prompts", "--yes", cwd=repo, home=home)
    again = json.loads(here("data", "purge", "all", "--yes", "--json", cwd=repo, home=home).stdout)

    assert "purged prompts of all repositories: 2.0 KB freed\n" == done.stdout.decode()
    assert not history.exists()
    assert ["journal", "index", "handoffs", "habits", "prompts", "others"] == again["purged"]
    assert 0 == journal.health().records


def test_an_agent_deletes_nothing(here: Here, repo: Path, home: Path) -> None:
    """What upbeat knows of a session is the user's to delete."""
    done = here("data", "purge", "all", "--yes", cwd=repo, home=home, CLAUDE_CODE_SESSION_ID="s")

    assert (1, True) == (done.code, "is the user's to run" in done.stderr)


@pytest.mark.parametrize(("size", "text"), [(0, "0 B"), (1023, "1023 B"), (1536, "1.5 KB"), (3 * 1024**3, "3.0 GB")])
def test_sizes(size: int, text: str) -> None:
    """Sizes are in the largest unit that fits."""
    assert text == format_size(size)
