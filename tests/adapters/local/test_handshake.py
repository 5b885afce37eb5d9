"""A server that says hello, and those that do not."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from upbeat.adapters.local.handshake import trouble_with
from upbeat.adapters.plugin import PYTHON, SERVER


def test_our_own_server_says_hello(tmp_path: Path) -> None:
    """The command that the plugins start is one that answers."""
    variables = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}

    assert "" == trouble_with([PYTHON, *SERVER, "claude-code"], variables)


@pytest.mark.parametrize(
    ("code", "trouble"),
    [
        ("raise SystemExit('no server here')", "no server here"),
        ("print('Welcome!')", "Welcome!"),
        ("pass", "it said nothing"),
    ],
)
def test_what_is_no_server(tmp_path: Path, code: str, trouble: str) -> None:
    """What it said instead is told, with the program that said it."""
    found = trouble_with([sys.executable, "-I", "-S", "-c", code], {})

    assert f"{sys.executable}: {trouble}" == found


def test_a_program_that_is_not_there(tmp_path: Path) -> None:
    """The system's own words."""
    assert f"{tmp_path}/none: No such file or directory" == trouble_with([f"{tmp_path}/none"], {})
