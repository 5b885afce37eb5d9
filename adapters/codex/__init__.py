"""Codex: its hook format, plugin, records and transports."""
