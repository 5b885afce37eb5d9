"""The transport that runs codex exec for each turn."""
