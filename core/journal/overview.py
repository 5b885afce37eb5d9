"""Many records and sessions, a line each: what ``upbeat log`` and ``upbeat status`` print.

Law: pure; the documents are versioned, only ever added to, and hold all that the lines say.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from ..workflow.state import Run, StepStatus
from .entry import Entry, Health, KnownSession, Pruned, Verified
from .explain import SCHEMA_VERSION, one_line
from .texts import Texts

MEGABYTE = 1024 * 1024
MOST_STEPS = 4


def row(entry: Entry) -> dict[str, Any]:
    """A record as ``upbeat log --json`` has it: all that is stored, with its number and hashes."""
    return {"seq": entry.seq, **entry.body, "previous": entry.previous, "hash": entry.digest}


def log_document(entries: Sequence[Entry]) -> dict[str, Any]:
    """``upbeat log --json``."""
    return {"schema_version": SCHEMA_VERSION, "records": [row(entry) for entry in entries]}


def line(entry: Entry) -> str:
    """A record on one line: number, time, client, session, event, what was decided and done, milliseconds."""
    said = [f"{one.get('part', '')} {one.get('decided', '')}" for one in _dicts(entry, "said")]
    done = [f"{one.get('kind', '')} {len(str(one.get('text', '')))}" for one in _dicts(entry, "effects")]
    parts = [
        f"{entry.seq:>6}",
        moment(entry.text("at")),
        f"{entry.text('client') or '-':<11}",
        f"{entry.text('session_id')[:8] or '-':<8}",
        f"{entry.text('event'):<18}",
        one_line("; ".join([*said, *(f"→ {one}" for one in done)])),
        f"{entry.body.get('milliseconds', 0)} ms",
    ]
    return "  ".join(part for part in parts if part.strip())


def session_document(session: KnownSession) -> dict[str, Any]:
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
            "errors": state.loop.errors,
            "stale": state.loop.stale,
            "ended": state.loop.ended,
        },
        "last_event": {"seq": session.last.seq, "event": session.last.text("event"), "at": session.last.text("at")}
        if session.last
        else None,
        "problem": session.problem,
    }


def status_document(root: str, sessions: Sequence[KnownSession], health: Health) -> dict[str, Any]:
    """``upbeat status --json``."""
    journal = {
        "path": health.path,
        "exists": health.exists,
        "bytes": health.bytes,
        "records": health.records,
        "sessions": health.sessions,
        "oldest": health.oldest,
        "newest": health.newest,
        "mode": health.mode,
        "problem": health.problem,
        "failures": health.failures,
        "last_failure": health.last_failure,
        "damaged": list(health.damaged),
    }
    told = [session_document(session) for session in sessions if not session.is_renamed]
    return {"schema_version": SCHEMA_VERSION, "repository": root, "sessions": told, "journal": journal}


def status(root: str, sessions: Sequence[KnownSession], health: Health, texts: Texts) -> str:
    """``upbeat status``: the repository's sessions, a line each, and how the journal is."""
    shown = [session for session in sessions if not session.is_renamed]
    lines = [root, *(f"  {session_line(session, texts)}" for session in shown)]
    if not shown:
        lines.append(f"  {texts.no_session}")
    return "\n".join([*lines, *health_lines(health, texts)])


def session_line(session: KnownSession, texts: Texts) -> str:
    """A session on one line: client, name, workflow with stage, loop, last event."""
    run, loop = session.state.run, session.state.loop
    parts = [session.client or "-", session.session_id[:8]]
    if session.problem:
        parts.append(texts.unreadable.format(problem=one_line(session.problem)))
    elif run:
        parts += [texts.run.format(workflow=run.workflow, status=run.status.value), _steps(run, texts)]
        parts.append(texts.loop.format(iterations=loop.iterations))
    else:
        parts.append(texts.no_workflow)
    if loop.ended:
        parts.append(texts.loop_ended.format(reason=one_line(loop.ended)))
    if session.state.has_ended:
        parts.append(texts.ended)
    if session.last:
        parts.append(texts.last_event.format(event=session.last.text("event"), at=moment(session.last.text("at"))))
    return "  ".join(parts)


def health_lines(health: Health, texts: Texts) -> Iterator[str]:
    """How the journal is, and what there is to do about it."""
    if health.problem:
        yield health.path
        yield "  " + texts.unhealthy.format(problem=one_line(health.problem))
    elif not health.exists:
        yield texts.journal_none.format(path=health.path)
    else:
        yield texts.journal.format(
            path=health.path,
            records=f"{health.records:,}",
            sessions=f"{health.sessions:,}",
            size=size(health.bytes),
            oldest=moment(health.oldest) or "-",
        )
        yield "  " + texts.healthy.format(mode=health.mode)
    if health.failures:
        yield "  " + texts.failures.format(count=health.failures, last=one_line(health.last_failure))
    if health.damaged:
        yield "  " + texts.damaged.format(names=", ".join(health.damaged))


def pruned_lines(pruned: Pruned, health: Health, texts: Texts) -> Iterator[str]:
    """What ``upbeat log prune`` has done."""
    yield texts.pruned.format(records=f"{pruned.records:,}", sessions=f"{pruned.sessions:,}", size=size(health.bytes))
    if not pruned.is_finished:
        yield texts.pruned_more


def verified_lines(verified: Verified, texts: Texts) -> Iterator[str]:
    """What ``upbeat log verify`` has found."""
    if verified.pruned:
        yield texts.verified_pruned.format(pruned=f"{verified.pruned:,}")
    if verified.is_whole:
        yield texts.whole.format(records=f"{verified.records:,}", sessions=f"{verified.sessions:,}")
    if verified.broken:
        yield texts.broken.format(seq=verified.broken.seq, problem=verified.broken.problem)
    for session_id in verified.differing:
        yield texts.differing.format(session_id=session_id)


def verified_document(verified: Verified) -> dict[str, Any]:
    """``upbeat log verify --json``."""
    broken = verified.broken
    return {
        "schema_version": SCHEMA_VERSION,
        "is_whole": verified.is_whole,
        "records": verified.records,
        "pruned": verified.pruned,
        "sessions": verified.sessions,
        "broken": {"seq": broken.seq, "problem": broken.problem} if broken else None,
        "differing": list(verified.differing),
    }


def pruned_document(pruned: Pruned, health: Health) -> dict[str, Any]:
    """``upbeat log prune --json``."""
    return {
        "schema_version": SCHEMA_VERSION,
        "records": pruned.records,
        "sessions": pruned.sessions,
        "is_finished": pruned.is_finished,
        "bytes": health.bytes,
    }


def moment(at: str) -> str:
    """``2026-01-02T03:04:05.678Z`` as people read it: no T, no milliseconds."""
    return at[:19].replace("T", " ") + "Z" if len(at) > len("2026-01-02T03:04:05") else at


def size(count: int) -> str:
    """Bytes in megabytes."""
    return f"{count / MEGABYTE:.1f} MB"


def _run_document(run: Run) -> dict[str, Any]:
    return {
        "name": run.workflow,
        "feature": run.feature,
        "goal": run.goal,
        "status": run.status.value,
        "reason": run.reason,
        "stages": list(_stages(run)),
        "done": sum(step.status is StepStatus.DONE for step in run.steps),
        "steps": len(run.steps),
    }


def _steps(run: Run, texts: Texts) -> str:
    stages = _stages(run)
    shown = ", ".join(stages[:MOST_STEPS]) + (" …" if len(stages) > MOST_STEPS else "")
    done = sum(step.status is StepStatus.DONE for step in run.steps)
    return texts.steps.format(steps=shown or "-", done=done, all=len(run.steps))


def _stages(run: Run) -> tuple[str, ...]:
    """The steps that somebody works on; without any, those that come next."""
    active = tuple(step.key for step in run.steps if step.status is StepStatus.ACTIVE)
    group = min((step.group for step in run.steps if step.status is StepStatus.PENDING), default=None)
    return active or tuple(step.key for step in run.steps if step.group == group and step.status is StepStatus.PENDING)


def _dicts(entry: Entry, name: str) -> list[dict[str, Any]]:
    found = entry.body.get(name)
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []
