"""Variables, arguments, aliases and files of a line, as its later commands see them."""

from __future__ import annotations

import pytest

from upbeat.core.shell import parse_commands


@pytest.mark.parametrize(
    ("line", "last"),
    [
        ("a=(b -c 'd e'); \"${a[@]}\"", ("b", "-c", "d e")),
        ('set -- b c; "$@"', ("b", "c")),
        ("alias k='b -c'; k d", ("b", "-c", "d")),
        ("read -r x < <(echo 'b c'); bash -c \"$x\"", ("b", "c")),
        ("printf -v x 'b %s' c; eval \"$x\"", ("b", "c")),
        ('f() { b "$1" ${2:-d}; }; f c', ("b", "c", "d")),
        ('unset X; b "$X"/c', ("b", "/c")),
        ("b $(echo c)", ("b", "c")),
        ("IFS=,; x=b,c; $x", ("b", "c")),
    ],
)
def test_values(line: str, last: tuple[str, ...]) -> None:
    """A later command sees what the line has set."""
    assert last == parse_commands(line).items[-1].words


def test_written_files() -> None:
    """Text that the line writes to a file is known."""
    line = "echo a > x; echo b >> x; cat > y <<'E'\nc\nE\necho d | tee z; date > w"

    assert {"x": "a\nb\n", "y": "c\n", "z": "d\n"} == parse_commands(line).written_files
