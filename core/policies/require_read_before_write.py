"""Block overwriting a file that the session has not read."""

from __future__ import annotations

from collections.abc import Iterator

from upbeat.core.contract.effect import Deny
from upbeat.core.contract.event import ToolFinished, ToolKind, ToolStarting
from upbeat.core.destructive import ShellLocation
from upbeat.core.destructive.paths import PathClass, classify_path
from upbeat.core.policy.definition import NO_RESULT, Handler, Policy, PolicyContext, PolicyResult
from upbeat.core.policy.queries import ExistingPathsQuery, Query
from upbeat.core.shell import SimpleCommand, parse_commands
from upbeat.core.shell.touched_paths import touched_paths
from upbeat.core.workflow.state import SessionState

MAX_KNOWN_FILES = 200
"""Number of remembered files; the oldest are dropped first."""
MAX_FILES_PER_CALL = 20
_MAX_PATH_CHARS = 200
"""Longer paths, relative to the repository, are neither remembered nor protected."""

_READER_PREFIXES = ("cat ", "sed ", "head ", "tail ", "nl ", "bat ", "less ", "awk ", "grep ", "rg ", "diff ")
"""Programs with which agents read files in the shell."""
_READER_PROGRAMS = frozenset(word.strip() for word in _READER_PREFIXES)


def _relative_path(path: str, root: str) -> str:
    """Return ``path`` relative to the repository; empty if it is outside."""
    inside = path.removeprefix(f"{root}/") if root else ""
    return inside if inside != path and len(inside) <= _MAX_PATH_CHARS else ""


def _redirect_targets(event: ToolStarting | ToolFinished, root: str) -> Iterator[str]:
    """Yield the repository files that the line overwrites, without build output, caches and logs."""
    if ">" not in event.command:
        return
    for command in parse_commands(event.command).items:
        for redirect in command.redirects:
            if redirect.is_overwrite and redirect.descriptor in ("", "1"):
                yield from _project_path(redirect.target, command, event, root)


def _project_path(word: str, command: SimpleCommand, event: ToolStarting | ToolFinished, root: str) -> Iterator[str]:
    if not word or len(word) > _MAX_PATH_CHARS or any(mark in word for mark in "*?[{$`"):
        return
    path = classify_path(word, ShellLocation(root, event.source.cwd), command.working_dir)
    if path.path_class is PathClass.INSIDE and not path.relative_path.endswith(".log"):
        yield path.relative_path


def _read_files(event: ToolFinished, root: str) -> Iterator[str]:
    """Yield the repository files that the line names to a program that prints them."""
    if not any(reader in event.command for reader in _READER_PREFIXES):
        return
    for command in parse_commands(event.command).items:
        if command.words[:1] and command.words[0] in _READER_PROGRAMS:
            for word in command.words[1:MAX_FILES_PER_CALL]:
                yield from () if word.startswith("-") else _project_path(word, command, event, root)
        for redirect in command.redirects:
            if redirect.operator == "<":
                yield from _project_path(redirect.target, command, event, root)


def _overwritten_files(event: ToolStarting, root: str) -> tuple[str, ...]:
    """Return the files that the call replaces if they exist, relative to the root."""
    if not root:
        return ()
    if event.command:
        paths = list(_redirect_targets(event, root))
    elif event.call.kind is ToolKind.WRITE:  # a patch that only adds files
        paths = [inside for path in event.call.paths if (inside := _relative_path(path, root))]
    else:
        paths = []
    return tuple(dict.fromkeys(paths))[:MAX_FILES_PER_CALL]


def _queries(event: ToolStarting, state: SessionState) -> tuple[Query, ...]:
    paths = _overwritten_files(event, state.root)
    return (ExistingPathsQuery(tuple(f"{state.root}/{path}" for path in paths)),) if paths else ()


def _on_tool_starting(event: ToolStarting, context: PolicyContext) -> PolicyResult:
    paths = _overwritten_files(event, context.root)
    if not paths or (context.client.guards_write and not event.command):
        return NO_RESULT
    query = ExistingPathsQuery(tuple(f"{context.root}/{path}" for path in paths))
    existing = context.query_results.get(query) or frozenset()
    path = next((path for path in paths if f"{context.root}/{path}" in existing and path not in context.notes), "")
    if not path:
        return NO_RESULT
    return PolicyResult(
        (Deny(context.text("text", path=path)),),
        "the file exists and was not read",
        mentioned_paths=(path,),
    )


def _on_tool_finished(event: ToolFinished, context: PolicyContext) -> PolicyResult:
    """Note the files that the session has read, changed or written."""
    if event.has_failed or not context.root:
        return NO_RESULT
    if event.command:
        known = [*_redirect_targets(event, context.root), *_read_files(event, context.root)]
    else:
        known = [
            inside
            for path in touched_paths(event)[:MAX_FILES_PER_CALL]
            if (inside := _relative_path(path, context.root))
        ]
    if not known or context.notes[-len(known) :] == tuple(known):
        return NO_RESULT
    others = tuple(note for note in context.notes if note not in known)
    return PolicyResult(notes=(*others, *dict.fromkeys(known))[-MAX_KNOWN_FILES:])


POLICY = Policy(
    name="require-read-before-write",
    handlers={ToolStarting: Handler(_on_tool_starting, _queries), ToolFinished: Handler(_on_tool_finished)},
    effects=(Deny,),
    rank=20,
)
