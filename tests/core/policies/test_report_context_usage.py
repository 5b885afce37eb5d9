"""When an agent is told how full its context window is."""

from __future__ import annotations

from dataclasses import replace

from policy_play import HERE, IN_AGENT, IN_CODEX, Talk, call, finished, queried, said_by, says, silent

from upbeat.core.contract.event import Event, PromptSubmitted, ToolKind, TurnEnding
from upbeat.core.policies.report_context_usage import POLICY
from upbeat.core.policy.queries import ContextUsage, ContextUsageQuery
from upbeat.core.workflow.state import SessionState

LOOK = ContextUsageQuery()
DONE = finished(call("Read", ToolKind.READ, ("/repo/a.py",)), "…")
PROMPT = PromptSubmitted(HERE, "go on")
FULL = ContextUsage(140_000, 200_000)

SAYS_NOTHING: dict[str, tuple[Event, ContextUsage | None]] = {
    "a record that does not tell": (DONE, None),
    "a window that nobody knows": (DONE, ContextUsage(900_000)),
    "a window with room": (DONE, ContextUsage(20_000, 200_000)),
    "just below the threshold": (DONE, ContextUsage(139_999, 200_000)),
    "a prompt with room": (PROMPT, ContextUsage(139_999, 200_000)),
}

SAYS: dict[str, tuple[tuple[Event, ContextUsage], str]] = {
    "at the threshold": ((DONE, FULL), "70 % full: 140,000 of 200,000 tokens"),
    "a large window": ((DONE, ContextUsage(812_345, 1_000_000)), "81 % full: 812,345 of 1,000,000 tokens"),
    "more than the window": ((DONE, ContextUsage(201_000, 200_000)), "100 % full: 201,000 of 200,000 tokens"),
    "a prompt": ((PROMPT, FULL), "70 % full"),
    "a call in an agent": ((replace(DONE, source=IN_AGENT), FULL), "70 % full"),
    "a call in Codex": (
        (replace(DONE, source=IN_CODEX), ContextUsage(250_000, 258_400)),
        "96 % full: 250,000 of 258,400",
    ),
}

test_says_nothing_for = silent(SAYS_NOTHING, lambda case: said_by(POLICY, case[0], found={LOOK: case[1]}))


test_says = says(SAYS, lambda case, language: said_by(POLICY, case[0], language, found={LOOK: case[1]}))


def test_once_for_each_agent() -> None:
    """Each agent is told once."""
    talk = Talk(POLICY, {LOOK: FULL})
    in_agent = replace(DONE, source=IN_AGENT)
    said = [len(talk.say(event)) for event in (DONE, DONE, PROMPT, in_agent, in_agent)]

    assert [1, 0, 0, 1, 0] == said


def test_queries_until_reported() -> None:
    """The usage is queried until it was reported, at the events that can report it."""
    talk = Talk(POLICY, {LOOK: FULL})
    before = [queried(POLICY, event, SessionState()) for event in (DONE, PROMPT, TurnEnding(HERE, "Done."))]
    talk.say(DONE)

    assert [(LOOK,), (LOOK,), ()] == before
    assert [(), (LOOK,)] == [queried(POLICY, event, talk.state) for event in (DONE, replace(DONE, source=IN_AGENT))]
