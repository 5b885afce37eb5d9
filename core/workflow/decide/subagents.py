"""Decide on delegations: which step a call is for, whether it may start, and how it ended.

Invariant: steps are keyed by tool-call ID, never by the agent's name. A call is linked to a subagent only when the
client reports the link or only one call can match; otherwise the result is queued until the call itself returns.
Delegations that are not a stage of the running workflow are not affected.
"""

from __future__ import annotations

import re

from upbeat.core.contract.effect import ContinueTurn, Deny, InjectContext, PrependPrompt
from upbeat.core.contract.event import (
    SubagentEnding,
    SubagentRequested,
    SubagentReturned,
    SubagentStarted,
    ToolFinished,
)
from upbeat.core.sanitize.control_chars import strip_controls
from upbeat.core.workflow.decide.subtasks import choose_subtask, conclude_subtask
from upbeat.core.workflow.decide.transitions import finish_call, unfinished_before
from upbeat.core.workflow.decision import (
    NO_DECISION,
    StoreHandoff,
    TickCheckboxes,
    WorkflowDecision,
    WorkflowInputs,
    make_explanation,
)
from upbeat.core.workflow.facts import (
    MAX_UNMATCHED_RESULT_CHARS,
    CallLinked,
    CallLost,
    CallReturned,
    Fact,
    FilesRead,
    StepFinished,
    StepStarted,
    SubagentInstructed,
    SubtaskFinished,
    UnmatchedResultQueued,
    apply_facts,
)
from upbeat.core.workflow.handoff import MAX_HANDOFF_CHARS, MAX_WHOLE_CHARS, parse_handoff
from upbeat.core.workflow.prompts import (
    ELLIPSIS,
    format_step_keys,
    format_subtask_marker,
    render_step_prompt,
    verdict_options,
)
from upbeat.core.workflow.registry import SPEC_MODE, Registry
from upbeat.core.workflow.state import (
    SessionState,
    StepAuthor,
    StepStatus,
    StepVerdict,
    SubagentCall,
    WorkflowRun,
    WorkflowStep,
)
from upbeat.core.workflow.subtasks import plan_of_step
from upbeat.core.workflow.verdict import classify as verdicts
from upbeat.core.workflow.verdict.evidence import check_evidence
from upbeat.core.workflow.verdict.reading import CHANGES, has_read_changes, relevant_changes, shown_files

MAX_NAMED_FILES = 5
"""Unread files that a message names."""

_AGENT_PREFIX = re.compile(r"upbeat[:_-]")
_TARGET_MARKER = re.compile(r"\s*\[(?:upbeat:|stage:)([\w:#-]+)(?:\.[\d.]{1,20})?\]", re.IGNORECASE)


def parse_delegation_target(event: SubagentRequested, run: WorkflowRun, registry: Registry) -> tuple[str, str]:
    """Return the requested agent and step key; either may be empty. ``[stage:TEST:2]`` names a step.

    ``[stage:DEV.2.1]`` names a sub-task of a step, too.

    A marker at the start of the title or the prompt has precedence, then the agent type, then the title.
    """
    for text in (event.title, event.prompt):
        if marker := _TARGET_MARKER.match(text):
            name = marker[1]
            if run.find_step(name.upper()):
                return "", name.upper()
            if name.lower() in registry.agents:
                return name.lower(), ""
    name = ""
    for text in (event.agent_type, event.title):
        name = _AGENT_PREFIX.sub("", text.strip(), count=1).lower().replace("_", "-")
        if name in registry.agents and (_AGENT_PREFIX.match(text.strip()) or text == event.title):
            return name, ""
    if not _AGENT_PREFIX.match(event.title.strip()):
        return "", ""
    # Some clients accept each title only once, so agents are numbered: ``upbeat_tester_2``.
    return max((agent for agent in registry.agents if name.startswith(f"{agent}-")), key=len, default=""), ""


def on_subagent_requested(event: SubagentRequested, state: SessionState, inputs: WorkflowInputs) -> WorkflowDecision:
    """Let the call start a step, deny it if earlier steps are missing, or ignore it."""
    run = state.run
    if run is None or not run.is_running or event.source.agent_id or _find_call(run, event.call.id):
        return NO_DECISION  # irrelevant, or reported both by a hook and by the program that drives the client
    agent, key = parse_delegation_target(event, run, inputs.registry)
    step = _find_target_step(run, inputs.registry, agent, key)
    if step is None:
        reason = "not a stage of the running workflow" if agent or key else "not an agent of the workflow"
        why = make_explanation("step_guard", "pass", reason, agent=event.agent_type, title=event.title)
        return WorkflowDecision(explanations=(why,))
    origin = _workflow_origin(inputs.registry, run)
    if unfinished := unfinished_before(run, step):
        missing = format_step_keys(unfinished)
        is_running = all(other.status is StepStatus.ACTIVE for other in unfinished)
        template = inputs.messages["step_denied_while_running" if is_running else "step_denied"]
        why = make_explanation("step_guard", "deny", f"{step.key} would skip {missing}", origin, missing=missing)
        return WorkflowDecision(effects=(Deny(template.format(key=step.key, missing=missing)),), explanations=(why,))
    subtask, refusal = choose_subtask(event, run, step, inputs)
    if refusal:
        why = make_explanation("step_guard", "deny", refusal, origin, step=step.key)
        return WorkflowDecision(effects=(Deny(refusal),), explanations=(why,))
    started = StepStarted(
        step.key,
        event.call.id,
        event.agent_type,
        has_instructions=not event.is_prompt_hidden,
        started_at=inputs.now,
        subtask=subtask.key if subtask else "",
    )
    prompt = render_step_prompt(run, step, event.call.id, inputs, subtask)
    name = format_subtask_marker(step, subtask) if subtask else step.key
    why = make_explanation("step_guard", "allow", f"{name} may start", origin, agent=event.agent_type, step=step.key)
    return WorkflowDecision((started,), () if event.is_prompt_hidden else (PrependPrompt(prompt),), (why,))


def _find_target_step(run: WorkflowRun, registry: Registry, agent: str, step_key: str) -> WorkflowStep | None:
    """Return the step that a call of ``agent`` is for: the first unfinished one of its stages, pending ones first."""
    if step_key:
        step = run.find_step(step_key)
        return step if step and step.status is not StepStatus.DONE else None
    stages = registry.stages_of(agent)
    open_steps = [step for step in run.steps if step.stage in stages and step.status is not StepStatus.DONE]
    pending = [step for step in open_steps if step.status is StepStatus.PENDING]
    return next(iter(pending or open_steps), None)


def on_subagent_returned(event: SubagentReturned, state: SessionState, inputs: WorkflowInputs) -> WorkflowDecision:
    """Link the call that returned to its subagent, and evaluate the result if it is known."""
    run = state.run
    call = _find_call(run, event.call.id) if run else None
    if run is None or not run.can_continue or call is None or call.verdict is not StepVerdict.NONE:
        return NO_DECISION
    if event.has_failed:
        why = make_explanation("workflow", "lost", f"{call.step_key}: the subagent did not start")
        return WorkflowDecision((CallLost(call.call_id),), explanations=(why,))
    agent_id = event.agent_id or inputs.agent_id or call.agent_id
    facts = (CallLinked(call.call_id, agent_id),) if agent_id and call.agent_id != agent_id else ()
    queued = (result.message for result in run.unmatched_results if result.agent_id == agent_id and agent_id)
    message = next(queued, event.message)
    if message is None:
        return WorkflowDecision(facts)
    after = apply_facts(facts, state)
    return WorkflowDecision(facts) + _on_final_message(after, call, message, inputs, can_ask_again=False)


def on_agent_started(event: SubagentStarted, state: SessionState, inputs: WorkflowInputs) -> WorkflowDecision:
    """Link the subagent to its call if only one matches, and inject its step if the prompt could not be changed."""
    run = state.run
    if run is None or not run.is_running:
        return NO_DECISION
    linked = next((call for call in run.calls if call.agent_id == event.agent_id), None)
    if event.agent_id in run.ended_agents:
        return NO_DECISION
    call = linked or _find_only_candidate(run, event.agent_type)
    step = run.find_step(call.step_key) if call else None
    if call is None or step is None:
        return NO_DECISION
    facts: tuple[Fact, ...] = () if linked else (CallLinked(call.call_id, event.agent_id),)
    if call.has_instructions:
        return WorkflowDecision(facts)
    subtask = next((other for other in plan_of_step(run, step, inputs) if other.key == call.subtask), None)
    prompt = render_step_prompt(run, step, call.call_id, inputs, subtask)
    why = make_explanation("workflow", "inject", "its prompt is hidden from hooks", step=step.key)
    return WorkflowDecision((*facts, SubagentInstructed(call.call_id)), (InjectContext(prompt),), (why,))


def on_agent_stopped(event: SubagentEnding, state: SessionState, inputs: WorkflowInputs) -> WorkflowDecision:
    """Evaluate the subagent's final message if its call is known; queue it otherwise."""
    run = state.run
    if run is None or not run.can_continue or not event.agent_id or event.agent_id in run.ended_agents:
        return NO_DECISION
    call = next((call for call in run.calls if call.agent_id == event.agent_id), None)
    if call is None and (marked := verdicts.parse_verdict(event.message, ()).call_id):
        call = next((call for call in run.calls if call.call_id[-40:] == marked and not call.agent_id), None)
    call = call or _find_only_candidate(run, event.agent_type)
    if call is not None:
        if call.verdict is not StepVerdict.NONE:
            return NO_DECISION
        facts = () if call.agent_id else (CallLinked(call.call_id, event.agent_id),)
        can_ask_again = run.is_running and not event.was_continued
        after = apply_facts(facts, state)
        return WorkflowDecision(facts) + _on_final_message(
            after, call, event.message, inputs, can_ask_again=can_ask_again
        )
    if not _candidate_calls(run, event.agent_type):
        return NO_DECISION
    message = event.message
    if len(message) > MAX_UNMATCHED_RESULT_CHARS:  # the verdict is at the end
        half = (MAX_UNMATCHED_RESULT_CHARS - 3) // 2
        message = f"{message[:half]}\n{ELLIPSIS}\n{message[-half:]}"
    why = make_explanation("workflow", "queued_unmatched", "several calls match", agent=event.agent_type)
    return WorkflowDecision((UnmatchedResultQueued(event.agent_id, event.agent_type, message),), explanations=(why,))


def _on_final_message(
    state: SessionState, call: SubagentCall, message: str, inputs: WorkflowInputs, *, can_ask_again: bool
) -> WorkflowDecision:
    """Evaluate a subagent's final message. An unclear or unproven one is returned once, if that is possible."""
    run = state.run
    step = run.find_step(call.step_key) if run else None
    if run is None or step is None:
        return NO_DECISION
    message = strip_controls(message)
    call = _find_call(run, call.call_id) or call
    verdict, problem, notes = evaluate_result(state, step, message, inputs, call=call)
    if problem and can_ask_again:
        origin = _workflow_origin(inputs.registry, run)
        why = make_explanation("workflow", "request_verdict", problem, origin, step=step.key, message=message[-300:])
        return WorkflowDecision(effects=(ContinueTurn(problem),), explanations=(why,))
    text, length, decision = keep_handoff(run, step, message, inputs)
    if call.subtask:
        return decision + conclude_subtask(run, call, SubtaskFinished(call.call_id, verdict, notes, text), inputs)
    facts = finish_call(run, inputs.registry, CallReturned(call.call_id, verdict, notes, text, length))
    ended = StepFinished(step.key, verdict, notes, author=StepAuthor.AGENT)
    return decision + conclude_step(run, inputs, ended, facts, message)


def keep_handoff(
    run: WorkflowRun, step: WorkflowStep, message: str, inputs: WorkflowInputs
) -> tuple[str, int, WorkflowDecision]:
    """Return the handoff in ``message``, cut to its limit, its length before, and the decision to store the whole.

    Without a file, the length is 0. Reports of other calls of the step are kept in the same file.
    """
    handoff = parse_handoff(message)
    text = handoff.truncate(MAX_HANDOFF_CHARS)
    if not inputs.handoff_folder:
        return text, 0, NO_DECISION
    is_more = any(call.step_key == step.key and call.verdict is not StepVerdict.NONE for call in run.calls)
    is_more |= any(result.step_key == step.key for result in run.subtasks)
    stored = StoreHandoff(run.id, step.key, message, is_more)
    return text, len(handoff.truncate(MAX_WHOLE_CHARS)), WorkflowDecision(workspace_actions=(stored,))


def evaluate_result(
    state: SessionState,
    step: WorkflowStep,
    message: str,
    inputs: WorkflowInputs,
    stated_verdict: StepVerdict | None = None,
    call: SubagentCall | None = None,
) -> tuple[StepVerdict, str, str]:
    """Return the verdict of ``message`` on ``step``, the problem to report to its author, and the failure notes.

    ``stated_verdict`` is the verdict if it is already known; ``call`` is that of the subagent, None for the main agent.
    """
    messages = inputs.messages
    stage = inputs.registry.find_stage(step.stage)
    accepted = (StepVerdict.PASS,) if step.mode == SPEC_MODE else stage.verdicts
    verdict = verdicts.parse_verdict(message, accepted).verdict if stated_verdict is None else stated_verdict
    if verdict is StepVerdict.PASS and verdicts.contradicts_pass(message, accepted):
        verdict = StepVerdict.UNCLEAR
    if verdict is StepVerdict.UNCLEAR:
        unclear: str = messages["verdict_unclear"].format(key=step.key, words="|".join(verdict_options(stage)))
        return StepVerdict.UNCLEAR, unclear, unclear
    needs_evidence = verdict is StepVerdict.PASS and step.mode != SPEC_MODE and inputs.requires_evidence
    kind = stage.required_evidence if needs_evidence else ""
    if problem := _evidence_problem(state, step, kind, inputs, call):
        return StepVerdict.UNCLEAR, problem, problem
    return verdict, "", "" if verdict is StepVerdict.PASS else verdicts.extract_failure_notes(message)


def _evidence_problem(
    state: SessionState, step: WorkflowStep, kind: str, inputs: WorkflowInputs, call: SubagentCall | None
) -> str:
    """Return why a pass of ``step`` lacks evidence of ``kind``, and what would count; empty if it does not."""
    if kind == CHANGES:
        return _unread_problem(state, step, inputs, call.agent_id) if call else ""
    evidence = check_evidence(kind, state.evidence, inputs.tree_digest, inputs.language) if kind else None
    if evidence is None or evidence.is_proven:
        return ""
    return inputs.messages["evidence_missing"].format(key=step.key, because=evidence.reason)


def _unread_problem(state: SessionState, step: WorkflowStep, inputs: WorkflowInputs, agent_id: str) -> str:
    """Return why a reviewer has not read what it reviews; empty if it has.

    Before the first step has ended, a run has changed nothing: there, any file of the repository is what is reviewed.
    """
    shown = state.run.paths_read_by(agent_id) if state.run else ()
    changed = inputs.changed_files if step.group else None
    if has_read_changes(shown, changed):
        return ""
    named = ", ".join(relevant_changes(changed)[:MAX_NAMED_FILES])
    message = inputs.messages["change_unread" if named else "nothing_read"]
    return message.format(key=step.key, files=named)


def record_reading(event: ToolFinished, state: SessionState, inputs: WorkflowInputs) -> tuple[Fact, ...]:
    """Return what a subagent has read, if it may be the one that works on a step that needs reading."""
    run, agent_id = state.run, event.source.agent_id
    if run is None or not agent_id:
        return ()
    of_agent = [call for call in run.calls if call.agent_id == agent_id] or [c for c in run.calls if not c.agent_id]
    stages = (inputs.registry.find_stage(step.stage) for call in of_agent if (step := run.find_step(call.step_key)))
    if not any(stage.required_evidence == CHANGES for stage in stages):
        return ()
    known = run.paths_read_by(agent_id)
    paths = tuple(path for path in shown_files(event, inputs.root) if path not in known)
    return (FilesRead(agent_id, paths),) if paths else ()


def conclude_step(
    run: WorkflowRun, inputs: WorkflowInputs, ended: StepFinished, facts: tuple[Fact, ...], message: str
) -> WorkflowDecision:
    """Return the decision for a result of a step: ``facts``, and its box checked if it passed."""
    step_key = ended.step_key
    after = apply_facts(facts, SessionState(run=run)).run
    step = after.find_step(step_key) if after else None
    is_passed = step is not None and step.has_passed and not step.repair_of
    shown = {
        "step": step_key,
        "message": message[-300:],
        "missing in the handoff": ", ".join(parse_handoff(message).missing_sections),
    }
    origin = _workflow_origin(inputs.registry, run)
    reason = f"{step_key} ended" + (", self-declared" if ended.author is StepAuthor.MAIN else "")
    return WorkflowDecision(
        facts,
        explanations=(make_explanation("workflow", ended.verdict.value, reason, origin, **shown),),
        workspace_actions=(TickCheckboxes(run.feature, (step_key,)),) if run.feature and is_passed else (),
    )


def _find_call(run: WorkflowRun, call_id: str) -> SubagentCall | None:
    return next((call for call in run.calls if call.call_id == call_id), None)


def _candidate_calls(run: WorkflowRun, agent: str) -> list[SubagentCall]:
    """Return the unlinked calls for ``agent``; if there are none, those for an unknown agent."""
    waiting = [call for call in run.calls if not call.agent_id and call.verdict is StepVerdict.NONE]
    return [call for call in waiting if call.agent == agent] or [call for call in waiting if not call.agent]


def _find_only_candidate(run: WorkflowRun, agent: str) -> SubagentCall | None:
    candidates = _candidate_calls(run, agent)
    return candidates[0] if len(candidates) == 1 else None


def _workflow_origin(registry: Registry, run: WorkflowRun) -> str:
    workflow = registry.workflows.get(run.workflow)
    return workflow.origin if workflow else ""


def lose_all_calls(state: SessionState) -> tuple[Fact, ...]:
    """Return the facts when every unreturned call is lost: after a crash, or when no background task is running."""
    calls = state.run.calls if state.run else ()
    return tuple(CallLost(call.call_id) for call in calls if call.verdict is StepVerdict.NONE)


def lose_orphaned_calls(state: SessionState, running_count: int | None) -> tuple[Fact, ...]:
    """Return the facts for calls that cannot return after the end of a turn: none is running, or none was linked."""
    if running_count == 0:
        return lose_all_calls(state)
    calls = state.run.calls if state.run and state.run.is_running else ()
    return tuple(CallLost(call.call_id) for call in calls if call.verdict is StepVerdict.NONE and not call.agent_id)
