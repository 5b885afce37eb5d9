"""What an event is decided on."""

from __future__ import annotations

from dataclasses import replace

from fakes.context import repo_context
from fakes.rules import FakeRules
from fakes.runtime import FakeWorld, fake_world
from workflow_play import Play

from upbeat.core.contract.event import Call, ClientName, Event, EventSource, ToolFinished, ToolStarting, TurnEnding
from upbeat.core.engine.evaluate import (
    MAX_NAMED_FILES,
    EventContext,
    gather_inputs,
    loop_limits,
    rule_warnings,
    with_peer_sessions,
)
from upbeat.core.rules.ruleset import RuleSet
from upbeat.core.settings import Settings, Toggle
from upbeat.core.workflow.decision import LoopLimits
from upbeat.core.workflow.state import PeerSession, SessionState

HERE = EventSource(ClientName.CLAUDE_CODE, "/repo", "s")
END = TurnEnding(HERE, "Done.", False)
TESTED = ToolFinished(HERE, Call("c", "Bash", {}), "", "pytest -q")


def context(event: Event, world: FakeWorld | None = None, *, is_enabled: bool = True) -> EventContext:
    """Return an event in a world of fakes."""
    return EventContext(event, (world or fake_world()).runtime, repo_context(), 0.0, is_enabled=is_enabled)


def running() -> SessionState:
    """Return the state of a session with a workflow."""
    play = Play()
    play.begin()
    play.prompt("[workflow:standard] add retries")
    return play.state


def test_untrusted_rules_are_named() -> None:
    """Untrusted files are named up to a limit, after the problems; if nothing is evaluated, they are not."""
    world = fake_world()
    files = tuple(f"r{number}.md" for number in range(MAX_NAMED_FILES + 2))
    world.rules = FakeRules(RuleSet(problems=("r.md:1: unknown key",), untrusted=files))
    first, second = rule_warnings(context(END, world))

    assert "r.md:1: unknown key" == first
    assert second.endswith("r0.md, r1.md, r2.md, r3.md, r4.md and 2 more")
    assert ("r.md:1: unknown key",) == rule_warnings(context(END, world, is_enabled=False))


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


def test_loop_limits() -> None:
    """Each limit of the loop is a setting."""
    assert LoopLimits(False, 1, 2, 3, 4, 5) == loop_limits(
        Settings(
            loop_enabled=Toggle.OFF,
            loop_max_turns=1,
            loop_max_consecutive_errors=2,
            loop_max_turns_without_progress=3,
            loop_max_minutes=4,
            loop_max_tokens=5,
        )
    )
