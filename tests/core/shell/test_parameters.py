"""Expansions of variables."""

from __future__ import annotations

import pytest

from upbeat.core.shell.parameters import expand_parameter

KNOWN = {"A": "/x/y.txt", "E": ""}


@pytest.mark.parametrize(
    ("source", "expanded"),
    [
        ("$A", "/x/y.txt"),
        ("${A%/*}", "/x"),
        ("${A%%.*}", "/x/y"),
        ("${A##*/}", "y.txt"),
        ("${A/y/z}", "/x/z.txt"),
        ("${A:0:2}", "/x"),
        ("${E:-d}", "d"),
        ("${B:-'d'}", "d"),
        ("${B:?}", None),
        ("$B", None),
        ("${HOME:-/tmp}", "$HOME"),
        ("${#A}", None),
    ],
)
def test_expansions(source: str, expanded: str | None) -> None:
    """A known variable, or the default of an unknown one."""
    assert expanded == expand_parameter(source, KNOWN)
