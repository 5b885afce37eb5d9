"""Development phases drive the delegations: order, side by side, one failure, boxes."""

from __future__ import annotations

from pathlib import Path

import pytest

from .sandbox import Sandbox
from .workflow_scripts import Round
from .workflow_sessions import facts, part, play, said, status

TASKS = """# Tasks

## Dev Phases
### Phase 1: base (sequential)
- [ ] data model | files: shop/model.py
### Phase 2: core (parallel)
- [ ] handlers | files: shop/handlers.py
- [ ] sign-in | files: shop/auth.py
- [ ] prices | files: shop/prices.py
### Phase 3: integration (sequential, depends: 2)
- [ ] connect all | files: shop/routes.py
"""
ROUNDS: list[Round] = [
    [
        part("developer", "[stage:DEV.3.1] Connect it early.", refused=True),
        part("developer", "[stage:DEV.1.1] Write the model."),
    ],
    [
        part("developer", "[stage:DEV.2.1] Write the handlers."),
        part("developer", "[stage:DEV.2.2] Write the sign-in.", "FAIL"),
        part("developer", "[stage:DEV.2.3] Write the prices."),
    ],
    [part("developer", "[stage:DEV.2.2] Repair the sign-in.")],
    [part("developer", "[stage:DEV.3.1] Connect the parts.")],
    "All of it is done.",
]


@pytest.mark.parametrize("client", ["claude", "codex"])
def test_phases_drive_the_delegations(sandbox: Sandbox, client: str) -> None:
    """A task of a later phase is denied, three run side by side, the failed one alone is repeated, and boxes follow."""
    tasks = sandbox.repository / "specs" / "features" / "in-progress" / "shop" / "tasks.md"
    tasks.parent.mkdir(parents=True)
    tasks.write_text(TASKS, encoding="utf-8")
    played = play(sandbox, client, "[workflow:single] build shop", ROUNDS)
    [session] = status(sandbox)
    results = [fact["verdict"] for fact in facts(played.records, "subtask_finished")]
    main = [turn for turn in played.done.turns if not turn.from_subagent]

    assert ["deny", *["allow"] * 6] == sorted(said(played.records, "step_guard"), key="deny".__ne__)
    assert (["pass"] * 5, ["fail"]) == ([r for r in results if r == "pass"], [r for r in results if r == "fail"])
    assert "complete" == session["workflow"]["status"]
    assert [] == [box for box in (tasks, *tasks.parents[2].glob("archive/*/tasks.md")) if _is_open(box)]
    for marked in ("[stage:DEV.2.1] handlers", "[stage:DEV.3.1] connect all"):
        assert any(turn.texts_with(marked) for turn in main)


def _is_open(tasks: Path) -> bool:
    return tasks.exists() and "[ ]" in tasks.read_text(encoding="utf-8")
