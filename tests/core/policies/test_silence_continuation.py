"""The switch after which no turn is sent on."""

from __future__ import annotations

import pytest
from policy_play import HERE, Talk, said_by

from upbeat.core.contract.effect import KeepGoing, Stop
from upbeat.core.contract.event import Origin, PromptSubmitted, TurnEnding
from upbeat.core.merge import Room, Voice, merge
from upbeat.core.policies.silence_continuation import POLICY, is_quiet
from upbeat.core.turn.truncate import Cap

ENDS = TurnEnding(HERE, "There is more to do.")

LEAVES_ON = [
    "go on",
    "stop the server when the test ends",
    "why does it stop?",
    "what does /upbeat:quiet do?",
    "/upbeat:status",
    "/upbeat:standard add retries",
    "/upbeat:goal all tests pass",
    "```\n/upbeat:quiet\n```",
]
SILENCES = ["/upbeat:quiet", "$upbeat:quiet", " /upbeat:QUIET please", "stop", "停", "/upbeat:stop", "Stop!"]
LIFTS = ["add retries", "continue", "/upbeat:standard add retries", "/upbeat:goal all tests pass"]


@pytest.mark.parametrize("prompt", LEAVES_ON)
def test_says_nothing_after(prompt: str) -> None:
    """Says nothing after a prompt that does not ask for quiet."""
    talk = Talk(POLICY)
    talk.say(PromptSubmitted(HERE, prompt))

    assert ((), False) == (talk.say(ENDS), is_quiet(talk.state))


def test_an_agents_prompt_is_none_of_its_users() -> None:
    """What one agent writes to another neither silences nor lifts."""
    talk = Talk(POLICY)
    talk.say(PromptSubmitted(HERE, "stop", Origin.SUBAGENT))

    assert () == talk.say(ENDS)


@pytest.mark.parametrize("prompt", SILENCES)
def test_lets_turns_end_after(prompt: str) -> None:
    """Lets every turn end after these, until another prompt; a compaction in between changes nothing."""
    talk = Talk(POLICY)
    talk.say(PromptSubmitted(HERE, prompt))
    talk.say(PromptSubmitted(HERE, "/upbeat:status"))

    assert [Stop, Stop] == [type(effect) for _ in range(2) for effect in talk.say(ENDS)]
    assert POLICY.stays


@pytest.mark.parametrize("prompt", LIFTS)
def test_an_ordinary_prompt_lifts_it(prompt: str) -> None:
    """The user's next prompt, or a command to go on, lifts it."""
    talk = Talk(POLICY)
    talk.say(PromptSubmitted(HERE, "/upbeat:quiet"))
    talk.say(PromptSubmitted(HERE, prompt))

    assert () == talk.say(ENDS)


def test_it_wins_over_every_voice() -> None:
    """No voice sends a turn on that it lets end, whatever the order."""
    [stop] = said_by(POLICY, ENDS, notes=("quiet",))
    voices = [Voice("workflow", (KeepGoing("go on"),), 0), Voice("policy silence-continuation", (stop,), POLICY.rank)]

    assert [(stop,), (stop,)] == [merge(order, Room(Cap(1000))).effects for order in (voices, voices[::-1])]


def test_speaks_both_languages() -> None:
    """What it says is said in the person's language."""
    assert said_by(POLICY, ENDS, notes=("quiet",)) != said_by(POLICY, ENDS, language="zh", notes=("quiet",))
