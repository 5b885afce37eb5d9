"""What codex-auto shows on a terminal."""
