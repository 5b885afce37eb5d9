"""Programs that run another command from their arguments."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest
from case_files import read_json_groups

from upbeat.core.shell import wrappers

CASES = read_json_groups(Path(__file__).with_name("cases.jsonl"))

WRAPPED = dict(CASES["split"])
NESTED = {
    "xargs -n 1 rm -f": wrappers.NestedCommands((("rm", "-f"),)),
    "ssh -p 22 host rm x": wrappers.NestedCommands(script="rm x", has_own_effect=True),
    "trap - EXIT": None,
    "make": None,
}


@pytest.mark.parametrize(("line", "expected"), WRAPPED.items(), ids=WRAPPED)
def test_split_wrappers(line: str, expected: tuple[str, list[str]]) -> None:
    """The wrapped command is returned without assignments and folders, and its wrappers from the outside in."""
    words = tuple(shlex.split(expected[0]))

    assert (words, tuple(expected[1])) == wrappers.split_wrappers(shlex.split(line))
    assert words == wrappers.unwrap(shlex.split(line))


def test_nesting_is_bounded() -> None:
    """A command behind too many wrappers is not found."""
    assert ("make",) == wrappers.unwrap(["nohup"] * (wrappers.MAX_WRAPPERS - 1) + ["make"])
    assert () == wrappers.unwrap(["nohup"] * wrappers.MAX_WRAPPERS + ["make"])


@pytest.mark.parametrize(("words", "rest"), CASES["options"])
def test_skip_options(words: str, rest: str) -> None:
    """Options, their values and ``--`` are skipped, up to the first other word."""
    assert rest.split() == wrappers.skip_options(words.split(), "-u --user")


@pytest.mark.parametrize(("line", "expected"), CASES["scripts"])
def test_script_of(line: str, expected: list[Any] | None) -> None:
    """The script of a shell is returned with whether a failure in a pipe counts."""
    assert (expected and tuple(expected)) == wrappers.script_of(shlex.split(line))


@pytest.mark.parametrize(("line", "expected"), NESTED.items(), ids=NESTED)
def test_find_nested_commands(line: str, expected: wrappers.NestedCommands | None) -> None:
    """A program that runs others is found with their words or their script."""
    assert expected == wrappers.find_nested_commands(shlex.split(line))
