"""The end of a turn, handled with fakes: several parts may continue it, and one decision is made."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from fakes.runtime import FakeWorld, fake_world
from fakes.shop import CLAUDE

from upbeat.core.contract.effect import ContinueTurn, EndTurn
from upbeat.core.contract.event import (
    Call,
    Event,
    PromptSubmitted,
    SessionEnded,
    SessionStarted,
    Task,
    ToolFinished,
    ToolKind,
    ToolStarting,
    TurnEnding,
)
from upbeat.core.engine.handle import adopt_session, handle_event
from upbeat.core.workflow.facts import TurnAllowed, TurnContinued
from upbeat.core.workflow.state import SessionState

ENDS = TurnEnding(CLAUDE, "I went on.")
LIST = Call(
    "t", "TodoWrite", {}, ToolKind.TASK_LIST, tasks=(Task("write tests", is_done=False),), is_full_task_list=True
)
LISTED = ToolFinished(CLAUDE, LIST)
WORKS = ToolStarting(CLAUDE, Call("c", "Bash", {"command": "make"}, ToolKind.SHELL), "make")


def prompt(text: str) -> Event:
    return PromptSubmitted(CLAUDE, text)


def state_of(world: FakeWorld) -> SessionState:
    with world.journal.transaction() as transaction:
        return transaction.state(CLAUDE.session_id)


def endings(world: Any, *events: Event) -> list[tuple[type, str]]:
    """Return the kinds of the effects that continue or end the last of ``events``, and the start of their texts."""
    for event in events[:-1]:
        handle_event(event, world.runtime)
    decision = handle_event(events[-1], world.runtime)
    return [(type(e), e.text[:24]) for e in decision.effects if isinstance(e, ContinueTurn | EndTurn)]


def test_one_part_continues_a_turn() -> None:
    """A workflow precedes a goal, and a goal the todo list."""
    world = fake_world()
    alone = endings(world, prompt("add retries"), LISTED, WORKS, ENDS)
    with_goal = endings(world, prompt("/upbeat:goal all tests pass"), WORKS, ENDS)
    with_workflow = endings(world, prompt("/upbeat:standard add retries"), WORKS, ENDS)

    assert [[ContinueTurn], [ContinueTurn], [ContinueTurn]] == [
        [kind for kind, _ in effects] for effects in (alone, with_goal, with_workflow)
    ]
    assert ("Your todo list ", "The user's goal is n") == (alone[0][1][:15], with_goal[0][1][:20])
    assert "goal" not in with_workflow[0][1]


def test_quiet_ends_a_turn_of_a_workflow() -> None:
    """A turn that the user wants to end counts as no continuation; after the next prompt the workflow continues."""
    world = fake_world()
    quiet = endings(world, prompt("/upbeat:standard add retries"), prompt("/upbeat:quiet"), WORKS, ENDS)
    facts = world.journal.records[-1].facts
    again = endings(world, prompt("and in Chinese"), WORKS, ENDS)

    assert ([EndTurn], [ContinueTurn]) == ([kind for kind, _ in quiet], [kind for kind, _ in again])
    assert (True, False) == (
        any(fact == TurnAllowed("stopped by another component") for fact in facts),
        any(isinstance(fact, TurnContinued) for fact in facts),
    )
    assert 1 == state_of(world).loop.iterations


def test_a_goal_survives_the_renaming_of_its_session() -> None:
    """A goal of the first prompt belongs to the thread that the client begins for it."""
    world = fake_world()
    handle_event(prompt("/upbeat:goal all tests pass"), world.runtime)
    named = replace(CLAUDE, session_id="thread-1")
    adopt_session(named, CLAUDE.session_id, world.runtime)
    with world.journal.transaction() as transaction:
        notes = transaction.state("thread-1").notes_of("pursue-goal")

    assert "all tests pass" in notes[0]


def test_a_stop_word_ends_everything() -> None:
    """After ``stop`` no workflow, goal or todo list continues the turn."""
    world = fake_world()
    done = endings(
        world,
        *(prompt("/upbeat:goal all tests pass"), prompt("/upbeat:standard add retries"), LISTED),
        *(prompt("stop"), WORKS, ENDS),
    )

    assert ([EndTurn], ()) == ([kind for kind, _ in done], state_of(world).notes_of("pursue-goal"))


def test_the_end_of_a_session_is_recorded_once() -> None:
    """Of two reports of one end the first is recorded; a prompt after it begins the session anew."""
    world = fake_world()
    for event in (SessionStarted(CLAUDE, "startup"), SessionEnded(CLAUDE, "other"), SessionEnded(CLAUDE, "other")):
        handle_event(event, world.runtime)
    handle_event(PromptSubmitted(CLAUDE, "hello"), world.runtime)
    with world.journal.transaction() as transaction:
        is_over = transaction.state(CLAUDE.session_id).has_ended
    handle_event(SessionEnded(CLAUDE, "other"), world.runtime)

    names = [record.event for record in world.journal.records]
    assert ["SessionStarted", "SessionEnded", "PromptSubmitted", "SessionEnded"] == names
    assert not is_over
