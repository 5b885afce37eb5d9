"""``upbeat stats`` on a real journal."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from commands import Here
from fakes.clock import FakeClock
from journal_values import record

from upbeat.adapters.cli.schema import schema_text
from upbeat.adapters.system.journal.store import SqliteJournal
from upbeat.core.contract.effect import Explanation


def remember(home: Path, *records: dict[str, Any], root: str = "/home/dev/shop", days_ago: float = 1) -> None:
    """Let the journal know a session in ``root``."""
    journal = SqliteJournal(home / ".local/state", FakeClock())
    at = (datetime.now(UTC) - timedelta(days=days_ago)).strftime("%Y-%m-%dT%H:%M:%S.000Z")
    for each in records:
        with journal.transaction() as transaction:
            transaction.append(record("s-1", root, **({"explanations": (), "effects": (), "at": at} | each)))
    journal.close()


TOLD = {
    "event": "PromptSubmitted",
    "event_fields": {"prompt": "p", "origin": "user"},
    "explanations": (Explanation("turn", "inject", "prepared", {"names": ["a.py"]}),),
    "effects": ({"kind": "inject_context", "text": "a.py matters", "part": "turn"},),
    "injected_chars": 12,
}
READ = {
    "event": "ToolFinished",
    "event_fields": {"call_id": "c", "tool_kind": "read", "paths": ["/home/dev/shop/a.py"]},
}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home in which a turn was prepared yesterday, and its file was read."""
    remember(tmp_path, TOLD, READ)
    return tmp_path


def asked(here: Here, home: Path, *arguments: str) -> dict[str, Any]:
    """``upbeat stats … --json``, held against its schema."""
    done = here("stats", *arguments, "--json", cwd=home)
    assert (0, "") == (done.code, done.stderr)
    document: dict[str, Any] = json.loads(done.stdout)
    jsonschema_rs.validator_for(json.loads(schema_text("stats"))).validate(document)
    return document


def test_for_people(here: Here, home: Path) -> None:
    """The text has the injections, their use, and that nothing is compared without a holdout."""
    done = here("stats", cwd=home)
    lines = done.stdout.decode().splitlines()

    assert (0, "") == (done.code, done.stderr)
    assert "1 of 1 turn in the last 30 days got context." == lines[0]
    assert "  search      1          12  1 of 1 (100 %)     0 of 1 (0 %)" in lines
    assert lines[-2].startswith("· holdout is off, so these figures cannot show whether the context helps;")


def test_as_data(here: Here, home: Path) -> None:
    """One versioned object, as its schema says."""
    document = asked(here, home)

    assert ("1.1", 1, 1, ["turn"]) == (
        document["schema_version"],
        document["sessions"],
        document["turns"],
        [source["part"] for source in document["sources"]],
    )


def test_only_what_was_asked_for(here: Here, home: Path) -> None:
    """Other days and other repositories are not counted."""
    remember(home, TOLD, days_ago=10)
    shop = home / "shop"
    shop.mkdir()
    remember(home, TOLD, TOLD, root=str(shop.resolve()))

    assert [4, 3, 2] == [
        asked(here, home, *arguments)["turns"] for arguments in ((), ("--days", "5"), ("--repo", str(shop)))
    ]


def test_the_setting_is_told(here: Here, home: Path) -> None:
    """The present holdout percentage is part of the report."""
    config = home / ".config" / "upbeat" / "auto-tools.toml"
    config.parent.mkdir(parents=True)
    config.write_text("[inject]\nholdout_percent = 20\n", encoding="utf-8")

    assert (20, "too_few") == ((held := asked(here, home)["holdout"])["holdout_percent"], held["opened"]["verdict"])


def test_without_a_journal(here: Here, tmp_path: Path) -> None:
    """Nothing was recorded: one sentence, no file, no error."""
    done = here("stats", cwd=tmp_path)

    assert (0, b"The journal has no record of the last 30 days.\nall repositories\n") == (done.code, done.stdout)
    assert [] == list(tmp_path.iterdir())


@pytest.mark.parametrize("value", ["0", "x", "-1"])
def test_days_are_a_number(here: Here, tmp_path: Path, value: str) -> None:
    """A wrong number of days is reported with what is expected."""
    done = here("stats", "--days", value, cwd=tmp_path)

    assert (2, True) == (done.code, "whole number of days" in done.stderr)
