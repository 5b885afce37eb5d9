"""The transport that keeps one codex app-server running."""
