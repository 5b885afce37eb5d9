"""Commands by which a model would control its own workflow."""

from __future__ import annotations

import pytest
from workflow_play import Play, started

from upbeat.core.contract.event import Call, ToolStarting
from upbeat.core.workflow.state import RunStatus


def denied(play: Play, command: str) -> str:
    """The reason for which the shell line is denied; empty if it is not."""
    play.handle(ToolStarting(play.source, Call("c", "Bash", {"command": command}), command))
    return play.denied


@pytest.mark.parametrize(
    "command",
    [
        "upbeat workflow start single done",
        "cd /tmp && upbeat workflow stop",
        "bash -lc 'upbeat workflow stop'",
        "python3 -m upbeat workflow continue",
        "~/.local/bin/upbeat workflow resume --client codex",
        "echo '{}' | upbeat hook claude-code",
    ],
)
def test_a_model_does_not_leave_its_workflow(command: str) -> None:
    """While a workflow is open, only the user stops, replaces or hands it over, and only the client reports events."""
    assert "is the user's to run" in denied(started("review-only"), command)


@pytest.mark.parametrize(
    "command",
    ["upbeat workflow list", "upbeat status", "upbeat exec -- pytest", "echo upbeat workflow stop", "upbeat why", ""],
)
def test_other_commands_are_not_affected(command: str) -> None:
    """What only shows something, or runs a test, is allowed."""
    assert "" == denied(started("review-only"), command)


def test_a_model_may_start_a_workflow_if_none_is_open() -> None:
    """The command that chooses a workflow says so; a stopped one only the user resumes."""
    play = Play()
    assert "" == denied(play, "upbeat workflow start quick add retries")
    stopped = started("quick")
    stopped.prompt("stop")

    assert RunStatus.STOPPED is stopped.run.status
    assert "" == denied(stopped, "upbeat workflow start quick add retries")
    assert "" != denied(stopped, "upbeat workflow continue")
