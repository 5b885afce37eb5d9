"""Redirections as values."""

from __future__ import annotations

from upbeat.core.shell import Redirect


def test_overwriting() -> None:
    """A file is truncated by ``>``, ``>|`` and ``&>``."""
    operators = (">", ">|", "&>", ">>", "<")

    assert [True, True, True, False, False] == [Redirect(operator, "a").is_overwrite for operator in operators]
    assert not Redirect(">&", "1").is_overwrite
