"""Stored prompts have no secrets and are nobody else's; a history that cannot be stored is no fault."""

from __future__ import annotations

from pathlib import Path

from upbeat.adapters.codex_auto.app.loop import HISTORY_FILE, MAX_HISTORY_BYTES, PromptHistory

SECRET = "AKIA" + "Q3EXAMPLE7TESTKY"


def test_prompts_come_back_without_secrets(tmp_path: Path) -> None:
    """Several lines stay one prompt; controls and keys are gone."""
    PromptHistory(tmp_path).store_string(f"one\ntwo {SECRET}\x1b[2J")
    [stored] = PromptHistory(tmp_path).load_history_strings()

    assert stored.startswith("one\ntwo ")
    assert SECRET not in stored
    assert "\x1b" not in stored


def test_the_file_is_private(tmp_path: Path) -> None:
    """Only its owner reads it."""
    PromptHistory(tmp_path).store_string("x")

    assert 0o600 == (tmp_path / HISTORY_FILE).stat().st_mode & 0o777


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    """Prompts are not written where a link leads."""
    (tmp_path / "upbeat").mkdir()
    (tmp_path / HISTORY_FILE).symlink_to(tmp_path / "elsewhere")
    PromptHistory(tmp_path).store_string("x")

    assert not (tmp_path / "elsewhere").exists()


def test_what_cannot_be_stored_is_let_go(tmp_path: Path) -> None:
    """A home that cannot be written costs nothing but the memory of another day."""
    (tmp_path / "upbeat").write_text("a file")
    kept = PromptHistory(tmp_path)
    kept.store_string("x")

    assert [] == kept.load_history_strings()


def test_a_long_history_begins_anew(tmp_path: Path) -> None:
    """Above its size the file is set aside."""
    kept = PromptHistory(tmp_path)
    kept.store_string("x" * (MAX_HISTORY_BYTES + 1))
    kept.store_string("new")

    assert ["new"] == kept.load_history_strings()
