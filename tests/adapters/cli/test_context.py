"""``upbeat context`` shows the last turn of the right session or repository."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commands import Here

from upbeat.adapters.system.clock import SystemClock
from upbeat.adapters.system.journal.store import SqliteJournal
from upbeat.core.journal.record import Record

PLACES = {"first": "repo", "second": "repo", "other": "elsewhere"}


@pytest.fixture
def turns(home: Path, repo: Path) -> SqliteJournal:
    """A journal with a prompt in each of three sessions, the last of them in another repository."""
    journal = SqliteJournal(home / ".local" / "state", SystemClock())
    for session, place in PLACES.items():
        root = str(repo) if place == "repo" else "/elsewhere"
        effects = ({"kind": "inject_context", "part": "turn", "text": f"BLOCK of {session}"},)
        fields = {"origin": "user", "prompt": f"ask {session}"}
        with journal.transaction() as transaction:
            transaction.append(
                Record("2026-01-02T03:04:05.678Z", "PromptSubmitted", "codex-cli", session, root=root,
                       event_fields=fields, effects=effects, duration_ms=3.0)
            )  # fmt: skip
    return journal


@pytest.mark.parametrize(
    ("arguments", "session"),
    [([], "second"), (["1"], "first"), (["--session", "fir"], "first"), (["--session", "other"], "other")],
    ids=str,
)
def test_context(here: Here, turns: SqliteJournal, repo: Path, home: Path, arguments: list[str], session: str) -> None:
    """The context of the requested turn is printed as it was injected; by default that of this repository's last."""
    text = here("context", *arguments, cwd=repo, home=home)
    document = json.loads(here("context", *arguments, "--json", cwd=repo, home=home).stdout)

    assert (0, "1.0", session) == (text.code, document["schema_version"], document["session_id"])
    assert [f"BLOCK of {session}"] == [block["text"] for block in document["blocks"]]
    assert text.stdout.startswith(f"The prompt “ask {session}” got ".encode())
    assert text.stdout.endswith(f"\nBLOCK of {session}\n".encode())


def test_without_a_turn(here: Here, repo: Path, home: Path) -> None:
    """Without a record the command tells what to do, and creates nothing."""
    done = here("context", cwd=repo, home=home)

    assert (1, b"") == (done.code, done.stdout)
    assert done.stderr.startswith("upbeat: nothing is recorded yet; use a client")
    assert not home.exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["99"], "no record 99; upbeat log lists the records"),
        (["--session", "none"], "no session begins with 'none'"),
        (["--repo", "/"], "nothing is recorded for /; the journal has sessions of "),
    ],
    ids=str,
)
def test_what_is_not_there(
    here: Here, turns: SqliteJournal, repo: Path, home: Path, arguments: list[str], message: str
) -> None:
    """The error says what was not found, and where to look."""
    done = here("context", *arguments, cwd=repo, home=home)

    assert (1, b"") == (done.code, done.stdout)
    assert done.stderr.startswith(f"upbeat: {message}")


def test_a_repository_without_prompts(here: Here, repo: Path, home: Path) -> None:
    """Where something is recorded, but no prompt, the error says that instead of naming the same repository."""
    journal = SqliteJournal(home / ".local" / "state", SystemClock())
    with journal.transaction() as transaction:
        transaction.append(Record("2026-01-02T03:04:05.678Z", "SessionStarted", "codex-cli", "s", root=str(repo)))
    done = here("context", cwd=repo, home=home)

    assert (1, b"") == (done.code, done.stdout)
    assert done.stderr.startswith("upbeat: no prompt is recorded here yet; use a client")
