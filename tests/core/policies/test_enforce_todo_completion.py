"""When open todo items continue a turn, and when they do not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from policy_play import HERE, IN_AGENT, Talk, asked, call, shell, silent, starting, todo_list
from workflow_play import Play

from upbeat.core.contract.effect import ContinueTurn, NotifyUser
from upbeat.core.contract.event import (
    Event,
    PromptSubmitted,
    SessionStarted,
    ToolKind,
    TurnEnding,
    TurnInterrupted,
    UserQuestionRequested,
)
from upbeat.core.policies import pursue_goal
from upbeat.core.policies.enforce_todo_completion import MAX_CONTINUATIONS, MAX_TURNS_WITHOUT_PROGRESS, POLICY
from upbeat.core.policy.continuation import AFTER_COMPACTION_SECONDS, COOLDOWN_SECONDS, SUSPENDING_POLICY
from upbeat.core.policy.definition import PolicyContext
from upbeat.core.workflow.decision import LoopLimits
from upbeat.core.workflow.state import PolicyNotes, SessionState

ENDS = TurnEnding(HERE, "I have done the first part.")
WORKS = starting(shell("make"))


def begun(*open_items: str, language: str = "en") -> Talk:
    """A session in which the agent has a todo list and has called a tool."""
    talk = Talk(POLICY, language=language)
    todos = todo_list(*(open_items or ("write tests", "update docs")))
    for event in (PromptSubmitted(HERE, "add retries"), todos, WORKS):
        talk.say(event)
    return talk


def kinds(talk: Talk, event: Event = ENDS) -> list[str]:
    return [type(effect).__name__ for effect in talk.say(event)]


ASKED = call("AskUserQuestion", ToolKind.ASK_USER)
PLAY = Play()
PLAY.prompt("/upbeat:standard add retries")
GOAL = PolicyNotes(pursue_goal.NAME, ("goal ab12 900 all tests pass",))
QUIET = PolicyNotes(SUSPENDING_POLICY, ("quiet",))

LETS_GO: dict[str, list[Event]] = {
    "a turn that ends in a question": [replace(ENDS, message="Which one?")],
    "a question in Chinese": [replace(ENDS, message="用哪个数据库？")],
    "agents that work in the background": [replace(ENDS, background_task_count=1)],
    "the mode that only plans": [replace(ENDS, is_planning=True)],
    "an agent that asks with the client's tool": [UserQuestionRequested(HERE, ASKED), ENDS],
    "a turn that its user broke off": [TurnInterrupted(HERE), ENDS],
    "a user who asks something in between": [PromptSubmitted(HERE, "what is a retry?"), WORKS, ENDS],
    "a user who wants something explained": [PromptSubmitted(HERE, "explain the function parse in a.py"), WORKS, ENDS],
    "a list that is done": [todo_list(done=("write tests", "update docs")), ENDS],
    "a list that was emptied": [todo_list(), ENDS],
    "a conversation that was cleared": [SessionStarted(HERE, "clear"), ENDS],
    "a conversation that was just summarised": [SessionStarted(HERE, "compact"), ENDS],
    "the end of a subagent's turn": [replace(ENDS, source=IN_AGENT)],
}

test_says_nothing_for = silent(LETS_GO, lambda events: begun().say_all(events))


def test_says_nothing_without_a_list() -> None:
    """A session without a list has no effects and no notes."""
    talk = Talk(POLICY)
    for event in (PromptSubmitted(HERE, "add retries"), WORKS, UserQuestionRequested(HERE, ASKED)):
        assert () == talk.say(event)

    assert ((), SessionState()) == (talk.say(ENDS), talk.state)


def test_the_list_of_a_subagent_is_ignored() -> None:
    """The list of a subagent continues no turn."""
    talk = Talk(POLICY)
    talk.say(replace(todo_list("write tests"), source=IN_AGENT))

    assert () == talk.say(ENDS)


def with_notes(state: SessionState, *more: PolicyNotes) -> PolicyContext:
    """The context of ``state`` with the notes of other policies."""
    return PolicyContext(replace(state, policy_notes=(*state.policy_notes, *more)), now=1000.0)


ELSEWHERE: dict[str, Callable[[SessionState], PolicyContext]] = {
    "a workflow that runs": lambda state: PolicyContext(replace(state, run=PLAY.state.run), now=1000.0),
    "a goal that is pursued": lambda state: with_notes(state, GOAL),
    "a user who wants quiet": lambda state: with_notes(state, QUIET),
    "a loop that is switched off": lambda state: replace(with_notes(state), loop_limits=LoopLimits(is_enabled=False)),
}


@pytest.mark.parametrize("view", ELSEWHERE.values(), ids=ELSEWHERE)
def test_lets_others_take_precedence(view: Callable[[SessionState], PolicyContext]) -> None:
    """A workflow, a goal, a suspension and the setting take precedence."""
    state = begun().state
    word = asked(POLICY, ENDS, replace(view(state), notes=state.notes_of(POLICY.name)))

    assert () == word.effects


def test_names_what_is_open() -> None:
    """The continuation names the open items and not those that are done, in both languages."""
    talk = begun()
    talk.say(todo_list("update docs", done=("write tests",)))
    [effect] = talk.say(ENDS)
    [chinese] = begun("更新文档", language="zh").say(ENDS)

    assert isinstance(effect, ContinueTurn)
    assert 'open items (1): "update docs"' in effect.text
    assert "write tests" not in effect.text
    assert "「更新文档」" in chinese.text


def test_a_statement_does_not_pause() -> None:
    """A prompt that is no question counts as an instruction about the work."""
    talk = begun()
    talk.say(PromptSubmitted(HERE, "implement it without a queue"))
    talk.say(WORKS)

    assert ["ContinueTurn"] == kinds(talk)


def test_a_question_pauses_once() -> None:
    """After a turn that ended for a question, turns are continued again."""
    talk = begun()
    talk.say(UserQuestionRequested(HERE, ASKED))
    first = kinds(talk)
    talk.say(WORKS)

    assert ([], ["ContinueTurn"]) == (first, kinds(talk))


def test_stops_without_progress() -> None:
    """After the maximum of turns without progress the user is notified once."""
    talk = begun()
    said = []
    for _ in range(MAX_TURNS_WITHOUT_PROGRESS + 2):
        said += [kinds(talk)]
        talk.say(WORKS)

    assert [["ContinueTurn"]] * MAX_TURNS_WITHOUT_PROGRESS + [["NotifyUser"], []] == said


def test_stops_after_many_continuations() -> None:
    """The number of continuations in a row is limited; the user's next prompt resets it."""
    talk = begun()
    said = []
    for number in range(MAX_CONTINUATIONS + 1):
        talk.say(todo_list(*(f"task {one}" for one in range(number, 20))))
        talk.say(WORKS)
        said += kinds(talk)
    talk.say(PromptSubmitted(HERE, "do the rest"))
    talk.say(WORKS)

    assert ["ContinueTurn"] * MAX_CONTINUATIONS + ["NotifyUser"] == said
    assert ["ContinueTurn"] == kinds(talk)


def test_a_lower_limit_of_the_settings_applies() -> None:
    """The limit ``loop.max_turns`` of the settings applies."""
    talk = begun()
    talk.say(ENDS)
    talk.say(WORKS)
    view = PolicyContext(talk.state, talk.state.notes_of(POLICY.name), 1000.0, loop_limits=LoopLimits(max_turns=1))

    assert [NotifyUser] == [type(effect) for effect in asked(POLICY, ENDS, view).effects]


@pytest.mark.parametrize(
    ("seconds", "works", "said"),
    [
        (COOLDOWN_SECONDS - 0.1, False, []),
        (COOLDOWN_SECONDS, False, ["ContinueTurn"]),
        (0.0, True, ["ContinueTurn"]),
    ],
)
def test_an_idle_agent_is_not_continued(seconds: float, works: bool, said: list[str]) -> None:
    """A continued turn that ends at once without a tool call is not continued again."""
    talk = begun()
    talk.say(ENDS)
    if works:
        talk.say(WORKS)
    talk.at += seconds

    assert said == kinds(talk)


@pytest.mark.parametrize(
    ("seconds", "said"), [(AFTER_COMPACTION_SECONDS - 1, []), (AFTER_COMPACTION_SECONDS, ["ContinueTurn"])]
)
def test_waits_after_a_compaction(seconds: float, said: list[str]) -> None:
    """No turn is continued within a minute of a compaction, which keeps the list."""
    talk = begun()
    talk.say(SessionStarted(HERE, "compact"))
    talk.at += seconds

    assert said == kinds(talk)
