"""Keep the model from upbeat's own controls: its commands, its state and settings, and the clients' settings.

Commands that loosen something are the user's, in a terminal of their own; files are changed after the user has agreed.
"""

from __future__ import annotations

from collections.abc import Iterator

from upbeat.core.contract.effect import Deny, Effect, RequestApproval
from upbeat.core.contract.event import FILE_CHANGING_KINDS, ToolKind, ToolStarting
from upbeat.core.policy.definition import NO_RESULT, Handler, Policy, PolicyContext, PolicyResult
from upbeat.core.policy.own_controls import (
    NOTHING,
    ControlMentions,
    mentions_control,
    mentions_in_line,
    names_control,
)
from upbeat.core.policy.queries import OwnControlsQuery, Query
from upbeat.core.workflow.state import SessionState

MAX_LISTED = 3
_READING_NAMES = ("read", "get", "list", "search", "find", "view", "show", "fetch", "query")
"""What the names of foreign tools that change nothing begin with."""


def _queries(event: ToolStarting, state: SessionState) -> tuple[Query, ...]:  # noqa: ARG001 -- the same for any state
    mentions = _mentions_of(event)
    return (_query_for(mentions),) if mentions.needs_query else ()


def _on_tool_starting(event: ToolStarting, context: PolicyContext) -> PolicyResult:
    mentions = _mentions_of(event)
    if commands := [command for command in mentions.commands if not _may_run(command, context.state)]:
        return _result(Deny(context.text("deny", command=commands[0])), commands)
    touched = [*mentions.requests, *_touched_files(mentions, context)][:MAX_LISTED]
    if not touched:
        return NO_RESULT
    text = context.text("ask", controls=", ".join(f"`{item[:120]}`" for item in touched))
    return _result(RequestApproval(text), touched)


def _result(effect: Effect, touched: list[str]) -> PolicyResult:
    return PolicyResult((effect,), "touches upbeat's own controls: " + "; ".join(item[:120] for item in touched))


def _mentions_of(event: ToolStarting) -> ControlMentions:
    """Return what a call mentions: the line of a shell, the paths of a file tool, the texts of any other tool."""
    if event.call.kind in FILE_CHANGING_KINDS:
        return ControlMentions(paths=event.call.paths)
    if event.command:
        return mentions_in_line(event.command)
    if event.call.kind is not ToolKind.OTHER:
        return NOTHING
    name = event.call.tool.rpartition("__")[2].lower()
    if name.startswith(_READING_NAMES):
        return NOTHING
    texts = [value for value in event.call.input.values() if isinstance(value, str)]
    found = [mentions_in_line(text) for text in texts if " " in text]
    return ControlMentions(
        commands=tuple(command for mentions in found for command in mentions.commands),
        paths=tuple(text for text in texts if "/" in text and " " not in text)
        + tuple(path for mentions in found for path in mentions.paths),
    )


def _query_for(mentions: ControlMentions) -> OwnControlsQuery:
    return OwnControlsQuery(mentions.paths, mentions.trees, mentions.texts, mentions.scripts)


def _touched_files(mentions: ControlMentions, context: PolicyContext) -> Iterator[str]:
    """Yield the mentioned files that are controls; without an answer of the machine, those with a well-known name."""
    known = context.query_results.get(_query_for(mentions))
    if known is not None:
        yield from known
        return
    yield from filter(names_control, (*mentions.paths, *mentions.trees))
    yield from (" ".join(text.split()) for text in mentions.texts if mentions_control(text))


def _may_run(command: str, state: SessionState) -> bool:
    """Return whether a model may run ``command``: it may start a workflow if none is open, as commands ask it to."""
    return command.startswith("upbeat workflow start") and not (state.run and state.run.is_open)


POLICY = Policy(
    name="protect-own-controls",
    handlers={ToolStarting: Handler(_on_tool_starting, _queries)},
    effects=(Deny, RequestApproval),
    rank=5,
)
