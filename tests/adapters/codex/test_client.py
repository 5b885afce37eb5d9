"""What the user of Codex does after an installation."""

from __future__ import annotations

from upbeat.adapters.codex.client import Codex


def test_the_user_reviews_the_hooks_after_an_installation() -> None:
    """The one step after an installation names the command that reviews hooks."""
    [step] = Codex().steps_after_install()

    assert "/hooks" in step
