"""codex-auto, Codex, or both killed in mid-turn: a small version of ``tests/reliability/codex_kill.py``."""

from __future__ import annotations

import pytest
from reliability.codex_kill import measure

from .sandbox import Sandbox


@pytest.mark.timeout(300)
def test_what_is_killed_in_mid_turn_goes_on(sandbox: Sandbox) -> None:
    """No thread is lost, no message is doubled, no process is left: each victim once, on one transport or the other."""
    figures = measure(sandbox, 6, 7)

    assert [] == figures.faults
    assert 6 == sum(line["landed"] for line in figures.rounds)
