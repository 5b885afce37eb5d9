"""States and traces of the ways through a line."""

from __future__ import annotations

from upbeat.core.shell.expand import FAILED, UNKNOWN
from upbeat.core.shell.paths import Invocation, Paths, State, add_path, compare_status, either, with_variable

A, B = (Invocation((name,), (name,), "/repo") for name in "ab")


def test_equal_states_are_merged() -> None:
    """What ran on one way only did not certainly run; what failed on one way may have failed."""
    paths: Paths = {}
    add_path(paths, State("/repo"), (frozenset({A, B}), frozenset()))
    add_path(paths, State("/repo"), (frozenset({A}), frozenset({B})))

    assert {State("/repo"): (frozenset({A}), frozenset({B}))} == paths


def test_comparisons() -> None:
    """A comparison of an exit code with 0 is known, and one of known words."""
    assert [True, False, None, False, True, None] == [
        compare_status(("0", "-eq", "0")),
        compare_status((FAILED, "-eq", "0")),
        compare_status((FAILED, "-eq", "5")),
        compare_status(("x", "=", "y")),
        compare_status(("-z", "")),
        compare_status((UNKNOWN, "=", "y")),
    ]


def test_both_outcomes() -> None:
    """A command may end either way, and variables are kept."""
    state = with_variable(State("/repo"), "A", "1")

    assert {"0", FAILED} == {end.status for end in either(state, (frozenset(), frozenset()))}
    assert (("A", "1"),) == state.variables
