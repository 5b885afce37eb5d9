"""Kill the tmux sessions that the agent started when its own session ends."""

from __future__ import annotations

from collections.abc import Iterator

from upbeat.core import lazy_re as re
from upbeat.core.contract.event import SessionEnded, ToolFinished, ToolStarting
from upbeat.core.policy.definition import (
    NO_RESULT,
    Handler,
    KillTmuxSessions,
    Policy,
    PolicyContext,
    PolicyResult,
    TmuxSession,
)
from upbeat.core.shell import parse_commands

NAME = "kill-tmux-sessions"
MAX_SESSIONS = 20
"""Number of remembered sessions; the oldest are dropped first."""

_SESSION_NAME = re.compile(r"[\w@%+-]{1,60}")
"""Supported names: tmux replaces dots and colons, and a variable is not a name."""
_NEW_SESSION = re.compile(r"new|new-s[a-z]*")
_TMUX_LINE = re.compile("tmux")
_OPTIONS_WITH_VALUE = "cefFnstxy"
"""Options of ``tmux new-session`` that take a value."""


def _started_sessions(line: str) -> Iterator[str]:
    """Yield the names of the detached sessions that ``line`` starts on the default tmux server."""
    for command in parse_commands(line).items:
        if command.words[:1] == ("tmux",):
            yield from _session_names(command.words[1:])


def _session_names(words: tuple[str, ...]) -> Iterator[str]:
    """Yield the names in ``words``, the arguments of ``tmux``: its commands, separated by ``;``."""
    rest = list(words)
    while rest:
        end = rest.index(";") if ";" in rest else len(rest)
        first, rest = rest[:end], rest[end + 1 :]
        if first[:1] and _NEW_SESSION.fullmatch(first[0]) and (name := _detached_session_name(first[1:])):
            yield name


def _detached_session_name(words: list[str]) -> str:
    """Return the name of a new session; empty if it is unknown or the session is not detached."""
    name, is_detached, index = "", False, 0
    while index < len(words) and words[index].startswith("-") and words[index] != "--":
        for offset, letter in enumerate(words[index][1:], start=2):
            is_detached = is_detached or letter == "d"
            if letter in _OPTIONS_WITH_VALUE:
                value = words[index][offset:]
                if not value:
                    index += 1
                    value = words[index] if index < len(words) else ""
                name = value if letter == "s" else name
                break
        index += 1
    return name if is_detached and _SESSION_NAME.fullmatch(name) else ""


def _on_tool_starting(event: ToolStarting, context: PolicyContext) -> PolicyResult:
    """Note the start time of a call that may start sessions."""
    started = tuple(f"{name} {context.now:.0f}" for name in _started_sessions(event.command))
    return PolicyResult(notes=_limit_notes((*context.notes, *started))) if started else NO_RESULT


def _on_tool_finished(event: ToolFinished, context: PolicyContext) -> PolicyResult:
    """Note its end time: sessions created outside this interval are not the agent's."""
    names = frozenset(_started_sessions(event.command))
    if not names or not context.notes:
        return NO_RESULT
    ended = [
        f"{note} {context.now:.0f}" if len(note.split()) == 2 and note.split()[0] in names else note
        for note in context.notes
    ]
    return PolicyResult(notes=_limit_notes(tuple(ended)))


def _on_session_ended(_event: SessionEnded, context: PolicyContext) -> PolicyResult:
    intervals = ((*note.split(" "), "", "")[:3] for note in context.notes)
    sessions = tuple(
        TmuxSession(name, int(since) - 1, int(until) + 1)
        for name, since, until in intervals
        if since.isdecimal() and until.isdecimal()
    )
    if not sessions:
        return NO_RESULT
    names = ", ".join(dict.fromkeys(session.name for session in sessions))
    return PolicyResult(reason=f"the agent started {names[:200]}", notes=(), side_effects=(KillTmuxSessions(sessions),))


def _limit_notes(notes: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(notes))[-MAX_SESSIONS:]


POLICY = Policy(
    name=NAME,
    handlers={
        ToolStarting: Handler(_on_tool_starting, text=_TMUX_LINE),
        ToolFinished: Handler(_on_tool_finished, text=_TMUX_LINE),
        SessionEnded: Handler(_on_session_ended, needs_notes=True),
    },
    survives_compaction=True,
    rank=90,
)
