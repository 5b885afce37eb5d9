"""Runs ``upbeat`` in this process: faster than a process of its own, with the same streams and exit codes."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Protocol

import pytest
from processes import Finished

from upbeat.adapters.cli.main import main

FOREIGN = ("XDG_", "CI_AUTO_TOOLS", "LC_", "LANG", "CODEX_", "CLAUDE_")
"""Variables that would lead out of the home of a test."""


class Here(Protocol):
    """Runs ``upbeat ARGUMENTS`` in this process, with a home and a working directory of its own."""

    def __call__(self, *arguments: str, cwd: Path, home: Path | None = None, **variables: str) -> Finished: ...


def in_this_process(monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> Here:
    """Return a ``Here``, for the fixture of that name."""

    def call(*arguments: str, cwd: Path, home: Path | None = None, **variables: str) -> Finished:
        monkeypatch.chdir(cwd)
        monkeypatch.setenv("HOME", str(home or cwd))
        for name in [name for name in os.environ if name.startswith(FOREIGN)]:
            monkeypatch.delenv(name)
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        try:
            code = main(arguments)
        except SystemExit as end:
            code = int(end.code or 0)
        sys.stdout.flush()
        streams = capfdbinary.readouterr()
        return Finished(code, streams.out, streams.err.decode())

    return call
