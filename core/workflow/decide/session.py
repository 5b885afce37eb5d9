"""Decide on prompts, tools, and the start and end of sessions while a workflow may be running."""

from __future__ import annotations

from upbeat.core.contract.effect import InjectContext, NotifyUser
from upbeat.core.contract.event import (
    AnswerLost,
    Event,
    PromptOrigin,
    PromptSubmitted,
    SessionEnded,
    SessionStarted,
    ToolFinished,
    TurnEnding,
    TurnFailed,
    TurnInterrupted,
    UserQuestionRequested,
    WorkflowCommanded,
)
from upbeat.core.dialogue.stops import asks_to_continue
from upbeat.core.lazy_dataclass import replace
from upbeat.core.workflow.decide.command import (
    Verb,
    WorkflowCommand,
    parse_command_at_work,
    parse_workflow_command,
    resolve_workflow_name,
)
from upbeat.core.workflow.decide.features import choose_feature, named_features, tell_open_features
from upbeat.core.workflow.decide.subagents import lose_all_calls, record_reading
from upbeat.core.workflow.decide.tell_user import describe_end
from upbeat.core.workflow.decide.transitions import create_run
from upbeat.core.workflow.decision import NO_DECISION, WorkflowDecision, WorkflowInputs, make_explanation
from upbeat.core.workflow.facts import (
    AskedUser,
    CommandRan,
    ContinuationOverridden,
    ConversationCompacted,
    Fact,
    FeatureAssigned,
    HandoverOffered,
    LoopEnded,
    SessionBegan,
    SessionClosed,
    TurnAllowed,
    TurnErrored,
    UserMessaged,
    WorkflowAdopted,
    WorkflowEnded,
    WorkflowReopened,
    WorkflowStarted,
    apply_facts,
)
from upbeat.core.workflow.prompts import format_unfinished_steps, render_resume_prompt, render_turn_prompt
from upbeat.core.workflow.state import PAUSED, LoopState, RunStatus, SessionState
from upbeat.core.workflow.verdict.observed import evidence_of, refusal_note

MAX_GOAL_CHARS = 2000
HANDOVER_OFFER_SECONDS = 86400.0
"""An offer to another client expires after this time."""


def on_session_started(event: SessionStarted, state: SessionState, inputs: WorkflowInputs) -> WorkflowDecision:
    """Inject the state of the session's own workflow, or of one that was handed over to it."""
    facts: tuple[Fact, ...] = (SessionBegan(event.source.client.value, inputs.root),)
    if event.trigger in ("compact", "clear"):
        facts += (ConversationCompacted(),)
    elif event.trigger in ("startup", "resume"):
        facts += lose_all_calls(state)
    decision = WorkflowDecision(facts) + _adopt_offered_run(event.source.client.value, state, inputs)
    after = apply_facts(decision.facts, state)
    run = after.run
    is_left = run is not None and run.can_continue and run.feature in inputs.features_in_progress
    if not is_left and (run is None or not run.is_open):
        is_new = event.trigger not in ("resume", "fork")  # these conversations have heard of them
        return decision + tell_open_features(inputs) if is_new else decision
    text = render_resume_prompt(after, inputs)
    why = make_explanation("workflow", "inject", f"session {event.trigger}", chars=len(text))
    if run and after.needs_user:
        decision += WorkflowDecision(effects=(NotifyUser(describe_end(run, after.needs_user, inputs)),))
    return decision + WorkflowDecision(effects=(InjectContext(text),), explanations=(why,)) if text else decision


def _adopt_offered_run(client: str, state: SessionState, inputs: WorkflowInputs) -> WorkflowDecision:
    """Continue the run that another session in this repository offers to this client."""
    if state.run is not None and state.run.is_running:
        return NO_DECISION
    for peer in inputs.peer_sessions:
        other = peer.state
        is_fresh = inputs.now - peer.updated_at < HANDOVER_OFFER_SECONDS
        if is_fresh and other.handover_client == client and other.run is not None and other.run.can_continue:
            reopened = () if other.run.is_running else (WorkflowReopened(inputs.now),)
            run = apply_facts((*lose_all_calls(other), *reopened), other).run or other.run
            loop = LoopState(
                other.loop.iterations, started_at=other.loop.started_at, tokens_at_start=inputs.tokens or 0
            )
            text = inputs.messages["workflow_adopted"].format(client=other.client, session=peer.session_id[:13])
            return WorkflowDecision(
                (WorkflowAdopted(run, loop, other.evidence, other.client, peer.session_id),),
                (NotifyUser(text),),
                (make_explanation("workflow", "adopt", "handed over", session=peer.session_id, client=other.client),),
            )
    return NO_DECISION


def _ensure_begun(event: Event, state: SessionState, inputs: WorkflowInputs) -> WorkflowDecision:
    """Note the beginning of a session whose client has not reported it; a prompt also begins one that has ended."""
    if state.root and not (state.has_ended and isinstance(event, PromptSubmitted)):
        return NO_DECISION
    return WorkflowDecision((SessionBegan(event.source.client.value, state.root or inputs.root),))


def on_prompt_submitted(event: PromptSubmitted, state: SessionState, inputs: WorkflowInputs) -> WorkflowDecision:
    """Execute a command of the user, or note any other prompt while a workflow is running."""
    if event.origin is not PromptOrigin.USER:
        return NO_DECISION
    decision = _ensure_begun(event, state, inputs)
    if state.run is not None and state.run.is_running:
        decision += _detect_override(state, inputs)
    elif inputs.peer_sessions:
        decision += _adopt_offered_run(event.source.client.value, state, inputs)
    after = apply_facts(decision.facts, state)
    command = _parse_command(event.prompt, after)
    if command is None and after.run is None:
        return decision
    decision += _execute_command(command, event, after, inputs) if command else _on_other_prompt(event, after, inputs)
    text = render_turn_prompt(apply_facts(decision.facts, state), inputs)
    started = any(isinstance(fact, WorkflowStarted) for fact in decision.facts)
    if started or any(isinstance(fact, WorkflowReopened) for fact in decision.facts):
        messages = inputs.messages
        text = f"{messages['workflow_started' if started else 'workflow_continued']}\n{text}"
    return decision + WorkflowDecision(effects=(InjectContext(text),) if text else ())


def _parse_command(prompt: str, state: SessionState) -> WorkflowCommand | None:
    """Return the command in ``prompt``; while a run is open, also one in plain words."""
    if state.run is None or not state.run.is_open:
        return parse_workflow_command(prompt)
    command = parse_command_at_work(prompt)
    resumes = command is None and state.loop.end_reason == PAUSED and asks_to_continue(prompt)
    return WorkflowCommand(Verb.CONTINUE) if resumes else command


def _execute_command(
    command: WorkflowCommand, event: PromptSubmitted, state: SessionState, inputs: WorkflowInputs
) -> WorkflowDecision:
    match command.verb:
        case Verb.START:
            return start_run(command.workflow, command.goal, inputs)
        case Verb.STOP:
            decision = stop_run(state, inputs)
        case Verb.PAUSE:
            decision = pause_run(state, inputs)
        case Verb.CONTINUE:
            decision = continue_run(state, inputs)
        case Verb.OTHER:
            return NO_DECISION
    # A bare word such as "stop" is an ordinary prompt when it changes nothing.
    return (
        decision
        if decision.facts or event.prompt.lstrip()[:1] in ("/", "$")
        else _on_other_prompt(event, state, inputs)
    )


def on_workflow_commanded(event: WorkflowCommanded, state: SessionState, inputs: WorkflowInputs) -> WorkflowDecision:
    """Execute a command from outside the conversation; the answer always contains the state of the workflow."""
    decision = _ensure_begun(event, state, inputs)
    match event.verb:
        case "start":
            decision += start_run(event.argument, event.goal, inputs)
        case "start-if-idle" if state.run is None or not state.run.is_open:
            decision += start_run(event.argument, event.goal, inputs)
        case "stop":
            decision += stop_run(state, inputs)
        case "continue":
            decision += continue_run(state, inputs)
        case "hand-over":
            decision += offer_handover(state, event.argument, inputs)
        case _:
            pass
    text = render_turn_prompt(apply_facts(decision.facts, state), inputs)
    if text:
        return decision + WorkflowDecision(effects=(InjectContext(text),))
    return decision if decision.effects else decision + _no_workflow_runs(inputs)


def _no_workflow_runs(inputs: WorkflowInputs) -> WorkflowDecision:
    return WorkflowDecision(effects=(NotifyUser(inputs.messages["no_workflow_runs"]),))


def stop_run(state: SessionState, inputs: WorkflowInputs) -> WorkflowDecision:
    """Stop the run and its loop."""
    run = state.run
    if run is None or not run.is_open:
        return _no_workflow_runs(inputs)
    facts: tuple[Fact, ...] = (WorkflowEnded(RunStatus.STOPPED, "stopped"), LoopEnded("stopped"))
    if state.handover_client:
        facts += (HandoverOffered(""),)
    text = inputs.messages["workflow_stopped"].format(workflow=run.workflow)
    return WorkflowDecision(facts, (NotifyUser(text),), (make_explanation("loop", "stop", "requested by the user"),))


def pause_run(state: SessionState, inputs: WorkflowInputs) -> WorkflowDecision:
    """End the loop until the user continues it; the run stays as it is."""
    if state.run is None or not state.run.is_running or state.loop.end_reason:
        return NO_DECISION
    text = inputs.messages["workflow_paused"].format(workflow=state.run.workflow)
    why = make_explanation("loop", "pause", "requested by the user")
    return WorkflowDecision((LoopEnded(PAUSED),), (NotifyUser(text),), (why,))


def continue_run(state: SessionState, inputs: WorkflowInputs) -> WorkflowDecision:
    """Resume the run where it stopped, with fresh attempts and a fresh loop."""
    if state.run is None or not state.run.can_continue:
        return _no_workflow_runs(inputs)
    is_over = not state.run.is_running or state.loop.end_reason
    lost = lose_all_calls(state) if is_over else ()  # a client may never report that a subagent was cut off
    reopened = WorkflowReopened(inputs.now, inputs.tokens or 0)
    why = make_explanation("loop", "continue", "requested by the user")
    return WorkflowDecision((*lost, reopened), explanations=(why,))


def offer_handover(state: SessionState, to_client: str, inputs: WorkflowInputs) -> WorkflowDecision:
    """Offer the run to the next session of ``to_client`` in this repository."""
    run = state.run
    if run is None or not run.can_continue:
        return _no_workflow_runs(inputs)
    text = inputs.messages["handover_offered"].format(workflow=run.workflow, client=to_client)
    why = make_explanation("workflow", "offer", f"to {to_client}")
    return WorkflowDecision((HandoverOffered(to_client),), (NotifyUser(text),), (why,))


def start_run(workflow_name: str, goal: str, inputs: WorkflowInputs) -> WorkflowDecision:
    """Start the workflow called ``workflow_name``, or list the known ones."""
    workflow = inputs.registry.workflows.get(resolve_workflow_name(workflow_name, inputs.registry.workflows))
    if workflow is None:
        text = inputs.messages["workflow_unknown"].format(
            name=workflow_name[:40], known=", ".join(inputs.registry.workflows)
        )
        why = make_explanation("workflow", "unknown", f"no workflow {workflow_name[:40]}")
        return WorkflowDecision(effects=(NotifyUser(text),), explanations=(why,))
    feature, chosen = choose_feature(goal, workflow, inputs)
    run = replace(
        create_run(workflow, inputs.registry.stages, inputs.run_id, goal[:MAX_GOAL_CHARS], feature),
        preexisting_features=inputs.features_in_progress,
        base_commit=inputs.base_commit,
    )
    why = make_explanation(
        "workflow", "start", f"workflow {workflow_name}", workflow.origin, goal=goal[:200], feature=run.feature
    )
    return chosen + WorkflowDecision((WorkflowStarted(run, inputs.now, inputs.tokens or 0),), explanations=(why,))


def _on_other_prompt(event: PromptSubmitted, state: SessionState, inputs: WorkflowInputs) -> WorkflowDecision:
    """Note a prompt while a workflow is running; an unrelated question pauses the loop."""
    if state.run is None or not state.run.is_running:
        return NO_DECISION
    pauses = inputs.is_unrelated_question
    why = make_explanation("loop", "pause" if pauses else "listen", "the user sent a prompt")
    named = () if state.run.feature else named_features(event.prompt, inputs.features_in_progress)
    assigned = (FeatureAssigned(named[0]),) if len(named) == 1 else ()
    return WorkflowDecision((UserMessaged(pauses_loop=pauses), *assigned), explanations=(why,))


def _detect_override(state: SessionState, inputs: WorkflowInputs) -> WorkflowDecision:
    """Tell the user that a continued turn ended anyway: at the client's own limit, or before it had the answer."""
    run, loop = state.run, state.loop
    most = inputs.client.max_continuations_in_a_row
    is_over_limit = loop.was_continued and 0 < most < loop.consecutive_continuations
    is_noted = loop.end_reason == "overridden" and loop.consecutive_continuations > 0  # since the last prompt
    if run is None or not run.is_running or not (is_over_limit or is_noted):
        return NO_DECISION
    text = inputs.messages["continuation_overridden"].format(workflow=run.workflow, steps=format_unfinished_steps(run))
    if is_noted:
        return WorkflowDecision(effects=(NotifyUser(text),))
    why = make_explanation(
        "loop", "overridden", "the client ended the turn itself", in_a_row=loop.consecutive_continuations
    )
    return WorkflowDecision((ContinuationOverridden(),), (NotifyUser(text),), (why,))


def on_session_ended(_event: SessionEnded, state: SessionState, inputs: WorkflowInputs) -> WorkflowDecision:
    """Drop the calls that were still running, and note a loop that the client cut off."""
    return _detect_override(state, inputs) + WorkflowDecision((*lose_all_calls(state), SessionClosed()))


def on_tool_finished(event: ToolFinished, state: SessionState, inputs: WorkflowInputs) -> WorkflowDecision:
    """Record what a reviewer reads, and a command that is evidence, with its exit code and the files it ran on."""
    if state.run is None or not state.run.is_running or event.was_interrupted:
        return NO_DECISION
    reading = WorkflowDecision(record_reading(event, state, inputs))
    if any(run.call_id == event.call.id and run.exit_code is not None for run in state.evidence):
        return reading  # reported twice, and the files may have changed in between
    evidence = evidence_of(event, state, inputs)
    if evidence is None:
        return reading
    reason = f"{evidence.kind}: {evidence.refusal or f'exit code {evidence.exit_code}'}"
    why = make_explanation("evidence", "recorded", reason, command=evidence.command, tree=inputs.tree_digest[:12],
                           refused_for=evidence.refusal_detail, scope=evidence.scope, place=evidence.place)  # fmt: skip
    return reading + WorkflowDecision((CommandRan(evidence),), refusal_note(evidence, state, inputs), (why,))


def on_asking_user(_event: UserQuestionRequested, state: SessionState, _inputs: WorkflowInputs) -> WorkflowDecision:
    """Let this turn end, because the agent asks the user with the client's own tool."""
    if state.run is None or not state.run.is_running:
        return NO_DECISION
    return WorkflowDecision(
        (AskedUser(),), explanations=(make_explanation("loop", "pause", "the agent asks the user"),)
    )


def on_turn_failed(event: TurnFailed, state: SessionState, _inputs: WorkflowInputs) -> WorkflowDecision:
    """Count a failed turn. The model may not have read the excerpts that the turn was to show."""
    if state.run is None or not state.run.is_running:
        return WorkflowDecision((TurnErrored(),)) if state.shown_excerpts else NO_DECISION
    why = make_explanation("loop", "error", event.error, message=event.message[:200])
    return WorkflowDecision((TurnErrored(awaits_user=True),), explanations=(why,))


def on_answer_lost(event: AnswerLost, state: SessionState, _inputs: WorkflowInputs) -> WorkflowDecision:
    """End the loop if the client has ended a turn that would have been continued; the next prompt says so."""
    is_lost = event.event_name == TurnEnding.__name__ and state.loop.was_continued
    if state.run is None or not state.run.is_running or not is_lost:
        return NO_DECISION
    why = make_explanation("loop", "overridden", "the client did not wait for the answer")
    return WorkflowDecision((ContinuationOverridden(),), explanations=(why,))


def on_turn_interrupted(_event: TurnInterrupted, state: SessionState, _inputs: WorkflowInputs) -> WorkflowDecision:
    """Stop continuing until the next prompt, because the user interrupted the turn."""
    if state.run is None or not state.run.is_running:
        return NO_DECISION
    return WorkflowDecision((TurnAllowed("interrupted", awaits_user=True),))
