"""Where Codex keeps its files, and what its user does after an installation."""

from __future__ import annotations

from pathlib import Path

from upbeat.adapters.codex.client import Codex
from upbeat.adapters.system.environment import read_environment


def test_its_folder_follows_the_variable(tmp_path: Path) -> None:
    """``CODEX_HOME`` moves the folder; without it, it is in the user's home."""
    home = {"HOME": str(tmp_path)}

    assert (tmp_path / ".codex", tmp_path / "moved") == (
        Codex().home(read_environment(home)),
        Codex().home(read_environment(home | {"CODEX_HOME": str(tmp_path / "moved")})),
    )


def test_the_user_reviews_the_hooks_after_an_installation() -> None:
    """The one step after an installation names the command that reviews hooks."""
    [step] = Codex().steps_after_install()

    assert "/hooks" in step
