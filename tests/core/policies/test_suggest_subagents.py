"""When the main agent is reminded that subagents can search."""

from __future__ import annotations

import pytest
from policy_play import HERE, IN_AGENT, Talk, call, finished, silent

from upbeat.core.contract.event import Event, SubagentRequested, ToolKind
from upbeat.core.policies.suggest_subagents import POLICY, SEARCH_THRESHOLD

SEARCH = finished(call("Grep", ToolKind.SEARCH))
FETCH = finished(call("WebFetch", ToolKind.FETCH))
DELEGATE = SubagentRequested(HERE, call("Agent", ToolKind.DELEGATE), "Explore", "look")

SAYS_NOTHING: dict[str, tuple[Event, ...]] = {
    "fewer searches": (SEARCH,) * (SEARCH_THRESHOLD - 1),
    "reading": (finished(call("Read", ToolKind.READ)),) * 20,
    "commands": (finished(call("Bash", ToolKind.SHELL)),) * 20,
    "searches inside an agent": (finished(call("Grep", ToolKind.SEARCH), source=IN_AGENT),) * 20,
    "searches after a delegation": (DELEGATE, *(SEARCH,) * 20),
    "a delegation among the searches": (SEARCH, SEARCH, DELEGATE, *(SEARCH,) * 20),
}

test_says_nothing_for = silent(SAYS_NOTHING, lambda events: Talk(POLICY).say_all(events))


@pytest.mark.parametrize(("language", "words"), [("en", "searched 5 times"), ("zh", "已亲自搜索 5 次")])
def test_says_once(language: str, words: str) -> None:
    """The suggestion is made once, at the threshold, in both languages."""
    talk = Talk(POLICY, language=language)
    said = [talk.say(event) for event in (SEARCH, FETCH, SEARCH, FETCH, *(SEARCH,) * 20)]

    assert [index for index, effects in enumerate(said) if effects] == [SEARCH_THRESHOLD - 1]
    assert words in said[SEARCH_THRESHOLD - 1][0].text
