"""Connections to Codex."""
