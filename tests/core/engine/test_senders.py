"""Which events count as their client's."""

from __future__ import annotations

from typing import Any

import pytest
from fakes.runtime import fake_world
from fakes.shop import CLAUDE

from upbeat.core.contract.arrival import Arrival, Route
from upbeat.core.contract.event import Call, Event, PromptSubmitted, SessionStarted, ToolKind, ToolStarting
from upbeat.core.engine.handle import handle_event
from upbeat.core.engine.pipeline import TurnRequest
from upbeat.core.workflow.state import DRIVER, RunStatus

CLIENT = Arrival(Route.COMMAND, "1:a", frozenset({"0:a"}), is_client=True)
RESUMED = Arrival(Route.SERVER, "2:a", frozenset({"0:a"}), is_client=True)
FROM_A_FILE = Arrival(Route.COMMAND)
FROM_A_SHELL = Arrival(Route.COMMAND, "9:a", frozenset({"1:a", "0:a"}))


def play(*events: tuple[Event, Arrival | None]) -> Any:
    """Handle events of one session; return the world."""
    world = fake_world()
    for event, arrival in events:
        handle_event(event, world.runtime, arrival=arrival)
    return world


def state_of(world: Any) -> Any:
    with world.runtime.journal.transaction() as transaction:
        return transaction.state(CLAUDE.session_id)


BEGUN = (SessionStarted(CLAUDE, "startup"), CLIENT)
STARTED = (PromptSubmitted(CLAUDE, "[workflow:single] add retries"), CLIENT)
STOP = PromptSubmitted(CLAUDE, "stop")


@pytest.mark.parametrize("arrival", [FROM_A_FILE, FROM_A_SHELL])
def test_forged(arrival: Arrival) -> None:
    """What comes from a file, or from a process that the client's agent started, changes nothing and says so."""
    world = play(BEGUN, STARTED, (STOP, arrival))
    record = world.journal.records[-1]

    assert RunStatus.RUNNING is state_of(world).run.status
    assert ((), "command", "does not count") == (record.facts, record.route, record.explanations[0].decision)


@pytest.mark.parametrize("arrival", [CLIENT, RESUMED, None])
def test_genuine(arrival: Arrival | None) -> None:
    """The client's own events count, those of a client that resumes the session, and those of upbeat's programs."""
    assert RunStatus.STOPPED is state_of(play(BEGUN, STARTED, (STOP, arrival))).run.status


def test_a_resumed_session_has_a_new_sender() -> None:
    """After a resume, the client that resumed it is the one that counts."""
    world = play(BEGUN, (SessionStarted(CLAUDE, "resume"), RESUMED))

    assert "2:a" == state_of(world).sender


def test_a_session_without_a_proven_sender() -> None:
    """Where nothing shows who sends, as through a wrapper of the user's own, events count as they did."""
    world = play((SessionStarted(CLAUDE, "startup"), FROM_A_FILE), (STARTED[0], FROM_A_FILE), (STOP, FROM_A_FILE))

    assert ("", RunStatus.STOPPED) == (state_of(world).sender, state_of(world).run.status)


def test_a_driven_session() -> None:
    """In a session of a program that drives the client, hooks count if the client itself sends them."""
    world = fake_world()
    request = TurnRequest(CLAUDE, "", event_name="Turn")
    handle_event(SessionStarted(CLAUDE, "startup"), world.runtime, request=request)
    assert DRIVER == state_of(world).sender

    handle_event(STARTED[0], world.runtime, arrival=Arrival(Route.COMMAND, "7:a", frozenset({"3:a"})))
    assert None is state_of(world).run

    handle_event(STARTED[0], world.runtime, arrival=CLIENT)
    assert "single" == state_of(world).run.workflow


def test_guards_hold_for_any_sender() -> None:
    """A call of a sender that does not count is still judged."""
    world = play(BEGUN)
    call = Call("c", "Bash", {"command": "rm -rf ~"}, ToolKind.SHELL)
    decision = handle_event(ToolStarting(CLAUDE, call, "rm -rf ~"), world.runtime, arrival=FROM_A_SHELL)

    assert ["Deny"] == [type(effect).__name__ for effect in decision.effects]
