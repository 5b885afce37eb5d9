"""The prompts of subagents are looked up like those of users."""

from __future__ import annotations

from dataclasses import replace

import pytest
from fakes.context import repo_context
from fakes.runtime import fake_world
from fakes.shop import ANSWERS, CLAUDE, PROMPT

from upbeat.core.contract.effect import Effect, PrependPrompt
from upbeat.core.contract.event import Call, PromptSubmitted, SubagentRequested
from upbeat.core.engine.handle import handle_event
from upbeat.core.engine.pipeline import TurnRequest
from upbeat.core.engine.prompts import SUBAGENT_BUDGET_MS, SUBAGENT_LIMIT
from upbeat.core.settings import Activation

REQUESTED = SubagentRequested(CLAUDE, Call("c", "Agent", {}), "general-purpose", PROMPT)


def prepended(effects: tuple[Effect, ...]) -> str:
    """Return what is put before the subagent's prompt."""
    return "\n".join(effect.text for effect in effects if isinstance(effect, PrependPrompt))


def test_a_subagents_prompt_is_looked_up() -> None:
    """The block of the search comes before the prompt, within limits of its own, even if the session was shown it."""
    world = fake_world(answers=ANSWERS)
    handle_event(PromptSubmitted(CLAUDE, PROMPT), world.runtime)
    decision = handle_event(REQUESTED, world.runtime)

    assert "4| def send" in prepended(decision.effects)
    assert len(prepended(decision.effects)) <= SUBAGENT_LIMIT.max_length
    (_, _, prompt_deadline, _), (_, _, deadline, _) = world.runner.calls
    assert prompt_deadline - deadline > SUBAGENT_BUDGET_MS / 1000
    assert "turn" in {explanation.component for explanation in decision.explanations}


def test_a_step_of_a_workflow_has_its_instructions_first() -> None:
    """The instructions of the step come before the block."""
    world = fake_world(answers=ANSWERS)
    handle_event(PromptSubmitted(CLAUDE, "/upbeat:single add retries"), world.runtime)
    text = prepended(handle_event(replace(REQUESTED, agent_type="upbeat:developer"), world.runtime).effects)

    assert 0 < text.index("<upbeat-data") < text.index("4| def send")


@pytest.mark.parametrize("event", [replace(REQUESTED, prompt="thanks"), replace(REQUESTED, is_prompt_hidden=True)])
def test_nothing_to_put_before(event: SubagentRequested) -> None:
    """Small talk and a prompt that the client hides get nothing."""
    assert () == handle_event(event, fake_world(answers=ANSWERS).runtime).effects


def test_upbeat_is_off_or_told_afterwards() -> None:
    """Nothing is looked up where upbeat is switched off, or for a program that reports calls after they have run."""
    off = fake_world(repo_context(enabled=Activation.OFF), ANSWERS)
    driven = fake_world(answers=ANSWERS)

    assert () == handle_event(REQUESTED, off.runtime).effects
    assert () == handle_event(REQUESTED, driven.runtime, request=TurnRequest(CLAUDE, "")).effects
    assert [] == driven.runner.calls
