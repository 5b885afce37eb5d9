"""Show what a subagent changed in the working tree, and ask the caller to verify it."""

from __future__ import annotations

from collections.abc import Sequence

from upbeat.core.contract.effect import InjectContext
from upbeat.core.contract.event import (
    FILE_CHANGING_KINDS,
    PromptOrigin,
    PromptSubmitted,
    SubagentEnding,
    SubagentReturned,
    ToolFinished,
)
from upbeat.core.policy.changed_files import MAX_LISTED_FILES, MAX_PATH_CHARS, format_changed_files, format_count
from upbeat.core.policy.definition import NO_RESULT, Handler, Policy, PolicyContext, PolicyResult
from upbeat.core.policy.queries import ChangedFile, ChangedFilesQuery, Query
from upbeat.core.sanitize.frame import frame_untrusted
from upbeat.core.workflow.state import SessionState

_NAME = "verify-subagent-changes"
_RETURNED_PREFIX = "returned "
_VERIFIED_PREFIX = "verified "
"""A subagent that the workflow evaluated when it stopped; its call returns later, when the run no longer has it."""
_WARNED_PREFIX = "warned "
_MAX_NOTES = 20
_PROSE_SUFFIXES = (".md", ".txt", ".rst")


def _queries_for_subagent(event: SubagentReturned, state: SessionState) -> tuple[Query, ...]:
    return (ChangedFilesQuery(),) if _is_to_verify(event, state) else ()


def _queries_for_main_agent(_event: PromptSubmitted | ToolFinished, state: SessionState) -> tuple[Query, ...]:
    return (ChangedFilesQuery(),) if _returned_notes(state.notes_of(_NAME)) else ()


def _is_to_verify(event: SubagentReturned, state: SessionState) -> bool:
    """Return whether the subagent has answered and the workflow does not evaluate its answer."""
    has_answered = event.message is not None and not event.has_failed
    return has_answered and not _is_verified_by_workflow(state, event.call.id, event.agent_id)


def _is_verified_by_workflow(state: SessionState, call_id: str = "", agent_id: str = "", agent: str = "") -> bool:
    """Return whether the workflow evaluates this call or subagent itself."""
    run = state.run
    if agent_id and f"{_VERIFIED_PREFIX}{agent_id[:80]}" in state.notes_of(_NAME):
        return True
    if run is None or not run.can_continue:
        return False
    return any(
        (call_id and call.call_id == call_id)
        or (agent_id and call.agent_id == agent_id)
        or (agent and not call.agent_id and call.agent in (agent, ""))
        for call in run.calls
    )


def _returned_notes(notes: Sequence[str]) -> tuple[str, ...]:
    return tuple(note for note in notes if note.startswith(_RETURNED_PREFIX))


def _on_agent_stopped(event: SubagentEnding, context: PolicyContext) -> PolicyResult:
    """Note the subagent: its caller learns of it at the next event of the main agent."""
    is_verified = _is_verified_by_workflow(context.state, agent_id=event.agent_id, agent=event.agent_type)
    kind = _VERIFIED_PREFIX if is_verified else _RETURNED_PREFIX
    note = f"{kind}{event.agent_id[:80]}"
    if not event.agent_id or note in context.notes:
        return NO_RESULT
    same = [other for other in context.notes if other.startswith(kind)]
    others = tuple(other for other in context.notes if not other.startswith(kind))
    return PolicyResult(notes=(*others, *same[1 - _MAX_NOTES :], note))


def _on_subagent_returned(event: SubagentReturned, context: PolicyContext) -> PolicyResult:
    if not _is_to_verify(event, context.state):
        return NO_RESULT
    return _report_changes(context, f"{_RETURNED_PREFIX}{event.agent_id[:80]}")


def _on_prompt_submitted(_event: PromptSubmitted, context: PolicyContext) -> PolicyResult:
    return _report_changes(context) if _returned_notes(context.notes) else NO_RESULT


def _on_tool_finished(event: ToolFinished, context: PolicyContext) -> PolicyResult:
    return _report_changes(context) if _returned_notes(context.notes) else _warn_about_edit(event, context)


def _report_changes(context: PolicyContext, *extra_notes: str) -> PolicyResult:
    """Report the changed files once for all subagents that returned, or nothing if no file differs."""
    returned = tuple(dict.fromkeys((*_returned_notes(context.notes), *extra_notes)))
    notes = tuple(note for note in context.notes if not note.startswith(_RETURNED_PREFIX))
    files: tuple[ChangedFile, ...] = context.query_results.get(ChangedFilesQuery()) or ()
    new_notes = notes if notes != context.notes else None
    if not files or not context.nonce:
        return PolicyResult(notes=new_notes) if new_notes is not None else NO_RESULT
    shown = frame_untrusted(format_changed_files(files, context.language), context.nonce, source="git status")
    text = context.text("text", count=len(returned), files=format_count(files), frame=shown)
    names = tuple(file.path for file in files[:MAX_LISTED_FILES])
    return PolicyResult(
        (InjectContext(text),), f"{len(returned)} subagents returned, {len(files)} files differ", new_notes, names
    )


def _warn_about_edit(event: ToolFinished, context: PolicyContext) -> PolicyResult:
    """Warn the main agent, once per workflow, that nobody reviews its own changes."""
    run = context.state.run
    if run is None or not run.is_running or context.state.loop.is_paused or event.has_failed:
        return NO_RESULT
    path = next((path for path in event.call.paths if not path.endswith(_PROSE_SUFFIXES)), "")
    note = f"{_WARNED_PREFIX}{run.id[:40]}"
    if event.call.kind not in FILE_CHANGING_KINDS or not path or note in context.notes:
        return NO_RESULT
    shown = path.removeprefix(f"{context.root}/")[:MAX_PATH_CHARS]
    text = context.text("edits", path=shown, workflow=run.workflow)
    return PolicyResult(
        (InjectContext(text),), "the main agent changed code in a workflow", (*context.notes, note), (path,)
    )


POLICY = Policy(
    name=_NAME,
    handlers={
        SubagentReturned: Handler(_on_subagent_returned, _queries_for_subagent, is_for_main_agent=True),
        SubagentEnding: Handler(_on_agent_stopped),
        PromptSubmitted: Handler(
            _on_prompt_submitted,
            _queries_for_main_agent,
            origins=(PromptOrigin.USER, PromptOrigin.TASK_NOTIFICATION),
            needs_notes=True,
        ),
        ToolFinished: Handler(_on_tool_finished, _queries_for_main_agent, is_for_main_agent=True),
    },
    effects=(InjectContext,),
    rank=60,
)
