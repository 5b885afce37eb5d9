"""Words as far as the line says what they are."""

from __future__ import annotations

import pytest

from upbeat.core.shell.execute import execute
from upbeat.core.shell.expand import UNKNOWN, join_path


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("x a 'b c' \"d e\" f\\ g", ("a", "b c", "d e", "f g")),
        ("A=1; x $A ${A} \"$A b\" '$A'", ("1", "1", "1 b", "$A")),
        ("A='1 2'; x $A \"$A\"", ("1", "2", "1 2")),
        ("x $B", (UNKNOWN,)),
        ("x -j$(cat n)", (f"-j{UNKNOWN}",)),
        ('x $PWD "$(pwd)/a"', ("/repo", "/repo/a")),
        ("x $(git rev-parse --show-toplevel)", ("/repo",)),
        ("x -j$(nproc)", ("-j4",)),
        ("x ${C:-tests}", ("tests",)),
        ('x "$(cd a && pwd)"', ("/repo/a",)),
        ("x $'a\\nb'", ("a\nb",)),
        ("x $((1+2))", (UNKNOWN,)),
        ('set -- a b; x "$@" $1 $#', ("a", "b", "a", "2")),
    ],
)
def test_words(line: str, expected: tuple[str, ...]) -> None:
    """What the line determines is expanded, everything else is unknown."""
    [run] = [one for one in execute(line).invocations if one.words[0] == "x"]

    assert expected == run.words[1:]


def test_paths() -> None:
    """A path from a folder that is not known is not known."""
    assert ("/a/c", UNKNOWN) == (join_path("/a/b", "../c"), join_path(UNKNOWN, "c"))
