"""A goal of the user: how it is set, when it is met, and what ends it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from case_files import read_json_groups
from policy_play import HERE, IN_AGENT, IN_CODEX, Talk, asked, shell, silent, starting
from workflow_play import Play

from upbeat.core.contract.effect import ContinueTurn, InjectContext, NotifyUser
from upbeat.core.contract.event import (
    Call,
    CompactionStarting,
    Event,
    EventSource,
    PromptOrigin,
    PromptSubmitted,
    SessionStarted,
    TurnEnding,
    TurnFailed,
    TurnInterrupted,
    UserQuestionRequested,
)
from upbeat.core.policies.pursue_goal import MAX_GOAL_CHARS, MAX_TURNS, POLICY, active_goal_reason
from upbeat.core.policy.definition import PolicyContext
from upbeat.core.workflow.decision import LoopLimits

CASES = read_json_groups(Path(__file__).with_name("goal_cases.jsonl"))

WORKS = starting(shell("make"))
AUDIT = "pytest: 12 passed; README names the flag"


def ends(message: str = "I went on.") -> TurnEnding:
    return TurnEnding(HERE, message)


def begun(goal: str = "all tests pass", language: str = "en") -> Talk:
    """A session with a goal in which the agent has called a tool."""
    talk = Talk(POLICY, language=language)
    talk.say(PromptSubmitted(HERE, f"/upbeat:goal {goal}"))
    talk.say(WORKS)
    return talk


def id_of(talk: Talk) -> str:
    return next(note.split()[1] for note in talk.state.notes_of(POLICY.name) if note.startswith("goal "))


def met(talk: Talk, audit: str = AUDIT, call: str | None = None) -> str:
    return f'<!-- GOAL: {{"result": "MET", "call": "{id_of(talk) if call is None else call}", "audit": "{audit}"}} -->'


def kinds(talk: Talk, event: Event) -> list[type]:
    return [type(effect) for effect in talk.say(event)]


@pytest.mark.parametrize("prompt", [case for (case,) in CASES["none"]])
def test_says_nothing_for(prompt: str) -> None:
    """A prompt that is not a command sets no goal."""
    talk = Talk(POLICY)

    assert ((), (), "") == (talk.say(PromptSubmitted(HERE, prompt)), talk.say(ends()), active_goal_reason(talk.state))


def test_only_the_user_sets_a_goal() -> None:
    """The prompt of a subagent sets no goal."""
    talk = Talk(POLICY)
    talk.say(PromptSubmitted(HERE, "/upbeat:goal x", PromptOrigin.SUBAGENT))

    assert () == talk.say(ends())


@pytest.mark.parametrize(("prompt", "goal"), CASES["sets"])
def test_sets(prompt: str, goal: str) -> None:
    """The goal is set as written, and the model is told the marker that ends it."""
    talk = Talk(POLICY)
    inject, told = talk.say(PromptSubmitted(HERE, prompt))

    assert (InjectContext, NotifyUser) == (type(inject), type(told))
    assert f"---\n{goal}\n---" in inject.text
    assert f'"call": "{id_of(talk)}"' in inject.text


@pytest.mark.parametrize(("prompt", "goal"), CASES["in_prompt"])
def test_a_prompt_can_be_a_goal(prompt: str, goal: str) -> None:
    """``ultrawork`` and a promise make the prompt the goal; the model, which reads it anyway, is told how it ends."""
    talk = Talk(POLICY)
    inject, told = talk.say(PromptSubmitted(HERE, prompt))
    [onward] = talk.say(ends())

    assert (InjectContext, NotifyUser, ContinueTurn) == (type(inject), type(told), type(onward))
    assert any(note.startswith("goal ") and note.endswith(f" {goal}") for note in talk.state.notes_of(POLICY.name))
    assert goal not in inject.text


@pytest.mark.parametrize(
    ("message", "is_met"),
    [
        ("pytest: 12 passed; ruff: no issues.\n<promise>Lints  fixed</promise>", True),
        ("pytest: 12 passed.\n&lt;promise&gt;LINTS FIXED&lt;/promise&gt;", True),
        ("<promise>LINTS FIXED</promise>"[:-1], False),
        ("pytest: 12 passed.\n<promise>DONE</promise>", False),
        ("I could not do it. The marker would be <promise>LINTS FIXED</promise>", False),
        ("<promise>LINTS FIXED</promise>\npytest: 12 passed, but two lints are left.", False),
        ("I will say `<promise>LINTS FIXED</promise>` at the end.", False),
        ("The lints are fixed, I promise.", False),
    ],
)
def test_the_users_promise_meets_the_goal(message: str, is_met: bool) -> None:
    """A goal with a promise of the user's is met by that promise and the report before it, and by nothing else."""
    talk = Talk(POLICY)
    long = "Fix the lints. " * 300
    talk.say(PromptSubmitted(HERE, f"ultrawork {long} Say <promise>LINTS FIXED</promise> at the end."))
    talk.say(WORKS)
    talk.say(ends(message))

    assert is_met is not bool(active_goal_reason(talk.state))


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize(("source", "command"), [(HERE, "`/upbeat:goal "), (IN_CODEX, "`$upbeat:goal ")])
def test_notices_name_commands_of_the_client(source: EventSource, command: str, language: str) -> None:
    """The notices about a goal name its commands as the client takes them."""
    talk = Talk(POLICY, language=language)
    prompts = ("/upbeat:goal", "/upbeat:goal off", "/upbeat:goal all tests pass")
    notices = [talk.say(PromptSubmitted(source, prompt))[-1] for prompt in prompts]

    assert all(isinstance(notice, NotifyUser) and command in notice.text for notice in notices)


@pytest.mark.parametrize(("length", "is_set"), [(MAX_GOAL_CHARS, True), (MAX_GOAL_CHARS + 1, False)])
def test_a_goal_is_bounded(length: int, is_set: bool) -> None:
    """A goal over the limit is not set, and the user is notified."""
    talk = Talk(POLICY)
    effects = talk.say(PromptSubmitted(HERE, "/upbeat:goal " + "x" * length))

    assert (is_set, NotifyUser) == (bool(talk.state.notes_of(POLICY.name)), type(effects[-1]))


def test_continues_until_it_is_met() -> None:
    """Turns are continued until the agent's marker says how the goal was verified."""
    talk = begun()
    [onward] = talk.say(ends())
    talk.say(WORKS)
    [told] = talk.say(ends(f"Done.\n{met(talk)}"))

    assert (ContinueTurn, NotifyUser) == (type(onward), type(told))
    assert '"all tests pass"' in onward.text
    assert AUDIT in told.text
    assert ((), "") == (talk.say(ends()), active_goal_reason(talk.state))


def test_an_agent_that_only_talks_ends_aloud() -> None:
    """A turn that was continued and brought only words ends, and the user is told how to go on."""
    talk = begun()
    talk.say(ends())
    [told] = talk.say(ends("Still at it."))

    assert isinstance(told, NotifyUser)
    assert 'stopped pursuing the goal "all tests pass": the agent continues only with words' in told.text


NOT_MET: dict[str, Callable[[Talk], str]] = {
    "words": lambda _talk: "The goal is met, all tests pass.",
    "a line in a fence": lambda talk: f"```\n{met(talk)}\n```",
    "a line in backticks": lambda talk: f"The line is `{met(talk)}`.",
    "a quoted line": lambda talk: f"> {met(talk)}",
    "a line in quotes": lambda talk: f"It says “{met(talk)}” there.",
    "the line of another goal": lambda talk: met(talk, call="zzzz"),
    "a line without how": lambda talk: met(talk, audit=""),
    "the line as it was shown": lambda talk: met(talk, audit="each part of the goal, and how you verified it"),
    "another result": lambda talk: met(talk).replace("MET", "NOT MET"),
    "two that contradict each other": lambda talk: f"{met(talk)}\n{met(talk).replace('MET', 'OPEN')}",
}


@pytest.mark.parametrize("message", NOT_MET.values(), ids=NOT_MET)
def test_is_not_met_by(message: Callable[[Talk], str]) -> None:
    """Only the unquoted marker of this goal with an audit meets it."""
    talk = begun()

    assert [ContinueTurn] == kinds(talk, ends(message(talk)))


def test_is_met_by_an_escaped_marker() -> None:
    """The marker counts with escaped brackets, and without the id of the goal."""
    talk, other = begun(), begun()
    escaped = met(talk).replace("<", "&lt;").replace(">", "&gt;")

    assert [[NotifyUser], [NotifyUser]] == [kinds(talk, ends(escaped)), kinds(other, ends(met(other, call="")))]


LETS_GO: dict[str, list[Event]] = {
    "a question to the user": [ends("Which one?")],
    "agents in the background": [replace(ends(), background_task_count=2)],
    "the mode that only plans": [replace(ends(), is_planning=True)],
    "a question with the client's tool": [UserQuestionRequested(HERE, Call("q", "AskUserQuestion", {})), ends()],
    "a user who asks something else": [PromptSubmitted(HERE, "what is a retry?"), WORKS, ends()],
    "the end of an agent": [replace(ends(), source=IN_AGENT)],
    "a minute after a compaction": [CompactionStarting(HERE), ends()],
    "a conversation that was cleared": [SessionStarted(HERE, "clear"), ends()],
}

test_lets_go = silent(LETS_GO, lambda events: begun().say_all(events))


@pytest.mark.parametrize("prompt", [case for (case,) in CASES["cancels"]])
def test_off_or_a_stop_phrase_cancels_the_goal(prompt: str) -> None:
    """``off`` or a stop phrase cancels the goal and notifies the user."""
    talk = begun()

    assert ([NotifyUser], ()) == (kinds(talk, PromptSubmitted(HERE, prompt)), talk.say(ends()))


def test_an_interruption_cancels_the_goal() -> None:
    """An interruption by the user cancels the goal."""
    talk = begun()

    assert ([NotifyUser], ()) == (kinds(talk, TurnInterrupted(HERE)), talk.say(ends()))


def test_a_running_workflow_takes_precedence() -> None:
    """While a workflow runs, the goal continues no turn."""
    play = Play()
    play.prompt("/upbeat:standard add retries")
    talk = begun()
    view = PolicyContext(replace(talk.state, run=play.state.run), talk.state.notes_of(POLICY.name), 1000.0)

    assert () == asked(POLICY, ends(), view).effects


def test_pauses_without_progress() -> None:
    """After three turns without progress the goal pauses until the next prompt."""
    talk = begun()
    said = []
    for _ in range(5):
        said += [kinds(talk, ends("The same."))]
        talk.say(WORKS)
    talk.say(PromptSubmitted(HERE, "try it with a queue"))
    talk.say(WORKS)

    assert [[ContinueTurn]] * 3 + [[NotifyUser], []] == said
    assert [ContinueTurn] == kinds(talk, ends("Something else."))


@pytest.mark.parametrize("caps", [LoopLimits(max_turns=2), LoopLimits(max_turns=500, max_minutes=0)])
def test_the_limits_of_the_settings_remove_the_goal(caps: LoopLimits) -> None:
    """The limits of turns and minutes in ``loop.*`` remove the goal."""
    talk = begun()
    for number in range(2):
        talk.say(ends(f"Part {number}."))
        talk.say(WORKS)
    word = asked(
        POLICY, ends("Part 3."), PolicyContext(talk.state, talk.state.notes_of(POLICY.name), 1000.0, loop_limits=caps)
    )

    assert ([NotifyUser], ()) == ([type(effect) for effect in word.effects], word.notes)


@pytest.mark.parametrize(("total", "said"), [(MAX_TURNS - 1, ContinueTurn), (MAX_TURNS, NotifyUser)])
def test_continuations_are_limited(total: int, said: type) -> None:
    """A goal is continued at most ``MAX_TURNS`` times, whatever the settings allow."""
    notes = (f'continuation {{"continuations":{total}}}', "goal ab12 900 all tests pass")
    word = asked(POLICY, ends(), PolicyContext(notes=notes, now=1000.0, loop_limits=LoopLimits(max_turns=500)))

    assert [said] == [type(effect) for effect in word.effects]


def test_failed_turns_pause_the_goal() -> None:
    """Three failed turns in a row pause the goal."""
    talk = begun()
    for _ in range(3):
        talk.say(TurnFailed(HERE, "server_error"))

    assert [NotifyUser] == kinds(talk, ends())


def test_a_compaction_restores_the_goal() -> None:
    """After a compaction the goal is injected again."""
    [effect] = begun().say(SessionStarted(HERE, "compact"))

    assert (InjectContext, True) == (type(effect), "all tests pass" in effect.text)


def test_shows_the_goal() -> None:
    """Without an argument the command shows the current goal, or that there is none."""
    asks = PromptSubmitted(HERE, "/upbeat:goal")
    [stands], [none] = begun().say(asks), Talk(POLICY).say(asks)

    assert ("all tests pass" in stands.text, "no goal is set" in none.text) == (True, True)


def test_speaks_both_languages() -> None:
    """The text is in the language of the user."""
    [english], [chinese] = begun().say(ends()), begun(language="zh").say(ends())

    assert ("Continue" in english.text, "请继续" in chinese.text) == (True, True)
