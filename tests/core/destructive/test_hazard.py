"""Options and arguments of commands."""

from __future__ import annotations

from upbeat.core.destructive.hazard import arguments_of, options_of
from upbeat.core.shell import SimpleCommand


def test_options() -> None:
    """Letters count one by one, a long option without its value, and nothing after ``--``."""
    assert {"-r", "-f", "--force"} == options_of(SimpleCommand(("rm", "-rf", "--force=x", "a", "--", "-v")))


def test_arguments() -> None:
    """Options and the values of options are no arguments; everything after ``--`` is."""
    assert ("a", "-", "-b") == arguments_of(("-n", "3", "a", "-", "--", "-b"), frozenset({"-n"}))
