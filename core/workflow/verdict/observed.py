"""Turn a finished command into evidence, and tell the agent at once if it does not count."""

from __future__ import annotations

from upbeat.core.contract.effect import Effect, InjectContext
from upbeat.core.contract.event import ToolFinished
from upbeat.core.workflow.decision import WorkflowInputs
from upbeat.core.workflow.state import Evidence, SessionState
from upbeat.core.workflow.verdict.evidence import TESTS, format_refusal


def evidence_of(event: ToolFinished, state: SessionState, inputs: WorkflowInputs) -> Evidence | None:
    """Return the command of ``event`` as evidence, also as one that does not count; None if it is no check."""
    observed, judgement = inputs.observed, inputs.observed.judgement
    kind = TESTS if judgement.is_test_run else observed.other_kind or observed.masked_kind
    if not kind:
        return None
    code = inputs.exit_code if event.exit_code is None else event.exit_code
    code = code if observed.recorded_code is None else observed.recorded_code
    refusal, detail = judgement.refusal, judgement.detail
    if observed.mark and any(run.mark == observed.mark for run in state.evidence):
        refusal, detail = "mark_used", ""
    is_hidden = bool(refusal and refusal != "exit_unknown") or (not judgement.is_test_run and not observed.other_kind)
    return Evidence(
        kind,
        event.command[:400],
        inputs.tree_digest,
        None if is_hidden else code,
        event.call.id,
        inputs.now,
        is_hidden,
        refusal if is_hidden else "",
        detail if is_hidden else "",
        judgement.scope,
        judgement.place,
        observed.mark,
    )


def refusal_note(evidence: Evidence, state: SessionState, inputs: WorkflowInputs) -> tuple[Effect, ...]:
    """Return one line that says why a run of tests does not count, before a turn is lost; the same is said once."""
    if not evidence.refusal or not inputs.can_inject or not inputs.requires_evidence:
        return ()
    if any((run.refusal, run.command) == (evidence.refusal, evidence.command) for run in state.evidence[-1:]):
        return ()
    because = format_refusal(evidence.refusal, evidence.refusal_detail, inputs.language)
    return (InjectContext(inputs.messages["run_refused"].format(because=because)),)
