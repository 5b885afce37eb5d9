"""Where Claude Code keeps its files."""

from __future__ import annotations

from pathlib import Path

from upbeat.adapters.claude.client import ClaudeCode
from upbeat.adapters.system.environment import read_environment


def test_its_files_are_in_the_users_home(tmp_path: Path) -> None:
    """Without a variable, the state file is next to the client's folder."""
    environment = read_environment({"HOME": str(tmp_path)})

    assert (tmp_path / ".claude", tmp_path / ".claude.json") == (
        ClaudeCode().home(environment),
        ClaudeCode().state_file(environment),
    )


def test_a_folder_that_was_moved_contains_the_state_file(tmp_path: Path) -> None:
    """With ``CLAUDE_CONFIG_DIR``, the state file is in that folder."""
    moved = tmp_path / "moved"
    environment = read_environment({"HOME": str(tmp_path), "CLAUDE_CONFIG_DIR": str(moved)})

    assert (moved, moved / ".claude.json") == (ClaudeCode().home(environment), ClaudeCode().state_file(environment))
