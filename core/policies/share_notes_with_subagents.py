"""Tell a subagent where the notes of earlier subagents are."""

from __future__ import annotations

from upbeat.core.contract.effect import Effect, InjectContext, PrependPrompt
from upbeat.core.contract.event import Event, SubagentRequested, SubagentStarted
from upbeat.core.policy.definition import NO_RESULT, Handler, Policy, PolicyContext, PolicyResult
from upbeat.core.policy.queries import ExistingPathsQuery, Query
from upbeat.core.workflow.specs import STATUS_FOLDERS, FeatureStatus
from upbeat.core.workflow.state import SessionState

NOTES_PATH = ".upbeat/notes.md"
"""The project's notes, relative to the repository."""

_HIDDEN_PROMPT = "hidden"
"""Noted for each subagent whose prompt the client hides: it gets the text when it starts."""
_MAX_PENDING = 20


def _notes_paths(state: SessionState) -> tuple[str, ...]:
    """Return where notes may be, relative to the repository, those of the feature first."""
    run = state.run
    if run is None or not run.is_running or not run.feature:
        return (NOTES_PATH,)
    return (f"{STATUS_FOLDERS[FeatureStatus.IN_PROGRESS]}/{run.feature}/notes.md", NOTES_PATH)


def _query(state: SessionState) -> ExistingPathsQuery:
    return ExistingPathsQuery(tuple(f"{state.root}/{path}" for path in _notes_paths(state)))


def _queries(_event: Event, state: SessionState) -> tuple[Query, ...]:
    return (_query(state),) if state.root else ()


def _text(context: PolicyContext) -> tuple[str, tuple[str, ...]]:
    """Return the text for a subagent and the note files; both empty if there are none."""
    existing = context.query_results.get(_query(context.state)) or frozenset()
    paths = tuple(path for path in _notes_paths(context.state) if f"{context.state.root}/{path}" in existing)
    text = context.text("text", paths=", ".join(f"`{path}`" for path in paths)) if paths else ""
    return text, paths


def _on_subagent_requested(event: SubagentRequested, context: PolicyContext) -> PolicyResult:
    text, paths = _text(context)
    if not text:
        return NO_RESULT
    if event.is_prompt_hidden:
        return PolicyResult(notes=(*context.notes, _HIDDEN_PROMPT)[-_MAX_PENDING:])
    return _result(PrependPrompt(text), paths)


def _on_subagent_started(_event: SubagentStarted, context: PolicyContext) -> PolicyResult:
    text, paths = _text(context)
    return PolicyResult(notes=context.notes[1:]) if not text else _result(InjectContext(text), paths, context.notes[1:])


def _result(effect: Effect, paths: tuple[str, ...], notes: tuple[str, ...] | None = None) -> PolicyResult:
    return PolicyResult((effect,), "notes exist", notes, mentioned_paths=paths)


POLICY = Policy(
    name="share-notes-with-subagents",
    handlers={
        SubagentRequested: Handler(_on_subagent_requested, _queries),
        SubagentStarted: Handler(_on_subagent_started, _queries, needs_notes=True),
    },
    effects=(InjectContext, PrependPrompt),
    rank=60,
)
