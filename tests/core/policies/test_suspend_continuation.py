"""The command that suspends every continuation."""

from __future__ import annotations

from pathlib import Path

import pytest
from case_files import read_groups
from policy_play import HERE, Talk, said_by

from upbeat.core.contract.effect import ContinueTurn, EndTurn, Proposal
from upbeat.core.contract.event import PromptOrigin, PromptSubmitted, TurnEnding
from upbeat.core.engine.merge import ContextBudget, merge_proposals
from upbeat.core.policies.suspend_continuation import POLICY
from upbeat.core.policy.continuation import is_continuation_off
from upbeat.core.sanitize.truncate import TextLimit
from upbeat.core.workflow.state import RunStatus, SessionState, WorkflowRun

ENDS = TurnEnding(HERE, "There is more to do.")

PROMPTS = {
    group: [prompt for (prompt,) in rows]
    for group, rows in read_groups(Path(__file__).with_name("command_prompts.tsv")).items()
}


@pytest.mark.parametrize("prompt", PROMPTS["leaves on"])
def test_says_nothing_after(prompt: str) -> None:
    """A prompt that does not suspend continuation has no effect on the end of a turn."""
    talk = Talk(POLICY)
    talk.say(PromptSubmitted(HERE, prompt))

    assert ((), False) == (talk.say(ENDS), is_continuation_off(talk.state))


def test_the_prompt_of_a_subagent_is_ignored() -> None:
    """The prompt of a subagent neither suspends nor resumes continuation."""
    talk = Talk(POLICY)
    talk.say(PromptSubmitted(HERE, "stop", PromptOrigin.SUBAGENT))

    assert () == talk.say(ENDS)


@pytest.mark.parametrize("prompt", PROMPTS["suspends"])
def test_suspends(prompt: str) -> None:
    """After these prompts every turn ends, until another prompt of the user."""
    talk = Talk(POLICY)
    talk.say(PromptSubmitted(HERE, prompt))
    talk.say(PromptSubmitted(HERE, "/upbeat:status"))

    assert [EndTurn, EndTurn] == [type(effect) for _ in range(2) for effect in talk.say(ENDS)]


@pytest.mark.parametrize("prompt", PROMPTS["resumes"])
def test_resumes(prompt: str) -> None:
    """The user's next prompt resumes continuation."""
    talk = Talk(POLICY)
    talk.say(PromptSubmitted(HERE, "/upbeat:quiet"))
    talk.say(PromptSubmitted(HERE, prompt))

    assert () == talk.say(ENDS)


def test_it_wins_over_every_proposal() -> None:
    """A suspended turn ends, whatever other proposals say."""
    [stop] = said_by(POLICY, ENDS, notes=("quiet",))
    proposals = [
        Proposal("workflow", (ContinueTurn("go on"),), 0),
        Proposal("policy suspend-continuation", (stop,), POLICY.rank),
    ]

    assert [(stop,), (stop,)] == [
        merge_proposals(order, ContextBudget(TextLimit(1000))).effects for order in (proposals, proposals[::-1])
    ]


@pytest.mark.parametrize(("language", "hint"), [("en", "Say continue to resume workflow quick."), ("zh", "说“继续”")])
def test_a_stopped_workflow_does_not_resume_with_any_prompt(language: str, hint: str) -> None:
    """After a stopped workflow the text names the command that resumes it, and no other prompt."""
    state = SessionState(run=WorkflowRun("r", "quick", (), status=RunStatus.STOPPED))
    [end] = said_by(POLICY, ENDS, language=language, notes=("quiet",), state=state)
    [quiet] = said_by(POLICY, ENDS, language=language, notes=("quiet",))

    assert isinstance(end, EndTurn)
    assert isinstance(quiet, EndTurn)
    assert (True, False) == (hint in end.text, hint in quiet.text)


def test_speaks_both_languages() -> None:
    """The text is in the language of the user."""
    assert said_by(POLICY, ENDS, notes=("quiet",)) != said_by(POLICY, ENDS, language="zh", notes=("quiet",))
