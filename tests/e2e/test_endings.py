"""Goals, lists and the kill switch behind the hooks of the real clients."""

from __future__ import annotations

import pytest
from processes import read_log

from .sandbox import Sandbox
from .workflow_scripts import Round
from .workflow_sessions import carry_out, prepare

MET = 'All pass. <!-- GOAL: {"result": "MET", "audit": "make test: 12 passed, none skipped"} -->'
ROUNDS: list[Round] = ["I have begun.", MET]


@pytest.mark.parametrize("prompt", ["[goal: all tests pass]", "/upbeat:goal all tests pass"])
def test_a_goal_continues_the_turn_until_it_is_met(sandbox: Sandbox, client: str, prompt: str) -> None:
    """The turn is continued once, and ends with a line that says how the goal was checked."""
    prepare(sandbox, client)
    written = prompt.replace("/", "$", 1) if client == "codex" else prompt
    done = carry_out(sandbox, client, written, ROUNDS)
    endings = [entry for entry in read_log(sandbox.home) if entry["event"] == "TurnEnding"]

    assert 0 == done.exit_code
    assert [0, 1] == [turn.count("The user's goal is not met yet") for turn in done.turns]
    assert 1 == done.turns[0].count("The user has set a goal for this session")
    assert [["continue_turn"], ["notify_user"]] == [[one["kind"] for one in entry["effects"]] for entry in endings]


def test_quiet_ends_the_turn(sandbox: Sandbox, client: str) -> None:
    """A quiet session ends its turn, though its workflow has work left."""
    prepare(sandbox, client)
    carry_out(sandbox, client, "[workflow:single] add retries to save_order", ["Which database?"])
    session = read_log(sandbox.home)[-1]["session_id"]
    quiet = "$upbeat:quiet" if client == "codex" else "/upbeat:quiet"
    done = carry_out(sandbox, client, quiet, ["I am quiet now."], session=session)
    last = [entry for entry in read_log(sandbox.home) if entry["event"] == "TurnEnding"][-1]

    assert (0, 1) == (done.exit_code, len(done.turns))
    assert ["end_turn"] == [one["kind"] for one in last["effects"]]
