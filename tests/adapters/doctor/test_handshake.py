"""A server that says hello, and those that do not."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from upbeat.adapters.doctor.handshake import handshake_problem
from upbeat.adapters.install.plugin import PYTHON, SERVER_ARGUMENTS


def test_our_own_server_says_hello(tmp_path: Path) -> None:
    """The command that the plugins start is one that answers."""
    variables = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}

    assert "" == handshake_problem([PYTHON, *SERVER_ARGUMENTS, "claude-code"], variables)


@pytest.mark.parametrize(
    ("code", "trouble"),
    [
        ("raise SystemExit('no server here')", "no server here"),
        ("print('Welcome!')", "Welcome!"),
        ("pass", "no output"),
    ],
)
def test_what_is_no_server(tmp_path: Path, code: str, trouble: str) -> None:
    """What it said instead is told, with the program that said it."""
    problem = handshake_problem([sys.executable, "-I", "-S", "-c", code], {})

    assert f"{sys.executable}: {trouble}" == problem


def test_a_program_that_is_not_there(tmp_path: Path) -> None:
    """The system's own words."""
    assert f"{tmp_path}/none: No such file or directory" == handshake_problem([f"{tmp_path}/none"], {})
