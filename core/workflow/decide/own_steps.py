"""Decide on the steps that the main agent says it did itself.

Invariant: one message ends at most one step, and none that needs a subagent. So no message, whatever it claims, passes
a workflow that needs subagents.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from upbeat.core.contract.event import TurnEnding
from upbeat.core.sanitize.control_chars import strip_controls
from upbeat.core.workflow.decide.subagents import conclude_step, evaluate_result, keep_handoff
from upbeat.core.workflow.decide.subtasks import open_subtasks
from upbeat.core.workflow.decide.transitions import finish_step
from upbeat.core.workflow.decision import NO_DECISION, WorkflowDecision, WorkflowInputs
from upbeat.core.workflow.facts import StepFinished
from upbeat.core.workflow.prompts import format_step_keys
from upbeat.core.workflow.state import (
    SessionState,
    StepAuthor,
    StepStatus,
    WorkflowRun,
    WorkflowStep,
    current_steps,
)
from upbeat.core.workflow.subtasks import has_lost_plan
from upbeat.core.workflow.verdict.classify import ParsedVerdict, parse_stage_verdicts

MAX_NAMED_CHARS = 200


@dataclass(slots=True)
class _Claims:
    """The steps that one message claims, by what follows from it."""

    counted: tuple[WorkflowStep, ParsedVerdict] | None = None
    needing_agents: list[str] = field(default_factory=list)
    split: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)


def apply_own_verdicts(
    event: TurnEnding, state: SessionState, inputs: WorkflowInputs
) -> tuple[WorkflowDecision, tuple[str, ...]]:
    """Finish the first step that the main agent may and does claim; return also why its other claims do not count."""
    run, message = state.run, strip_controls(event.message)
    if run is None or not run.is_running:
        return NO_DECISION, ()
    claims = _sort_claims(run, message, inputs)
    notes = tuple(_explain(claims, run, inputs))
    if claims.counted is None:
        return NO_DECISION, notes
    step, stated = claims.counted
    verdict, _problem, failure = evaluate_result(state, step, message, inputs, stated.verdict)
    handoff, length, stored = keep_handoff(run, step, message, inputs)
    finished = StepFinished(step.key, verdict, failure, handoff, StepAuthor.MAIN, length)
    facts = finish_step(run, inputs.registry, finished)
    return stored + conclude_step(run, inputs, finished, facts, message), notes


def _sort_claims(run: WorkflowRun, message: str, inputs: WorkflowInputs) -> _Claims:
    claims = _Claims()
    for parsed in parse_stage_verdicts(message):
        name = parsed.step_key.partition(".")[0]  # a sub-task is claimed with its step
        step = _find_current_step(run, name)
        named = [step] if step else [s for s in run.steps if s.key == name] or [s for s in run.steps if s.stage == name]
        if not named:
            claims.unknown.append(name)
        elif all(other.status is StepStatus.DONE for other in named):
            continue  # a claim that counted before is only repeated
        elif step is not None and any(call.step_key == step.key for call in run.calls):
            continue  # the agent that works on it will report
        elif step is not None and (subtasks := open_subtasks(run, step, inputs)):
            claims.split.append(f"{name} ({', '.join(subtask.id for subtask in subtasks)})")
        elif step is not None and has_lost_plan(run, step, inputs):
            claims.lost.append(name)
        elif any(map(inputs.needs_agent, named)):
            claims.needing_agents.append(name)
        elif step is None or claims.counted:
            claims.ignored.append(name)
        else:
            claims.counted = (step, parsed)
    return claims


def _find_current_step(run: WorkflowRun, name: str) -> WorkflowStep | None:
    """Return the current step that a marker names by its key, or by its stage if only one step is of that stage."""
    steps = current_steps(run)
    named = [step for step in steps if step.key == name] or [step for step in steps if step.stage == name]
    return named[0] if len(named) == 1 else None


def _explain(claims: _Claims, run: WorkflowRun, inputs: WorkflowInputs) -> list[str]:
    messages, notes = inputs.messages, list[str]()
    if claims.ignored and claims.counted:
        counted = claims.counted[0].key
        notes.append(messages["one_own_verdict"].format(counted=counted, ignored=_join(claims.ignored)))
    elif claims.ignored:
        notes.append(messages["early_own_verdict"].format(ignored=_join(claims.ignored)))
    if claims.needing_agents:
        notes.append(messages["agent_needed"].format(steps=_join(claims.needing_agents)))
    if claims.split:
        notes.append(messages["subtasks_open"].format(steps=_join(claims.split)))
    if claims.lost:
        notes.append(messages["subtasks_lost"].format(steps=_join(claims.lost)))
    if claims.unknown:
        steps = format_step_keys(current_steps(run))
        notes.append(messages["step_unknown"].format(unknown=_join(sorted(claims.unknown)), steps=steps))
    return notes


def _join(names: list[str]) -> str:
    return ", ".join(names)[:MAX_NAMED_CHARS]
