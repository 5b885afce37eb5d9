"""The user's own servers live with codex-auto: asked with each prompt, and gone when it ends."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from fakes.codex.workbench import make_workbench
from own_servers import PATIENT_TURN, odd, settings
from repositories import PROMPT


def test_a_turn_of_a_script(tmp_path: Path) -> None:
    """What a server says goes to Codex with the prompt; of the server nothing is left."""
    bench = make_workbench(tmp_path / "b")
    file = tmp_path / "starts"
    settings(bench.home, PATIENT_TURN + odd("stubborn", str(file)))
    bench.script([{"say": "it is in retry.py"}])
    done = bench.run("--once", PROMPT)

    assert 0 == done.code, done.stderr
    assert "mcp:odd/search — answer of your server odd (odd.search 0.50)\n| found" in bench.prompts()[0]

    (pid,) = map(int, file.read_text().split())

    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_a_plan_starts_nothing(tmp_path: Path) -> None:
    """A plan names the tool and starts no server."""
    bench = make_workbench(tmp_path / "b")
    file = tmp_path / "starts"
    settings(bench.home, odd("fine", str(file)))
    done = bench.run("--plan", PROMPT)

    assert b'"odd.search"' in done.stdout
    assert not file.exists()
