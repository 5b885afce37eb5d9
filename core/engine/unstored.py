"""Change a decision that could not be stored: tell the user, and continue nothing on state that does not change.

What guards a call stays. At the end of a turn the model is made to tell the user once, because the client says that a
turn was continued even where upbeat cannot remember it.
"""

from __future__ import annotations

from collections.abc import Sequence

from upbeat.core.contract.effect import ContinueTurn, Decision, Effect, EndTurn, InjectContext, NotifyUser
from upbeat.core.contract.event import Event, PromptOrigin, PromptSubmitted, SessionStarted, SubagentEnding, TurnEnding
from upbeat.core.lazy_dataclass import replace
from upbeat.core.messages.catalogue import load_messages
from upbeat.core.sanitize.text import sanitize_inline
from upbeat.core.workflow.facts import Fact, WorkflowAdopted, WorkflowReopened, WorkflowStarted
from upbeat.core.workflow.state import SessionState

MAX_PROBLEM_CHARS = 300
_BEGINNINGS = (WorkflowStarted, WorkflowAdopted, WorkflowReopened)


def without_storage(
    event: Event, decision: Decision, state: SessionState, facts: Sequence[Fact], problem: str, language: str
) -> Decision:
    """Return ``decision`` on ``event`` after ``problem`` kept its ``facts`` about ``state`` from being stored."""
    messages = load_messages("workflow", language)
    text = messages["cannot_store"].format(problem=sanitize_inline(problem, MAX_PROBLEM_CHARS))
    told: tuple[Effect, ...] = ()
    kept = decision.effects
    is_running = state.run is not None and state.run.is_running
    match event:
        case SessionStarted():
            told = (NotifyUser(text),)
        case PromptSubmitted(origin=PromptOrigin.USER) if is_running or any(isinstance(f, _BEGINNINGS) for f in facts):
            told = (NotifyUser(text), InjectContext(f"{messages['tell_the_user']}\n{text}"))
        case TurnEnding():
            is_left = is_running or any(isinstance(effect, ContinueTurn) for effect in kept)
            kept = tuple(effect for effect in kept if not isinstance(effect, ContinueTurn))
            if is_left and not event.was_continued:
                is_ended = any(isinstance(effect, EndTurn) for effect in kept)
                again = () if is_ended else (ContinueTurn(f"{messages['tell_the_user']}\n{text}"),)
                told = (NotifyUser(text), *again)
        case SubagentEnding(was_continued=True):
            kept = tuple(effect for effect in kept if not isinstance(effect, ContinueTurn))
    return replace(decision, effects=(*kept, *told))
