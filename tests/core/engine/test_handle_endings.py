"""The end of a turn on fakes: many may want to send it on, and one decision comes out."""

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


def said(world: Any, *events: Event) -> list[tuple[type, str]]:
    """What comes of the last of ``events``: the kinds of its effects, and the policies that they are from."""
    for event in events[:-1]:
        handle_event(event, world.runtime)
    decision = handle_event(events[-1], world.runtime)
    return [(type(one), one.text[:24]) for one in decision.effects if isinstance(one, ContinueTurn | EndTurn)]


def test_one_voice_sends_a_turn_on() -> None:
    """A workflow comes before a goal, and a goal before the list."""
    world = fake_world()
    alone = said(world, prompt("add retries"), LISTED, WORKS, ENDS)
    with_goal = said(world, prompt("/upbeat:goal all tests pass"), WORKS, ENDS)
    with_workflow = said(world, prompt("/upbeat:standard add retries"), WORKS, ENDS)

    assert [[ContinueTurn], [ContinueTurn], [ContinueTurn]] == [
        [kind for kind, _ in one] for one in (alone, with_goal, with_workflow)
    ]
    assert ("Your todo list ", "The user's goal is n") == (alone[0][1][:15], with_goal[0][1][:20])
    assert "goal" not in with_workflow[0][1]


def test_quiet_silences_the_workflow_too() -> None:
    """A turn that its user wants to end is not counted as a continuation, and the next prompt goes on."""
    world = fake_world()
    quiet = said(world, prompt("/upbeat:standard add retries"), prompt("/upbeat:quiet"), WORKS, ENDS)
    facts = world.journal.records[-1].facts
    again = said(world, prompt("and in Chinese"), WORKS, ENDS)

    assert ([EndTurn], [ContinueTurn]) == ([kind for kind, _ in quiet], [kind for kind, _ in again])
    assert (True, False) == (
        any(fact == TurnAllowed("stopped by another component") for fact in facts),
        any(isinstance(fact, TurnContinued) for fact in facts),
    )
    assert 1 == state_of(world).loop.iterations


def test_what_was_set_before_the_session_had_its_name_holds() -> None:
    """A goal of the first prompt is that of the thread which its client begins for it."""
    world = fake_world()
    handle_event(prompt("/upbeat:goal all tests pass"), world.runtime)
    named = replace(CLAUDE, session_id="thread-1")
    adopt_session(named, CLAUDE.session_id, world.runtime)
    with world.journal.transaction() as transaction:
        notes = transaction.state("thread-1").notes_of("pursue-goal")

    assert "all tests pass" in notes[0]


def test_a_stop_word_silences_everything() -> None:
    """After ``stop`` there is no workflow, no goal, and nobody asks for the list."""
    world = fake_world()
    done = said(
        world,
        *(prompt("/upbeat:goal all tests pass"), prompt("/upbeat:standard add retries"), LISTED),
        *(prompt("stop"), WORKS, ENDS),
    )

    assert ([EndTurn], ()) == ([kind for kind, _ in done], state_of(world).notes_of("pursue-goal"))
