"""When the agent is reminded of a stale todo list."""

from __future__ import annotations

import pytest
from policy_play import IN_AGENT, Talk, asked, call, finished, silent, todo_list, view_of

from upbeat.core.contract.event import Event, ToolKind
from upbeat.core.policies.remind_about_stale_todos import CALL_THRESHOLD, POLICY

OTHER = finished(call("Read", ToolKind.READ))

OPEN = todo_list("test it", "ship it", done=("write it",))
DONE = todo_list(done=("write it",))

SAYS_NOTHING: dict[str, tuple[Event, ...]] = {
    "no list": (OTHER,) * 30,
    "a list that is done": (DONE, *(OTHER,) * 30),
    "fewer calls": (OPEN, *(OTHER,) * (CALL_THRESHOLD - 1)),
    "a list that is touched again": (OPEN, *(OTHER,) * (CALL_THRESHOLD - 1), OPEN, *(OTHER,) * (CALL_THRESHOLD - 1)),
    "a list that gets done in between": (OPEN, *(OTHER,) * (CALL_THRESHOLD - 1), DONE, *(OTHER,) * 30),
    "calls of an agent": (OPEN, *(finished(call("Read", ToolKind.READ), source=IN_AGENT),) * 30),
}

test_says_nothing_for = silent(SAYS_NOTHING, lambda events: Talk(POLICY).say_all(events))


@pytest.mark.parametrize(("language", "words"), [("en", "2 open, the first: “test it”"), ("zh", "尚有 2 项未完成")])
def test_says(language: str, words: str) -> None:
    """The agent is reminded after every ``CALL_THRESHOLD`` calls, in both languages."""
    talk = Talk(POLICY, language=language)
    said = [talk.say(event) for event in (OPEN, *(OTHER,) * (2 * CALL_THRESHOLD + 1))]

    assert [index for index, effects in enumerate(said) if effects] == [CALL_THRESHOLD, 2 * CALL_THRESHOLD]
    assert words in said[CALL_THRESHOLD][0].text


@pytest.mark.parametrize("note", ["calls x", "calls -1", "calls 99999", "calls ", "other"])
def test_invalid_counts_are_zero(note: str) -> None:
    """An invalid count in the notes counts as zero."""
    before = asked(POLICY, OPEN).notes or ()

    assert asked(POLICY, OTHER, view_of(POLICY, (*before, note))).effects == ()
