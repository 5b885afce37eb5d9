"""Where Claude Code keeps its state."""

from __future__ import annotations

from pathlib import Path

from upbeat.adapters.claude.client import ClaudeCode
from upbeat.adapters.system.environment import read_environment


def test_the_state_file_is_next_to_the_folder_or_in_a_moved_one() -> None:
    """With ``CLAUDE_CONFIG_DIR`` it is in that folder, also if that is the usual one."""
    homes = [{"HOME": "/h"}, *({"HOME": "/h", "CLAUDE_CONFIG_DIR": folder} for folder in ("/h/.claude", "/moved"))]

    assert [Path("/h/.claude.json"), Path("/h/.claude/.claude.json"), Path("/moved/.claude.json")] == [
        ClaudeCode().state_file(read_environment(home)) for home in homes
    ]
