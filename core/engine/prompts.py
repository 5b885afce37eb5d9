"""Prepare the turn of a prompt, or of a subagent's prompt, that a client reports. Imported only for prompts."""

from __future__ import annotations

from upbeat.core.contract.codes import LimitCode
from upbeat.core.contract.effect import (
    EMPTY_DECISION,
    Decision,
    Effect,
    Explanation,
    InjectContext,
    NotifyUser,
    PrependPrompt,
)
from upbeat.core.contract.event import PromptOrigin, PromptSubmitted, SubagentRequested
from upbeat.core.contract.report import TurnReport
from upbeat.core.engine.evaluate import CONFIG_MISTAKES, EventContext
from upbeat.core.engine.pipeline import prepare_turn
from upbeat.core.engine.runtime import NO_CAP, TurnRequest
from upbeat.core.lazy_dataclass import replace
from upbeat.core.prompt.quoted_spans import clip_prompt
from upbeat.core.sanitize.text import sanitize_inline
from upbeat.core.sanitize.truncate import TextLimit
from upbeat.core.workflow.decide import command
from upbeat.core.workflow.prompts import MAX_TURN_PROMPT_CHARS
from upbeat.core.workflow.state import SessionState

HOOK_BUDGET_MS = 7000
"""Milliseconds that a turn may take in a hook: clients give up on one after ten seconds."""

SUBAGENT_BUDGET_MS = 1500
"""Milliseconds for a subagent's prompt: its call waits, and so do the hooks after it."""

SUBAGENT_LIMIT = TextLimit(6000)
"""The context before a subagent's prompt."""

MAX_RECORDED_FILES = 20
"""Files that a record lists for a turn."""


def decide_prompt(event: PromptSubmitted, context: EventContext, state: SessionState, cap: TextLimit) -> Decision:
    """Prepare the turn, with room left for the workflow's text; skip prompts that the user did not write."""
    if event.origin is not PromptOrigin.USER:
        is_wrapped = event.origin is PromptOrigin.WRAPPED
        return Decision(skip_reason=LimitCode.PREPARED_ELSEWHERE if is_wrapped else LimitCode.NOT_A_USER_PROMPT)
    if command.display_command(event.prompt):
        return EMPTY_DECISION  # it is about upbeat, not about the repository
    has_workflow_text = state.run is not None or command.parse_workflow_command(event.prompt) is not None
    if context.is_enabled and cap is not NO_CAP and has_workflow_text:
        cap = replace(cap, max_length=max(cap.max_length - 4 * MAX_TURN_PROMPT_CHARS, 0))
    prompt = clip_prompt(event.prompt)
    request = context.request or TurnRequest(event.source, prompt, event_name="UserPromptSubmit", max_ms=HOOK_BUDGET_MS)
    shown = frozenset(state.shown_excerpts) - frozenset(state.unread_excerpts)
    request = replace(request, cap=cap, shown_excerpts=shown, subject=state.subject)
    turn = prepare_turn(request, context.runtime, context.repo_context)
    effects: list[Effect] = []
    if turn.fused_context.for_model.additional_context:
        effects.append(InjectContext(turn.fused_context.for_model.additional_context))
    broken = [limit.text for limit in turn.limits if limit.code in CONFIG_MISTAKES]
    if broken and context.request is None:
        effects.append(NotifyUser("upbeat: " + "\n".join(map(sanitize_inline, broken))))
    return Decision(tuple(effects), turn, explanations=(_explain_turn(turn, context),))


def decide_delegation(event: SubagentRequested, context: EventContext) -> Decision:
    """Put what the repository says about a subagent's prompt before it."""
    request = TurnRequest(
        event.source,
        clip_prompt(event.prompt),
        event_name="SubagentRequested",
        cap=SUBAGENT_LIMIT,
        max_ms=SUBAGENT_BUDGET_MS,
    )
    turn = prepare_turn(request, context.runtime, context.repo_context)
    text = turn.fused_context.for_model.additional_context
    return Decision((PrependPrompt(text),) if text else (), explanations=(_explain_turn(turn, context),))


def _explain_turn(turn: TurnReport, context: EventContext) -> Explanation:
    """Explain the turn: which tools ran, and which files they named."""
    decision = "inject" if turn.fused_context.for_model.additional_context else "nothing"
    signals = [f"{signal.type}: {signal.match}" for signal in turn.inputs.signals]
    limits = [limit.text for limit in turn.limits]
    reason = "; ".join(signals if decision == "inject" else limits) or "prepared"
    inputs = {
        "signals": signals,
        "limits": limits,
        "tools": [f"{result.tool}: {result.status}, {result.duration_ms} ms" for result in turn.tool_results],
    }
    items = turn.fused_context.for_model.structured.items
    if names := list(dict.fromkeys(item.path for item in items if item.path))[:MAX_RECORDED_FILES]:
        inputs["names"] = names
    milliseconds = (context.runtime.clock.monotonic() - context.started_at) * 1000
    settings = context.repo_context.settings
    origin = "; ".join(settings.changed_origins.values()) if settings.origins else ""
    return Explanation("turn", decision, reason, inputs, origin, round(milliseconds, 1))
