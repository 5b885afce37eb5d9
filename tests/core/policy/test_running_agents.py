"""Which subagents are running, as a fold over events."""

from __future__ import annotations

from functools import reduce

import pytest
from policy_play import HERE, call

from upbeat.core.contract.event import (
    Event,
    SessionStarted,
    SubagentEnding,
    SubagentReturned,
    SubagentStarted,
    ToolKind,
)
from upbeat.core.policy.running_agents import MAX_AGENTS, RunningAgent, running_agents, update_running_agents

STARTED = SubagentStarted(HERE, "a1", "upbeat:tester")
CALLED = call("Agent", ToolKind.DELEGATE)
IS = RunningAgent("a1", "upbeat:tester", 1000.0)

COURSES: dict[str, tuple[list[Event], tuple[RunningAgent, ...]]] = {
    "one that began": ([STARTED], (IS,)),
    "one that began twice": ([STARTED, STARTED], (IS,)),
    "one without a kind": ([SubagentStarted(HERE, "a1", "")], (RunningAgent("a1", "", 1000.0),)),
    "one whose id has spaces": ([SubagentStarted(HERE, "a 1", "x")], (RunningAgent("a_1", "x", 1000.0),)),
    "one that has no id": ([SubagentStarted(HERE, "", "x")], ()),
    "a launch": ([STARTED, SubagentReturned(HERE, CALLED, "a1")], (IS,)),
    "an answer": ([STARTED, SubagentReturned(HERE, CALLED, "a1", "Done.")], ()),
    "a call that came to nothing": ([STARTED, SubagentReturned(HERE, CALLED, "a1", has_failed=True)], ()),
    "an end": ([STARTED, SubagentEnding(HERE, "a1", "upbeat:tester", "Done.")], ()),
    "the end of another": ([STARTED, SubagentEnding(HERE, "a12", "", "a summary")], (IS,)),
    "a compaction": ([STARTED, SessionStarted(HERE, "compact")], (IS,)),
    "a new process": ([STARTED, SessionStarted(HERE, "resume")], ()),
}


@pytest.mark.parametrize(("events", "expected"), COURSES.values(), ids=COURSES)
def test_running(events: list[Event], expected: tuple[RunningAgent, ...]) -> None:
    """A subagent is running from its start to its end, or to the end of the client's process."""
    notes = reduce(lambda notes, event: update_running_agents(notes, event, 1000.0), events, ("another note",))

    assert (expected, "another note") == (running_agents(notes), notes[0])


def test_agents_are_limited() -> None:
    """The number of subagents is limited to the latest."""
    events = [SubagentStarted(HERE, f"a{number}", "x") for number in range(MAX_AGENTS + 5)]
    kept = running_agents(reduce(lambda notes, event: update_running_agents(notes, event, 1.0), events, ()))

    assert (MAX_AGENTS, "a5") == (len(kept), kept[0].id)


def test_invalid_notes_are_ignored() -> None:
    """Notes of another form are ignored."""
    assert (RunningAgent("a1", "x", 0.0),) == running_agents(("agent", "agent a1", "agent a1 soon x", "told 5"))
