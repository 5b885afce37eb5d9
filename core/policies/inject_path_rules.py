"""Inject the rules for a file that other tools keep in the repository.

The user has trusted them, so they are sanitized and redacted but not framed as untrusted data.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from upbeat.core.contract.effect import InjectContext
from upbeat.core.contract.event import ToolFinished
from upbeat.core.policy.definition import NO_RESULT, Handler, Policy, PolicyContext, PolicyResult
from upbeat.core.policy.queries import GuidanceQuery, Query
from upbeat.core.rules.formats.guidance import Guidance
from upbeat.core.sanitize.truncate import TextLimit, truncate_to_limit
from upbeat.core.shell.touched_paths import touched_paths
from upbeat.core.workflow.state import SessionState

MAX_RULE_CHARS = 3000
MAX_RULES = 5
"""Rules per event; the rest follow with the next event."""


def _queries(event: ToolFinished, _state: SessionState) -> tuple[Query, ...]:
    paths = () if event.has_failed else touched_paths(event)
    return (GuidanceQuery(paths),) if paths else ()


def _on_tool_finished(event: ToolFinished, context: PolicyContext) -> PolicyResult:
    if event.has_failed:
        return NO_RESULT
    paths = touched_paths(event)
    rules: tuple[Guidance, ...] = context.query_results.get(GuidanceQuery(paths), ()) if paths else ()
    known = set(context.notes)
    new: list[Guidance] = []
    for rule in rules:
        marks = _shown_marks(rule, event)
        if rule.rules_folder not in context.client.native_guidance and known.isdisjoint(marks) and len(new) < MAX_RULES:
            new.append(rule)
            known.update(marks)
    if not new:
        return NO_RESULT
    notes = (*context.notes, *(mark for rule in new for mark in _shown_marks(rule, event)))
    effects = tuple(InjectContext(_text(rule, paths, context)) for rule in new)
    return PolicyResult(
        effects, f"first touch of {_matching_paths(new[0], paths, context)}", notes, tuple(rule.path for rule in new)
    )


def _text(guidance: Guidance, paths: Iterable[str], context: PolicyContext) -> str:
    rest = context.text("truncation_note", path=guidance.path)
    body, _cut = truncate_to_limit(guidance.text, TextLimit(MAX_RULE_CHARS), rest)
    template = "user_heading" if guidance.is_user_level else "heading"
    heading = context.text(template, files=_matching_paths(guidance, paths, context), path=guidance.path)
    end = context.text("end", path=guidance.path)
    return f"{heading}\n{body}\n{end}"


def _matching_paths(guidance: Guidance, paths: Iterable[str], context: PolicyContext) -> str:
    relative = [path.removeprefix(context.root.rstrip("/") + "/") for path in paths]
    return ", ".join([path[:200] for path in relative if guidance.applies_to(path)][:3])


def _shown_marks(guidance: Guidance, event: ToolFinished) -> tuple[str, str]:
    """Return the notes for a rule that was injected: by path and by text, so that copies and links count as shown.

    They are per agent: a subagent does not see the context of its caller.
    """
    agent = event.source.short_agent_id
    path_digest = hashlib.sha256(guidance.real_path.encode("utf-8", "replace")).hexdigest()[:16]
    return (
        f"{agent} at {path_digest}",
        f"{agent} is {hashlib.sha256(guidance.text.encode('utf-8', 'replace')).hexdigest()[:16]}",
    )


POLICY = Policy(
    name="inject-path-rules",
    handlers={ToolFinished: Handler(_on_tool_finished, _queries)},
    effects=(InjectContext,),
    rank=40,
)
