"""``python -I -m upbeat.adapters.codex_auto`` is what the launcher runs."""

from __future__ import annotations

import sys
from pathlib import Path

from processes import run

from upbeat import __version__


def test_it_is_the_program(tmp_path: Path) -> None:
    """The module is the ``codex-auto`` program, with its options and exit codes."""
    command = [sys.executable, "-I", "-m", "upbeat.adapters.codex_auto"]
    shown = run([*command, "--version"], tmp_path, b"", tmp_path)
    refused = run([*command, "--no-such-option"], tmp_path, b"", tmp_path)

    assert (0, f"codex-auto {__version__}") == (shown.code, shown.stdout.decode().strip())
    assert 2 == refused.code
