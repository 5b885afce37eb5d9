"""Restore after a compaction what its summary loses first.

The user's last prompts are quoted; changed files are shown as untrusted data. A workflow restores its own state.
"""

from __future__ import annotations

from upbeat.core.contract.effect import InjectContext
from upbeat.core.contract.event import (
    PromptOrigin,
    PromptSubmitted,
    SessionStarted,
    SubagentEnding,
    SubagentReturned,
    SubagentStarted,
)
from upbeat.core.policy.changed_files import MAX_LISTED_FILES, format_changed_files, format_count
from upbeat.core.policy.definition import NO_RESULT, Handler, Policy, PolicyContext, PolicyResult
from upbeat.core.policy.queries import ChangedFile, ChangedFilesQuery, Query
from upbeat.core.policy.running_agents import running_agents, update_running_agents
from upbeat.core.sanitize.control_chars import strip_controls
from upbeat.core.sanitize.frame import frame_untrusted
from upbeat.core.sanitize.redact import redact
from upbeat.core.sanitize.truncate import TextLimit, truncate_to_limit
from upbeat.core.workflow.state import SessionState

MAX_PROMPTS = 3
MAX_PROMPT_CHARS = 300

_MAX_SCANNED_CHARS = 600
"""Length of the part of a prompt that is redacted before it is truncated."""
_MAX_AGENTS_NAMED = 10
_PROMPT = "prompt "
_CHANGES_QUERY = ChangedFilesQuery()


def _queries(event: SessionStarted, _state: SessionState) -> tuple[Query, ...]:
    return (_CHANGES_QUERY,) if event.trigger == "compact" else ()


def _on_prompt_submitted(event: PromptSubmitted, context: PolicyContext) -> PolicyResult:
    text = _prompt_excerpt(event.prompt)
    if not text:
        return NO_RESULT
    others = tuple(note for note in context.notes if not note.startswith(_PROMPT))
    prompts = [note for note in context.notes if note.startswith(_PROMPT)]
    return PolicyResult(notes=(*others, *prompts[1 - MAX_PROMPTS :], f"{_PROMPT}{text}"))


def _prompt_excerpt(prompt: str) -> str:
    """Return the redacted beginning of a prompt in one line, cut at a word so that no half secret remains."""
    head = prompt[: 2 * _MAX_SCANNED_CHARS].lstrip()[:_MAX_SCANNED_CHARS]
    if len(head) == _MAX_SCANNED_CHARS:
        head = head.rsplit(None, 1)[0]
    return truncate_to_limit(" ".join(redact(strip_controls(head)).text.split()), TextLimit(MAX_PROMPT_CHARS))[0]


def _track_agents(
    event: SubagentStarted | SubagentEnding | SubagentReturned | SessionStarted, context: PolicyContext
) -> PolicyResult:
    notes = update_running_agents(context.notes, event, context.now)
    return NO_RESULT if notes == context.notes else PolicyResult(notes=notes)


def _on_session_started(event: SessionStarted, context: PolicyContext) -> PolicyResult:
    if event.trigger == "clear":
        return PolicyResult(notes=()) if context.notes else NO_RESULT
    if event.trigger != "compact":
        return _track_agents(event, context)
    files: tuple[ChangedFile, ...] = context.query_results.get(_CHANGES_QUERY) or ()
    parts = _remembered_lines(context)
    if files and context.nonce:
        body = frame_untrusted(format_changed_files(files, context.language), context.nonce, source="git status")
        parts.append(context.text("files", files=format_count(files), frame=body))
    if not parts:
        return NO_RESULT
    text = "\n".join([context.text("heading"), *parts])
    return PolicyResult(
        (InjectContext(text),),
        "the conversation was compacted",
        mentioned_paths=tuple(file.path for file in files[:MAX_LISTED_FILES]),
    )


def _remembered_lines(context: PolicyContext) -> list[str]:
    """Return the lines for the noted prompts and subagents."""
    prompts = [note.removeprefix(_PROMPT) for note in context.notes if note.startswith(_PROMPT)]
    quoted = [f"「{prompt}」" if context.language == "zh" else f'"{prompt}"' for prompt in prompts]
    parts = [context.text("prompts"), *(f"- {prompt}" for prompt in quoted)] if quoted else []
    agents = ", ".join(agent.name for agent in running_agents(context.notes)[-_MAX_AGENTS_NAMED:])
    return [*parts, context.text("agents", agents=agents)] if agents else parts


POLICY = Policy(
    name="restore-context-after-compaction",
    handlers={
        **dict.fromkeys((SubagentStarted, SubagentEnding, SubagentReturned), Handler(_track_agents)),
        PromptSubmitted: Handler(_on_prompt_submitted, origins=(PromptOrigin.USER,), is_for_main_agent=True),
        SessionStarted: Handler(_on_session_started, _queries),
    },
    effects=(InjectContext,),
    survives_compaction=True,
    rank=20,
)
