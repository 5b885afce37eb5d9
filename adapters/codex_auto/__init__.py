"""codex-auto: the interactive wrapper that prepares each turn of Codex."""
