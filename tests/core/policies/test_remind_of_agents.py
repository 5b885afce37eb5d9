"""When the main agent is reminded that others can search."""

from __future__ import annotations

import pytest
from policy_play import HERE, IN_AGENT, Talk, call, finished

from upbeat.core.contract.event import Act, Delegating, Event
from upbeat.core.policies.remind_of_agents import POLICY, SEARCHES

SEARCH = finished(call("Grep", Act.SEARCH))
FETCH = finished(call("WebFetch", Act.FETCH))
DELEGATE = Delegating(HERE, call("Agent", Act.DELEGATE), "Explore", "look")

SAYS_NOTHING: dict[str, tuple[Event, ...]] = {
    "fewer searches": (SEARCH,) * (SEARCHES - 1),
    "reading": (finished(call("Read", Act.READ)),) * 20,
    "commands": (finished(call("Bash", Act.SHELL)),) * 20,
    "searches inside an agent": (finished(call("Grep", Act.SEARCH), source=IN_AGENT),) * 20,
    "searches after a delegation": (DELEGATE, *(SEARCH,) * 20),
    "a delegation among the searches": (SEARCH, SEARCH, DELEGATE, *(SEARCH,) * 20),
}


@pytest.mark.parametrize("events", SAYS_NOTHING.values(), ids=SAYS_NOTHING)
def test_says_nothing_for(events: tuple[Event, ...]) -> None:
    """Says nothing to who searches little, or delegates."""
    talk = Talk(POLICY)

    assert [talk.say(event) for event in events] == [()] * len(events)


def test_is_off() -> None:
    """It is off until its user wants it."""
    assert not POLICY.is_on


@pytest.mark.parametrize(("language", "words"), [("en", "5 searches of your own"), ("zh", "已亲自搜索 5 次")])
def test_says_once(language: str, words: str) -> None:
    """At the threshold it says so, in both languages, and never again."""
    talk = Talk(POLICY, language=language)
    said = [talk.say(event) for event in (SEARCH, FETCH, SEARCH, FETCH, *(SEARCH,) * 20)]

    assert [index for index, effects in enumerate(said) if effects] == [SEARCHES - 1]
    assert words in said[SEARCHES - 1][0].text
