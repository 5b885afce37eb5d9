"""What a workflow decides an event on is looked up only for events that need it."""

from __future__ import annotations

from dataclasses import replace

from fakes.context import repo_context
from fakes.runtime import FakeWorld, fake_world
from policy_play import HERE
from workflow_play import Play

from upbeat.core.contract.event import Call, Event, ToolFinished, ToolStarting, TurnEnding
from upbeat.core.engine.evaluate import EventContext
from upbeat.core.engine.inputs import gather_inputs, with_peer_sessions
from upbeat.core.workflow.state import PeerSession, SessionState

END = TurnEnding(HERE, "Done.", False)
TESTED = ToolFinished(HERE, Call("c", "Bash", {}), "", "pytest -q")


def context(event: Event, world: FakeWorld) -> EventContext:
    """Return an event in a world of fakes."""
    return EventContext(event, world.runtime, repo_context(), 0.0)


def running() -> SessionState:
    """Return the state of a session with a workflow."""
    play = Play()
    play.begin()
    play.prompt("[workflow:standard] add retries")
    return play.state


def test_only_needed_inputs_are_gathered() -> None:
    """The working tree, the transcript and the features are read only for an event that needs them."""
    world = fake_world()
    world.workspace.texts["retries"] = "- [ ] a\n"
    world.transcripts.used, world.transcripts.codes = 7, {"c": 1}
    idle = gather_inputs(context(ToolStarting(HERE, Call("c", "Bash", {}), "ls"), world), running())
    tested = gather_inputs(context(TESTED, world), running())
    ending = gather_inputs(context(END, world), running())

    assert ("", None, None, ()) == (idle.tree_digest, idle.tokens, idle.exit_code, idle.features_in_progress)
    assert ("tree 1", None, 1, ()) == (tested.tree_digest, tested.tokens, tested.exit_code, tested.features_in_progress)
    assert ("tree 1", 7, None, ("retries",)) == (
        ending.tree_digest,
        ending.tokens,
        ending.exit_code,
        ending.features_in_progress,
    )


def test_peer_sessions() -> None:
    """The runs of other sessions are added if the event needs them; the session's own run is left out."""
    world, state = fake_world(), running()
    assert state.run is not None
    other = replace(state, run=replace(state.run, id="other"))
    world.journal.states |= {"s": state, "t": other}
    world.journal.times |= {"s": 1.0, "t": 2.0}
    world.journal.roots |= {"s": "/repo", "t": "/repo"}
    inputs = gather_inputs(context(END, world), state)
    with world.journal.transaction() as transaction:
        ending = with_peer_sessions(inputs, END, transaction, state)
        tested = with_peer_sessions(inputs, TESTED, transaction, state)

    assert (PeerSession("t", other, 2.0),) == ending.peer_sessions
    assert inputs == tested
