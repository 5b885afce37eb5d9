"""Runs of agents whose texts the stub model could not tell apart."""

from __future__ import annotations

import pytest

from .workflow_scripts import Delegation, Round, claude_script, codex_script


@pytest.mark.parametrize(
    ("rounds", "complaint"),
    [
        ([(Delegation("writer", "Go on.", "Gone on."),)], "the last round must be what the root agent says in the end"),
        ([(Delegation("writer", "Go.", "Done."),), "Done."], "'Done.' occurs in 'Done.'; word one of them otherwise"),
        (
            [(Delegation("writer", "Go on.", "It is in."), Delegation("writer", "Go on. Now.", "It runs.")), "Done."],
            "'Go on.' occurs in 'Go on. Now.'; word one of them otherwise",
        ),
    ],
)
def test_a_run_that_cannot_be_told_apart_is_refused(rounds: list[Round], complaint: str) -> None:
    """What the stub could not tell apart is a mistake in the test, and the message says which."""
    for make in (claude_script, codex_script):
        with pytest.raises(ValueError, match=f"^{complaint}$"):
            make(rounds)
