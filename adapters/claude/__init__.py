"""Claude Code: its hook format, plugin and records."""
