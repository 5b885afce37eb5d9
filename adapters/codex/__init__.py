"""Codex: its wire format, its plugin, and codex-auto."""
