"""The codex-auto program: command line, prompt loop, slash commands."""
