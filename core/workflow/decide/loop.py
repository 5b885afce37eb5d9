"""Decide what happens when a turn is about to end: continue it while there is work, and let it end otherwise.

The first rule that applies decides:

===================================================  ====================================================
a step has used all its attempts                     the loop ends, and the model tells the user once what waits
no workflow is running, or the loop has ended        the turn ends
all steps, boxes and evidence are complete           the workflow is complete
the user asked something unrelated                   the turn ends, this time
the turn ends in a question to the user              the turn ends, this time
subagents run in the background, and that is known   the turn ends: the client resumes when they are done
a limit is reached, or there is no progress          the loop ends, and the model tells the user once how to go on
another session works on the same feature            the turn ends
otherwise                                            the turn continues with the next steps
===================================================  ====================================================

Invariant: the loop cannot run away (every continuation is counted and limited) and cannot trap its user (questions in
either direction and ``stop`` always end the turn).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable

from upbeat.core.contract.effect import ContinueTurn, NotifyUser
from upbeat.core.contract.event import TurnEnding
from upbeat.core.dialogue.endings import waits_for_user
from upbeat.core.workflow.decide.features import find_holder, find_new_feature, offer_next_feature
from upbeat.core.workflow.decide.own_steps import apply_own_verdicts
from upbeat.core.workflow.decide.subagents import lose_orphaned_calls
from upbeat.core.workflow.decide.tell_user import end_loop, tell_user, wait_for_user
from upbeat.core.workflow.decide.transitions import is_finished
from upbeat.core.workflow.decision import (
    NO_DECISION,
    ArchiveFeature,
    WorkflowDecision,
    WorkflowInputs,
    make_explanation,
)
from upbeat.core.workflow.facts import (
    FeatureAssigned,
    TurnAllowed,
    TurnContinued,
    WorkflowEnded,
    apply_facts,
)
from upbeat.core.workflow.prompts import (
    format_progress,
    format_step_keys,
    format_unfinished_steps,
    render_continuation_prompt,
)
from upbeat.core.workflow.registry import SPEC_MODE
from upbeat.core.workflow.state import (
    RunStatus,
    SessionState,
    StepVerdict,
    SubagentCall,
    WorkflowRun,
    self_declared_steps,
)
from upbeat.core.workflow.verdict.evidence import TESTS, check_evidence
from upbeat.core.workflow.verdict.reading import CHANGES

_TRAILING_CHARS = " \t\r\"'”’)）]」』*_`"


def on_turn_ending(event: TurnEnding, state: SessionState, inputs: WorkflowInputs) -> WorkflowDecision:
    """Let the turn end, or continue it."""
    if state.run is None or not state.run.is_running:
        return _decide_turn_end(event, state, inputs)
    feature = find_new_feature(state.run, inputs.features_in_progress)
    assigned = (FeatureAssigned(feature),) if feature else ()
    begun = WorkflowDecision((*lose_orphaned_calls(state, event.background_task_count), *assigned))
    own, notes = apply_own_verdicts(event, apply_facts(begun.facts, state), inputs)
    decision = begun + own
    return decision + _decide_turn_end(event, apply_facts(decision.facts, state), inputs, notes)


def _decide_turn_end(
    event: TurnEnding, state: SessionState, inputs: WorkflowInputs, notes: tuple[str, ...] = ()
) -> WorkflowDecision:
    """Decide, when ``notes`` say why claims of the message did not count."""
    run = state.run
    if run is None or not run.is_running:
        waits = run and run.status is RunStatus.NEEDS_HUMAN and state.loop.end_reason != RunStatus.NEEDS_HUMAN
        return wait_for_user(run, inputs) if run and waits else NO_DECISION
    if state.loop.end_reason:
        why = make_explanation("loop", "allow_end", "the loop has ended", end_reason=state.loop.end_reason)
        return WorkflowDecision(explanations=(why,))
    if not inputs.limits.is_enabled and not is_finished(run):
        return WorkflowDecision(explanations=(make_explanation("loop", "allow_end", "disabled by loop.enabled"),))
    problem = _completion_problem(state, run, inputs) if is_finished(run) else ""
    if is_finished(run) and not problem:
        return _complete_run(state, run, inputs)
    for check in _TURN_END_CHECKS:
        if decision := check(event, state, run, inputs):
            return decision
    return _continue_turn(state, run, inputs, problem, notes)


def _complete_run(state: SessionState, run: WorkflowRun, inputs: WorkflowInputs) -> WorkflowDecision:
    messages = inputs.messages
    text: str = messages["workflow_complete"].format(workflow=run.workflow, progress=format_progress(run))
    if unfinished := format_unfinished_steps(run):
        text += " " + messages["unfinished_steps"].format(steps=unfinished)
    if claimed := self_declared_steps(run):
        text += " " + messages["self_declared"].format(steps=format_step_keys(claimed))
    if note := check_evidence(TESTS, state.evidence, inputs.tree_digest, inputs.language).note:
        text += " " + messages["tests_note"].format(note=note)
    if following := offer_next_feature(run, inputs):
        text += " " + following
    return WorkflowDecision(
        (WorkflowEnded(RunStatus.COMPLETE, unfinished),),
        tell_user(run, text, inputs) if unfinished else (NotifyUser(text),),
        (make_explanation("loop", "complete", "all steps have finished", left_open=unfinished),),
        (ArchiveFeature(run.feature),) if run.feature else (),
    )


def _completion_problem(state: SessionState, run: WorkflowRun, inputs: WorkflowInputs) -> str:
    """Return why a run whose steps have all finished is not complete: open boxes or expired evidence."""
    messages = inputs.messages
    if inputs.tasks and inputs.tasks.open_checkboxes:
        return messages["completion_blocked_by_checkboxes"].format(count=len(inputs.tasks.open_checkboxes))
    passed = [step for step in run.steps if step.has_passed and step.mode != SPEC_MODE]
    kinds = {inputs.registry.find_stage(step.stage).required_evidence for step in passed}
    for kind in sorted(kinds - {"", CHANGES}) if inputs.requires_evidence else ():
        evidence = check_evidence(kind, state.evidence, inputs.tree_digest, inputs.language)
        if not evidence.is_proven:
            return messages["completion_blocked_by_evidence"].format(because=evidence.reason)
    return ""


def _allow_turn_end(code: str, reason: str, **inputs: object) -> WorkflowDecision:
    return WorkflowDecision(
        (TurnAllowed(code, code in ("paused_by_user", "question")),),
        explanations=(make_explanation("loop", "allow_end", reason, "", **inputs),),
    )


def _check_user_turn(
    event: TurnEnding, state: SessionState, _run: WorkflowRun, _inputs: WorkflowInputs
) -> WorkflowDecision | None:
    if state.loop.is_paused:
        return _allow_turn_end("paused_by_user", "the user asked something else")
    is_asked_again = state.loop.consecutive_continuations and ends_in_question(event.message)
    if is_asked_again or waits_for_user(event.message):
        return _allow_turn_end("question", "the turn ends in a question to the user", message=event.message[-200:])
    return None


def _check_background_agents(
    event: TurnEnding, _state: SessionState, run: WorkflowRun, _inputs: WorkflowInputs
) -> WorkflowDecision | None:
    """Let the turn end if the client counts its background tasks: it resumes when they are done."""
    if not event.background_task_count:
        return None
    steps = ", ".join(dict.fromkeys(call.step_key for call in _unreturned_calls(run)))
    return _allow_turn_end(
        "background", "subagents are still running", running=event.background_task_count, steps=steps
    )


def _unreturned_calls(run: WorkflowRun) -> list[SubagentCall]:
    return [call for call in run.calls if call.verdict is StepVerdict.NONE]


def _check_limits(
    _event: TurnEnding, state: SessionState, run: WorkflowRun, inputs: WorkflowInputs
) -> WorkflowDecision | None:
    loop, limits = state.loop, inputs.limits
    tokens = max(0, (inputs.tokens or 0) - loop.tokens_at_start)
    minutes = (inputs.now - loop.started_at) / 60
    reached = (
        ("errors", loop.consecutive_errors >= limits.max_consecutive_errors),
        ("turns", loop.iterations >= limits.max_turns),
        ("minutes", minutes >= limits.max_minutes),
        ("tokens", tokens >= limits.max_tokens),
        ("no_progress", _count_turns_without_progress(state, run, inputs) >= limits.max_turns_without_progress),
        ("client_limit", 0 < inputs.client.max_continuations_in_a_row <= loop.consecutive_continuations + 1),
    )
    code = next((name for name, is_reached in reached if is_reached), "")
    if not code:
        return None
    used = {"turns": loop.iterations, "errors": loop.consecutive_errors, "minutes": round(minutes), "tokens": tokens}
    return end_loop(run, code, inputs, **used)


def _check_feature_lease(
    event: TurnEnding, _state: SessionState, run: WorkflowRun, inputs: WorkflowInputs
) -> WorkflowDecision | None:
    """Let the turn end if another session started the same feature earlier and is still working on it."""
    peer = find_holder(run.feature, inputs, run.id) if run.feature else None
    if peer is None:
        return None
    text = inputs.messages["feature_held"].format(feature=run.feature, session=peer.session_id[:13])
    allowed = _allow_turn_end("feature_held", "another session works on the feature", session=peer.session_id)
    return allowed + WorkflowDecision(effects=() if event.was_continued else tell_user(run, text, inputs))


TurnEndCheck = Callable[[TurnEnding, SessionState, WorkflowRun, WorkflowInputs], WorkflowDecision | None]
_TURN_END_CHECKS: tuple[TurnEndCheck, ...] = (
    _check_user_turn,
    _check_background_agents,
    _check_limits,
    _check_feature_lease,
)


def _continue_turn(
    state: SessionState, run: WorkflowRun, inputs: WorkflowInputs, problem: str, notes: tuple[str, ...]
) -> WorkflowDecision:
    text = render_continuation_prompt(run, state, inputs)
    if problem:
        text = text.partition("\n")[0] + "\n" + problem
    text = "\n".join((text, *notes))
    stale = _count_turns_without_progress(state, run, inputs)
    why = make_explanation(
        "loop", "continue_turn", "work is left", turn=state.loop.iterations + 1, turns_without_progress=stale
    )
    return WorkflowDecision((TurnContinued(progress_fingerprint(run, inputs), stale),), (ContinueTurn(text),), (why,))


def _count_turns_without_progress(state: SessionState, run: WorkflowRun, inputs: WorkflowInputs) -> int:
    """Return how many turns in a row ended without progress; a turn that waits for a subagent does not count."""
    if not state.loop.progress_fingerprint or state.loop.progress_fingerprint != progress_fingerprint(run, inputs):
        return 0
    return state.loop.turns_without_progress + (not _unreturned_calls(run))


def progress_fingerprint(run: WorkflowRun, inputs: WorkflowInputs) -> str:
    """Return a digest of everything that progress changes: the files, the boxes, the steps."""
    boxes = "" if inputs.tasks is None else f"{len(inputs.tasks.done_checkboxes)}/{len(inputs.tasks.open_checkboxes)}"
    steps = ";".join(f"{step.key}={step.status}/{step.verdict}/{step.attempts}" for step in run.steps)
    return hashlib.sha256(f"{inputs.tree_digest}\n{boxes}\n{steps}".encode()).hexdigest()[:16]


def ends_in_question(message: str) -> bool:
    """Return whether the message ends in a question."""
    lines = [line for line in message.split("\n") if line.strip() and not line.strip().startswith("<!--")]
    return bool(lines) and lines[-1].rstrip(_TRAILING_CHARS).endswith(("?", "？"))
