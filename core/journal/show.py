"""What ``upbeat log`` and ``status`` print of records, sessions and the journal: as text and as JSON.

Invariant: pure. The documents are versioned and only ever added to, and contain all that the text says.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from upbeat.core.journal.record import JournalEntry, JournalHealth, PruneResult, StoredSession, VerificationResult
from upbeat.core.messages.catalogue import format_count, load_messages
from upbeat.core.workflow.registry import SPEC_MODE, Stage, stage_of_step_key
from upbeat.core.workflow.state import (
    Evidence,
    StepStatus,
    StepVerdict,
    WorkflowRun,
    WorkflowStep,
    self_declared_steps,
)

SCHEMA_VERSION = "1.0"
MEGABYTE = 1024 * 1024
NO_STAGES: Mapping[str, Stage] = {}


# upbeat log


def entry_document(entry: JournalEntry) -> dict[str, Any]:
    """Return a record as ``upbeat log --json`` has it: all that is stored, with its number and hashes."""
    return {"seq": entry.seq, **entry.body, "previous": entry.previous, "hash": entry.digest}


def log_document(entries: Sequence[JournalEntry]) -> dict[str, Any]:
    """Return the document of ``upbeat log --json``."""
    return {"schema_version": SCHEMA_VERSION, "records": [entry_document(entry) for entry in entries]}


def prune_lines(pruned: PruneResult, health: JournalHealth, language: str) -> Iterator[str]:
    """Yield what ``upbeat log prune`` has removed."""
    texts = load_messages("journal", language)
    yield texts["pruned"].format(
        records=format_count("record", pruned.records, language),
        sessions=format_count("session", pruned.sessions, language),
        size=format_megabytes(health.size_bytes),
    )
    if not pruned.is_finished:
        yield texts["more_to_prune"]


def prune_document(pruned: PruneResult, health: JournalHealth) -> dict[str, Any]:
    """Return the document of ``upbeat log prune --json``."""
    return {"schema_version": SCHEMA_VERSION, **asdict(pruned), "size_bytes": health.size_bytes}


def verification_lines(verified: VerificationResult, language: str) -> Iterator[str]:
    """Yield what ``upbeat log verify`` has found."""
    texts = load_messages("journal", language)
    if verified.pruned_records:
        yield texts["verified_pruned"].format(records=format_count("record", verified.pruned_records, language))
    if verified.is_intact:
        records = format_count("record", verified.records, language)
        yield texts["intact"].format(records=records, sessions=format_count("session", verified.sessions, language))
    if verified.chain_break:
        yield texts["broken"].format(seq=verified.chain_break.seq, problem=verified.chain_break.problem)
    for session_id in verified.inconsistent_sessions:
        yield texts["inconsistent"].format(session_id=session_id)


def verification_document(verified: VerificationResult) -> dict[str, Any]:
    """Return the document of ``upbeat log verify --json``."""
    return {"schema_version": SCHEMA_VERSION, "is_intact": verified.is_intact, **asdict(verified)}


# upbeat status


def status_document(
    root: str, sessions: Sequence[StoredSession], health: JournalHealth, stages: Mapping[str, Stage] = NO_STAGES
) -> dict[str, Any]:
    """Return the document of ``upbeat status --json``; ``stages`` say which evidence the steps need."""
    listed = [_session_document(session, stages) for session in sessions if not session.is_renamed]
    return {"schema_version": SCHEMA_VERSION, "repository": root, "sessions": listed, "journal": asdict(health)}


def _session_document(session: StoredSession, stages: Mapping[str, Stage]) -> dict[str, Any]:
    state, run, last = session.state, session.state.run, session.last_entry
    return {
        "session_id": session.session_id,
        "client": session.client,
        "root": session.root,
        "updated_at": _format_seconds(session.updated_at),
        "has_ended": state.has_ended,
        "needs_user": state.awaits_user,
        "compactions": state.compactions,
        "workflow": _run_document(run, state.evidence, stages) if run else None,
        "loop": {
            "iterations": state.loop.iterations,
            "consecutive_errors": state.loop.consecutive_errors,
            "turns_without_progress": state.loop.turns_without_progress,
            "end_reason": state.loop.end_reason,
        },
        "last_event": last and {"seq": last.seq, "event": last.text_field("event"), "at": last.text_field("at")},
        "problem": session.problem,
    }


def _run_document(run: WorkflowRun, evidence: Sequence[Evidence], stages: Mapping[str, Stage]) -> dict[str, Any]:
    """Return a run. ``steps`` is a number, as it has always been; ``step_details`` has them all."""
    return {
        "name": run.workflow,
        "feature": run.feature,
        "goal": run.goal,
        "status": run.status.value,
        "reason": run.reason,
        "stages": list(current_keys(run)),
        "done": len(run.passed_steps),
        "steps": len(run.steps),
        "self_declared": [step.key for step in self_declared_steps(run)],
        "failed": [step.key for step in run.failed_steps],
        "created_at": _format_seconds(run.created_at),
        "step_details": [_step_document(step, run, evidence, stages) for step in run.steps],
        "active_agents": [
            {
                "call_id": call.call_id,
                "agent": call.agent,
                "agent_id": call.agent_id,
                "step": call.step_key,
                "stage": stage_of_step_key(call.step_key),
                "subtask": call.subtask,
                "started_at": _format_seconds(call.started_at),
            }
            for call in run.calls
            if call.verdict is StepVerdict.NONE
        ],
        "evidence": [_evidence_document(each) for each in evidence],
    }


def _step_document(
    step: WorkflowStep, run: WorkflowRun, evidence: Sequence[Evidence], stages: Mapping[str, Stage]
) -> dict[str, Any]:
    """Return a step; one that has ended has the latest evidence of the kind that it needs, or None."""
    kind = stages[step.stage].required_evidence if step.stage in stages and step.mode != SPEC_MODE else ""
    latest = next((each for each in reversed(evidence) if step.attempts and each.kind == kind), None)
    return {
        "key": step.key,
        "stage": step.stage,
        "mode": step.mode,
        "group": step.group,
        "state": step.status.value,
        "result": step.verdict.value,
        "tries": step.attempts,
        "failures": step.attempts - step.has_passed,
        "failure_notes": step.failure_notes,
        "repair_of": list(step.repair_of),
        "reported_by": step.author.value,
        "subtasks": [
            {
                "title": result.key,
                "result": result.verdict.value,
                "failures": result.attempts,
                "failure_notes": result.failure_notes,
            }
            for result in run.subtasks
            if result.step_key == step.key
        ],
        "evidence": _evidence_document(latest) if latest else None,
    }


def _evidence_document(evidence: Evidence) -> dict[str, Any]:
    return {
        "kind": evidence.kind,
        "command": evidence.command,
        "exit_code": evidence.exit_code,
        "is_exit_code_hidden": evidence.is_hidden and not evidence.refusal,
        "refusal": evidence.refusal,
        "refusal_detail": evidence.refusal_detail,
        "scope": evidence.scope,
        "place": evidence.place,
        "at": _format_seconds(evidence.observed_at),
    }


def current_keys(run: WorkflowRun) -> tuple[str, ...]:
    """Return the active steps; without any, those that come next."""
    active = tuple(step.key for step in run.steps if step.status is StepStatus.ACTIVE)
    group = min((step.group for step in run.steps if step.status is StepStatus.PENDING), default=None)
    return active or tuple(step.key for step in run.steps if step.group == group and step.status is StepStatus.PENDING)


def _format_seconds(at: float) -> str:
    """Return seconds since the epoch as ``2026-01-02T03:04:05Z``; empty for 0."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ") if at else ""


def format_megabytes(size_bytes: int) -> str:
    return f"{size_bytes / MEGABYTE:.1f} MB"
