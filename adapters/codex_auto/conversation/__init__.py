"""One conversation with Codex: turns, workflow, recovery."""
