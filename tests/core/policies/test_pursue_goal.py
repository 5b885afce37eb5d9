"""A goal of the user: how it is set, what it takes to be met, and what ends it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from policy_play import HERE, IN_AGENT, Talk, shell, starting
from workflow_play import Play

from upbeat.core.contract.effect import Inject, KeepGoing, TellUser
from upbeat.core.contract.event import (
    AskingUser,
    Call,
    Event,
    Origin,
    PromptSubmitted,
    SessionStarted,
    TurnEnding,
    TurnFailed,
    TurnInterrupted,
)
from upbeat.core.policies.policy import View
from upbeat.core.policies.pursue_goal import MAX_GOAL, MAX_TURNS, POLICY, has_the_floor
from upbeat.core.workflow.outcome import Caps

WORKS = starting(shell("make"))
AUDIT = "pytest: 12 passed; README names the flag"


def ends(message: str = "I went on.") -> TurnEnding:
    return TurnEnding(HERE, message)


def begun(goal: str = "all tests pass", language: str = "en") -> Talk:
    """A session with a goal, whose agent has worked."""
    talk = Talk(POLICY, language=language)
    talk.say(PromptSubmitted(HERE, f"/upbeat:goal {goal}"))
    talk.say(WORKS)
    return talk


def id_of(talk: Talk) -> str:
    return next(note.split()[1] for note in talk.state.notes(POLICY.name) if note.startswith("goal "))


def met(talk: Talk, audit: str = AUDIT, call: str | None = None) -> str:
    return f'<!-- GOAL: {{"result": "MET", "call": "{id_of(talk) if call is None else call}", "audit": "{audit}"}} -->'


def kinds(talk: Talk, event: Event) -> list[type]:
    return [type(effect) for effect in talk.say(event)]


NO_GOAL = [
    "all tests pass",
    "the goal: all tests pass",
    "goal all tests pass",
    "write `[goal: x]` into the README",
    "```\n[goal: all tests pass]\n```",
    'he wrote "[goal: all tests pass]"',
    "what does /upbeat:goal do?",
    "/other:goal x",
    "[goal]",
    "[goal: ]",
]
SETS = {
    "/upbeat:goal all tests pass": "all tests pass",
    "$upbeat:goal all tests pass\nand docs": "all tests pass\nand docs",
    "[goal: all tests pass]": "all tests pass",
    '加上重试 [Goal: "make" passes ]': '"make" passes',
}


@pytest.mark.parametrize("prompt", NO_GOAL)
def test_says_nothing_for(prompt: str) -> None:
    """What is no command sets no goal, and turns end as they do without one."""
    talk = Talk(POLICY)

    assert ((), (), "") == (talk.say(PromptSubmitted(HERE, prompt)), talk.say(ends()), has_the_floor(talk.state))


def test_only_its_user_sets_a_goal() -> None:
    """An agent's prompt to another one sets none."""
    talk = Talk(POLICY)
    talk.say(PromptSubmitted(HERE, "/upbeat:goal x", Origin.SUBAGENT))

    assert () == talk.say(ends())


@pytest.mark.parametrize(("prompt", "goal"), SETS.items())
def test_sets(prompt: str, goal: str) -> None:
    """The goal is set as its user wrote it, and the model is told the line that ends it."""
    talk = Talk(POLICY)
    inject, told = talk.say(PromptSubmitted(HERE, prompt))

    assert (Inject, TellUser) == (type(inject), type(told))
    assert f"---\n{goal}\n---" in inject.text
    assert f'"call": "{id_of(talk)}"' in inject.text


@pytest.mark.parametrize(("length", "is_set"), [(MAX_GOAL, True), (MAX_GOAL + 1, False)])
def test_a_goal_is_bounded(length: int, is_set: bool) -> None:
    """A longer goal is not set, and its user is told."""
    talk = Talk(POLICY)
    effects = talk.say(PromptSubmitted(HERE, "/upbeat:goal " + "x" * length))

    assert (is_set, TellUser) == (bool(talk.state.notes(POLICY.name)), type(effects[-1]))


def test_sends_on_until_it_is_met() -> None:
    """Turns are sent on with the goal and the line, and end with one that says how it was checked."""
    talk = begun()
    [onward] = talk.say(ends())
    talk.say(WORKS)
    [told] = talk.say(ends(f"Done.\n{met(talk)}"))

    assert (KeepGoing, TellUser) == (type(onward), type(told))
    assert '"all tests pass"' in onward.text
    assert AUDIT in told.text
    assert ((), "") == (talk.say(ends()), has_the_floor(talk.state))


NOT_MET: dict[str, Callable[[Talk], str]] = {
    "words": lambda _talk: "The goal is met, all tests pass.",
    "a line in a fence": lambda talk: f"```\n{met(talk)}\n```",
    "a line in backticks": lambda talk: f"The line is `{met(talk)}`.",
    "a quoted line": lambda talk: f"> {met(talk)}",
    "a line in quotes": lambda talk: f"It says “{met(talk)}” there.",
    "the line of another goal": lambda talk: met(talk, call="zzzz"),
    "a line without how": lambda talk: met(talk, audit=""),
    "the line as it was shown": lambda talk: met(talk, audit="each part of the goal, and how you checked it"),
    "another result": lambda talk: met(talk).replace("MET", "NOT MET"),
    "two that contradict each other": lambda talk: f"{met(talk)}\n{met(talk).replace('MET', 'OPEN')}",
}


@pytest.mark.parametrize("message", NOT_MET.values(), ids=NOT_MET)
def test_is_not_met_by(message: Callable[[Talk], str]) -> None:
    """Nothing but the line of this goal, said by the agent itself and with how it was checked, meets it."""
    talk = begun()

    assert [KeepGoing] == kinds(talk, ends(message(talk)))


def test_is_met_by_what_codex_escapes() -> None:
    """The line counts with its brackets escaped, too, and without the goal's own number."""
    talk, other = begun(), begun()
    escaped = met(talk).replace("<", "&lt;").replace(">", "&gt;")

    assert [[TellUser], [TellUser]] == [kinds(talk, ends(escaped)), kinds(other, ends(met(other, call="")))]


LETS_GO: dict[str, list[Event]] = {
    "a question to the user": [ends("Which one?")],
    "agents in the background": [replace(ends(), running=2)],
    "the mode that only plans": [replace(ends(), is_planning=True)],
    "a question with the client's tool": [AskingUser(HERE, Call("q", "AskUserQuestion", {})), ends()],
    "a user who asks something else": [PromptSubmitted(HERE, "what is a retry?"), WORKS, ends()],
    "the end of an agent": [replace(ends(), source=IN_AGENT)],
    "a minute after a compaction": [SessionStarted(HERE, "compact"), ends()],
    "a conversation that was cleared": [SessionStarted(HERE, "clear"), ends()],
}


@pytest.mark.parametrize("events", LETS_GO.values(), ids=LETS_GO)
def test_lets_go(events: list[Event]) -> None:
    """A turn may end for the same reasons as in a workflow."""
    talk = begun()

    assert () == [talk.say(event) for event in events][-1]


TAKEN_BACK = ["/upbeat:goal off", "$upbeat:goal OFF.", "[goal: off]", "/upbeat:goal 取消", "stop", "停", "/upbeat:stop"]


@pytest.mark.parametrize("prompt", TAKEN_BACK)
def test_its_user_takes_it_back(prompt: str) -> None:
    """The word off, or a stop word, ends it, and says so."""
    talk = begun()

    assert ([TellUser], ()) == (kinds(talk, PromptSubmitted(HERE, prompt)), talk.say(ends()))


def test_breaking_off_takes_it_back() -> None:
    """A turn that its user broke off ends the goal."""
    talk = begun()

    assert ([TellUser], ()) == (kinds(talk, TurnInterrupted(HERE)), talk.say(ends()))


def test_a_workflow_has_the_floor() -> None:
    """While a workflow runs, that is what sends turns on."""
    play = Play()
    play.prompt("/upbeat:standard add retries")
    talk = begun()
    view = View(replace(talk.state, run=play.state.run), talk.state.notes(POLICY.name), 1000.0)

    assert () == POLICY.on[TurnEnding](ends(), view).effects


def test_gives_up_without_anything_new() -> None:
    """Three turns in which nothing is done, or the same is said, and it waits for its user."""
    talk = begun()
    said = []
    for _ in range(5):
        said += [kinds(talk, ends("The same."))]
        talk.say(WORKS)
    talk.say(PromptSubmitted(HERE, "try it with a queue"))
    talk.say(WORKS)

    assert [[KeepGoing]] * 3 + [[TellUser], []] == said
    assert [KeepGoing] == kinds(talk, ends("Something else."))


@pytest.mark.parametrize("caps", [Caps(iterations=2), Caps(iterations=500, minutes=0)])
def test_the_caps_of_the_settings_end_it(caps: Caps) -> None:
    """Turns and minutes of ``loop.*`` end the goal itself."""
    talk = begun()
    for number in range(2):
        talk.say(ends(f"Part {number}."))
        talk.say(WORKS)
    word = POLICY.on[TurnEnding](ends("Part 3."), View(talk.state, talk.state.notes(POLICY.name), 1000.0, caps=caps))

    assert ([TellUser], ()) == ([type(effect) for effect in word.effects], word.notes)


@pytest.mark.parametrize(("total", "said"), [(MAX_TURNS - 1, KeepGoing), (MAX_TURNS, TellUser)])
def test_a_hundred_turns_are_the_most(total: int, said: type) -> None:
    """However much the settings allow, a goal is not sent on for ever."""
    notes = (f'drive {{"total":{total}}}', "goal ab12 900 all tests pass")
    word = POLICY.on[TurnEnding](ends(), View(notes=notes, at=1000.0, caps=Caps(iterations=500)))

    assert [said] == [type(effect) for effect in word.effects]


def test_failed_turns_end_it() -> None:
    """Three failures in a row, and it waits for its user."""
    talk = begun()
    for _ in range(3):
        talk.say(TurnFailed(HERE, "server_error"))

    assert [TellUser] == kinds(talk, ends())


def test_a_compaction_brings_it_back() -> None:
    """After a summary the model is told the whole goal again."""
    [effect] = begun().say(SessionStarted(HERE, "compact"))

    assert (Inject, True) == (type(effect), "all tests pass" in effect.text)


def test_it_can_be_asked_for() -> None:
    """Without a text the command says what the goal is, or that there is none."""
    asks = PromptSubmitted(HERE, "/upbeat:goal")
    [stands], [none] = begun().say(asks), Talk(POLICY).say(asks)

    assert ("all tests pass" in stands.text, "there is no goal" in none.text) == (True, True)


def test_speaks_both_languages() -> None:
    """What it says is said in the person's language."""
    [english], [chinese] = begun().say(ends()), begun(language="zh").say(ends())

    assert ("Go on" in english.text, "请继续" in chinese.text) == (True, True)
