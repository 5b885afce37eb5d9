"""The hook format that Claude Code and Codex share."""
