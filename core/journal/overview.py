"""Many records and sessions, a line each: what ``upbeat log`` and ``upbeat status`` print.

Invariant: pure; the documents are versioned, only ever added to, and hold all that the lines say.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from upbeat.core.journal.entry import JournalEntry, JournalHealth, PruneResult, StoredSession, VerificationResult
from upbeat.core.journal.explain import SCHEMA_VERSION, to_single_line
from upbeat.core.messages.catalogue import Messages
from upbeat.core.workflow.state import StepStatus, WorkflowRun

MEGABYTE = 1024 * 1024
MAX_SHOWN_STEPS = 4


def entry_document(entry: JournalEntry) -> dict[str, Any]:
    """A record as ``upbeat log --json`` has it: all that is stored, with its number and hashes."""
    return {"seq": entry.seq, **entry.body, "previous": entry.previous, "hash": entry.digest}


def log_document(entries: Sequence[JournalEntry]) -> dict[str, Any]:
    """``upbeat log --json``."""
    return {"schema_version": SCHEMA_VERSION, "records": [entry_document(entry) for entry in entries]}


def entry_line(entry: JournalEntry) -> str:
    """A record on one line: number, time, client, session, event, what was decided and done, milliseconds."""
    said = [f"{one.get('component', '')} {one.get('decision', '')}" for one in _dicts(entry, "explanations")]
    done = [f"{one.get('kind', '')} {len(str(one.get('text', '')))}" for one in _dicts(entry, "effects")]
    parts = [
        f"{entry.seq:>6}",
        format_time(entry.text_field("at")),
        f"{entry.text_field('client') or '-':<11}",
        f"{entry.text_field('session_id')[:8] or '-':<8}",
        f"{entry.text_field('event'):<18}",
        to_single_line("; ".join([*said, *(f"→ {one}" for one in done)])),
        f"{entry.body.get('duration_ms', 0)} ms",
    ]
    return "  ".join(part for part in parts if part.strip())


def session_document(session: StoredSession) -> dict[str, Any]:
    """A session as ``upbeat status --json`` has it; ``workflow`` is null without one."""
    state, run = session.state, session.state.run
    return {
        "session_id": session.session_id,
        "client": session.client,
        "root": session.root,
        "updated_at": datetime.fromtimestamp(session.updated_at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "has_ended": state.has_ended,
        "compactions": state.compactions,
        "workflow": _run_document(run) if run else None,
        "loop": {
            "iterations": state.loop.iterations,
            "consecutive_errors": state.loop.consecutive_errors,
            "turns_without_progress": state.loop.turns_without_progress,
            "end_reason": state.loop.end_reason,
        },
        "last_event": {
            "seq": session.last_entry.seq,
            "event": session.last_entry.text_field("event"),
            "at": session.last_entry.text_field("at"),
        }
        if session.last_entry
        else None,
        "problem": session.problem,
    }


def status_document(root: str, sessions: Sequence[StoredSession], health: JournalHealth) -> dict[str, Any]:
    """``upbeat status --json``."""
    journal = {
        "path": health.path,
        "exists": health.exists,
        "size_bytes": health.size_bytes,
        "records": health.records,
        "sessions": health.sessions,
        "oldest": health.oldest,
        "newest": health.newest,
        "journal_mode": health.journal_mode,
        "problem": health.problem,
        "write_failures": health.write_failures,
        "last_failure": health.last_failure,
        "damaged_files": list(health.damaged_files),
    }
    listed = [session_document(session) for session in sessions if not session.is_renamed]
    return {"schema_version": SCHEMA_VERSION, "repository": root, "sessions": listed, "journal": journal}


def status_text(
    root: str,
    sessions: Sequence[StoredSession],
    health: JournalHealth,
    texts: Messages,
    recorded_roots: Sequence[str] = (),
) -> str:
    """``upbeat status``: the repository's sessions, a line each, and how the journal is.

    ``recorded_roots`` are other repositories with sessions, shown where this one has none.
    """
    shown = [session for session in sessions if not session.is_renamed]
    lines = [root, *(f"  {session_line(session, texts)}" for session in shown)]
    if not shown:
        lines.append(f"  {texts['no_session']}")
        if recorded_roots:
            roots = ", ".join(map(to_single_line, recorded_roots))
            lines.append(f"  {texts['recorded_elsewhere'].format(roots=roots)}")
    return "\n".join([*lines, *health_lines(health, texts)])


def session_line(session: StoredSession, texts: Messages) -> str:
    """A session on one line: client, name, workflow with stage, loop, last event."""
    run, loop = session.state.run, session.state.loop
    parts = [session.client or "-", session.session_id[:8]]
    if session.problem:
        parts.append(texts["unreadable"].format(problem=to_single_line(session.problem)))
    elif run:
        parts += [texts["run"].format(workflow=run.workflow, status=run.status.value), _format_steps(run, texts)]
        parts.append(texts["loop"].format(iterations=loop.iterations))
    else:
        parts.append(texts["no_workflow"])
    if loop.end_reason:
        parts.append(texts["loop_ended"].format(reason=to_single_line(loop.end_reason)))
    if session.state.has_ended:
        parts.append(texts["ended"])
    if session.last_entry:
        parts.append(
            texts["last_event"].format(
                event=session.last_entry.text_field("event"), at=format_time(session.last_entry.text_field("at"))
            )
        )
    return "  ".join(parts)


def health_lines(health: JournalHealth, texts: Messages) -> Iterator[str]:
    """How the journal is, and what there is to do about it."""
    if health.problem:
        yield health.path
        yield "  " + texts["unhealthy"].format(problem=to_single_line(health.problem))
    elif not health.exists:
        yield texts["no_journal"].format(path=health.path)
    else:
        yield texts["journal"].format(
            path=health.path,
            records=f"{health.records:,}",
            sessions=f"{health.sessions:,}",
            size=format_megabytes(health.size_bytes),
            oldest=format_time(health.oldest) or "-",
        )
        yield "  " + texts["healthy"].format(mode=health.journal_mode)
    if health.write_failures:
        yield "  " + texts["failures"].format(count=health.write_failures, last=to_single_line(health.last_failure))
    if health.damaged_files:
        yield "  " + texts["damaged"].format(names=", ".join(health.damaged_files))


def prune_lines(pruned: PruneResult, health: JournalHealth, texts: Messages) -> Iterator[str]:
    """What ``upbeat log prune`` has done."""
    yield texts["pruned"].format(
        records=f"{pruned.records:,}", sessions=f"{pruned.sessions:,}", size=format_megabytes(health.size_bytes)
    )
    if not pruned.is_finished:
        yield texts["more_to_prune"]


def verification_lines(verified: VerificationResult, texts: Messages) -> Iterator[str]:
    """What ``upbeat log verify`` has found."""
    if verified.pruned_records:
        yield texts["verified_pruned"].format(pruned=f"{verified.pruned_records:,}")
    if verified.is_intact:
        yield texts["intact"].format(records=f"{verified.records:,}", sessions=f"{verified.sessions:,}")
    if verified.chain_break:
        yield texts["broken"].format(seq=verified.chain_break.seq, problem=verified.chain_break.problem)
    for session_id in verified.inconsistent_sessions:
        yield texts["inconsistent"].format(session_id=session_id)


def verification_document(verified: VerificationResult) -> dict[str, Any]:
    """``upbeat log verify --json``."""
    broken = verified.chain_break
    return {
        "schema_version": SCHEMA_VERSION,
        "is_intact": verified.is_intact,
        "records": verified.records,
        "pruned_records": verified.pruned_records,
        "sessions": verified.sessions,
        "chain_break": {"seq": broken.seq, "problem": broken.problem} if broken else None,
        "inconsistent_sessions": list(verified.inconsistent_sessions),
    }


def prune_document(pruned: PruneResult, health: JournalHealth) -> dict[str, Any]:
    """``upbeat log prune --json``."""
    return {
        "schema_version": SCHEMA_VERSION,
        "records": pruned.records,
        "sessions": pruned.sessions,
        "is_finished": pruned.is_finished,
        "size_bytes": health.size_bytes,
    }


def format_time(at: str) -> str:
    """``2026-01-02T03:04:05.678Z`` as people read it: no T, no milliseconds."""
    return at[:19].replace("T", " ") + "Z" if len(at) > len("2026-01-02T03:04:05") else at


def format_megabytes(count: int) -> str:
    """Bytes in megabytes."""
    return f"{count / MEGABYTE:.1f} MB"


def _run_document(run: WorkflowRun) -> dict[str, Any]:
    return {
        "name": run.workflow,
        "feature": run.feature,
        "goal": run.goal,
        "status": run.status.value,
        "reason": run.reason,
        "stages": list(_current_stages(run)),
        "done": sum(step.status is StepStatus.DONE for step in run.steps),
        "steps": len(run.steps),
    }


def _format_steps(run: WorkflowRun, texts: Messages) -> str:
    stages = _current_stages(run)
    shown = ", ".join(stages[:MAX_SHOWN_STEPS]) + (" …" if len(stages) > MAX_SHOWN_STEPS else "")
    done = sum(step.status is StepStatus.DONE for step in run.steps)
    return texts["steps"].format(steps=shown or "-", done=done, all=len(run.steps))


def _current_stages(run: WorkflowRun) -> tuple[str, ...]:
    """Return the active steps; without any, those that come next."""
    active = tuple(step.key for step in run.steps if step.status is StepStatus.ACTIVE)
    group = min((step.group for step in run.steps if step.status is StepStatus.PENDING), default=None)
    return active or tuple(step.key for step in run.steps if step.group == group and step.status is StepStatus.PENDING)


def _dicts(entry: JournalEntry, name: str) -> list[dict[str, Any]]:
    found = entry.body.get(name)
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []
