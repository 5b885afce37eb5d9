"""A call that starts shows that the agent is at work; reading a handoff of the run needs no question."""

from __future__ import annotations

from dataclasses import replace

from workflow_play import Play

from upbeat.core.contract.event import Call, ToolKind, ToolStarting
from upbeat.core.workflow.decide.starting_calls import on_tool_starting
from upbeat.core.workflow.facts import ToolUsed
from upbeat.core.workflow.handoff import handoff_path
from upbeat.core.workflow.state import NEW_SESSION, LoopState


def test_a_call_after_a_continuation_is_noted() -> None:
    """Without one there is nothing to note."""
    event = ToolStarting(Play().source, Call("c", "Bash", {}), "ls")
    continued = replace(NEW_SESSION, loop=LoopState(was_continued=True))

    assert () == on_tool_starting(event, NEW_SESSION, "").facts
    assert (ToolUsed(),) == on_tool_starting(event, continued, "").facts


def test_a_handoff_is_approved_only_with_its_folder() -> None:
    """The path of a handoff outside of the folder is any path."""
    play = Play(handoff_folder="/state/handoffs")
    play.prompt("[workflow:quick] add retries")
    play.does("developer", "It is written.")
    path = handoff_path("/state/handoffs", play.run.id, "DEV")
    event = ToolStarting(play.source, Call("c", "Read", {}, ToolKind.READ, (path,)))

    assert on_tool_starting(event, play.state, "/state/handoffs").effects
    assert not on_tool_starting(event, play.state, "").effects
    assert not on_tool_starting(event, play.state, "/elsewhere").effects
