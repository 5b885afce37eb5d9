"""The fixtures of the commands' tests."""

from __future__ import annotations

from pathlib import Path

import pytest
from client_homes import make_dotfiles
from commands import Here, in_this_process
from fakes.clock import FakeClock
from journal_values import record
from repositories import make_repository
from session_journal import STATE, happen

from upbeat.adapters.cli import install
from upbeat.adapters.install.byte_code import CompileResult
from upbeat.adapters.system.journal.store import SqliteJournal


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> Here:
    """Runs ``upbeat`` here."""
    return in_this_process(monkeypatch, capfdbinary)


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
        transaction.append(record("second", str(repo), "Tea", explanations=(), effects=()))
    made.close()
    return made


@pytest.fixture
def dotfiles(tmp_path: Path) -> Path:
    """A home whose settings are links, with line ends and comments of their own."""
    make_dotfiles(tmp_path)
    return tmp_path


@pytest.fixture(autouse=True)
def no_byte_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compile nothing after an installation: it reads every module of every dependency."""
    monkeypatch.setattr(install, "compile_missing", lambda _draw: CompileResult(0))
