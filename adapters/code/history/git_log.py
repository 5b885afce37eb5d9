"""Reads recent commits from ``git log``: files, time and terms of the message; counts how often files change.

Invariant: one ``git log`` of names; no blob is read, and no program that the repository configures is started. No
commit after the given one is read. Without an answer in time there is no history.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from dataclasses import dataclass

from upbeat.adapters.code.concurrency import raise_if_cancelled
from upbeat.adapters.code.index.document import redact_secrets
from upbeat.adapters.code.query.terms import IDENTIFIER_PATTERN, STOP_WORDS, cjk_bigrams, split_identifier, stem
from upbeat.adapters.system.git.commands import run_git
from upbeat.adapters.system.git.root import RootInfo
from upbeat.adapters.system.process.run import NEVER_CANCELLED
from upbeat.core.engine.ports import Cancellation

MAX_COMMITS = 3000
ANCESTOR_SECONDS = 1.0
HISTORY_SECONDS = 4.0
"""Time limit for reading a history."""

MAX_MESSAGE_CHARS = 3000
MAX_TERMS = 80
MAX_FILES_PER_COMMIT = 80
"""A commit with more files moves, formats or imports them, and says little about each."""

MAX_TERM_CHARS = 40

_LOG = (
    *("-c", "diff.relative=false"),
    *("log", "-z", "--no-merges", "--name-status", "--find-renames=100%", "--no-ext-diff", "--no-textconv"),
    *("--no-notes", "--no-mailmap", "--no-color", "--encoding=UTF-8", "--format=%x01%H%x00%ct%x00%B%x00"),
)
COMMIT_ID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_RECORD_START = re.compile(rb"\x01([0-9a-f]{40,64})")
_FIX = re.compile(
    r"\b(?:fix(?:e[sd]|ing)?|bugs?|bugfix|hotfix|regression|crash(?:e[sd])?|repair(?:s|ed)?|resolve[sd]?)\b|修复|修正|修復",
    re.I,
)
_TRAILER = re.compile(r"^(?:[A-Z][A-Za-z]+-[A-Za-z-]{2,30}: |git-svn-id:|\(cherry picked from )")


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit.

    Attributes:
        time: Seconds since the epoch.
        terms: The terms of its message.
        files: The files that it added or changed.
        renamed: Old and new path of each file that moved without a change.
    """

    id: str
    time: int
    is_fix: bool
    terms: tuple[str, ...]
    files: tuple[str, ...]
    renamed: tuple[tuple[str, str], ...] = ()


def read_commits(
    info: RootInfo,
    head: str,
    known: str = "",
    cancelled: Cancellation = NEVER_CANCELLED,
    seconds: float = HISTORY_SECONDS,
    object_stores: tuple[str, ...] = (),
) -> tuple[Commit, ...] | None:
    """Return the commits that ``head`` reaches, the latest first, without those that ``known`` reaches.

    None without git, for an unknown commit, or when time runs out.
    """
    if not COMMIT_ID.fullmatch(head) or (known and not COMMIT_ID.fullmatch(known)):
        return None
    since = ("--not", known) if known else ()
    arguments = (*_LOG, f"--max-count={MAX_COMMITS}", head, *since, "--")
    output = run_git(info.worktree, arguments, cancelled, seconds, object_stores)
    return None if output is None else parse_log(output)


def is_ancestor(
    info: RootInfo,
    older: str,
    newer: str,
    cancelled: Cancellation = NEVER_CANCELLED,
    object_stores: tuple[str, ...] = (),
) -> bool:
    """Return whether ``newer`` reaches ``older``."""
    if not (COMMIT_ID.fullmatch(older) and COMMIT_ID.fullmatch(newer)):
        return False
    arguments = ("merge-base", "--is-ancestor", older, newer)
    return run_git(info.worktree, arguments, cancelled, ANCESTOR_SECONDS, object_stores) is not None


def parse_log(output: bytes) -> tuple[Commit, ...]:
    """Parse the output of ``git log``; the first malformed record ends the list."""
    commits: list[Commit] = []
    fields = iter(output.split(b"\0"))
    field = next(fields, b"")
    while start := _RECORD_START.fullmatch(field):
        time, message = next(fields, b""), next(fields, b"")
        if not time.isdigit() or len(time) > 12:
            break
        changed: list[str] = []
        renamed: list[tuple[str, str]] = []
        for field in fields:
            status = field.strip(b"\n")
            if not status:
                continue
            if status.startswith(b"\x01"):
                break
            first = os.fsdecode(next(fields, b""))
            if status[:1] in (b"R", b"C"):
                second = os.fsdecode(next(fields, b""))
                if status[:1] == b"R":
                    renamed.append((first, second))
                changed.append(second)
            elif status != b"D":
                changed.append(first)
        else:
            field = b""
        text = redact_secrets(message.decode("utf-8", "replace"))
        files = tuple(changed) if len(changed) <= MAX_FILES_PER_COMMIT else ()
        commits.append(
            Commit(start.group(1).decode(), int(time), is_fix(text), message_terms(text), files, tuple(renamed))
        )
    return tuple(commits)


def is_fix(message: str) -> bool:
    """Return whether the first line of ``message`` describes a fix."""
    return bool(_FIX.search(message.strip().partition("\n")[0]))


def message_terms(message: str) -> tuple[str, ...]:
    """Return the terms of a commit message, those of its first line first, without trailers."""
    lines = [line for line in message[:MAX_MESSAGE_CHARS].splitlines() if not _TRAILER.match(line)]
    terms: Counter[str] = Counter()
    for name in IDENTIFIER_PATTERN.findall("\n".join(lines)):
        for part in split_identifier(name):
            if 2 <= len(part) <= MAX_TERM_CHARS and part not in STOP_WORDS and not part.isdigit():
                terms[stem(part)] += 1
    text = "\n".join(lines)
    if not text.isascii():
        terms.update(cjk_bigrams(text))
    return tuple(terms)[:MAX_TERMS]


DAY_SECONDS = 86_400
MAX_COUNTED_FILES = 200
"""A commit with more files moves, formats or imports them, and is not counted."""


def count_changes(root: str, days: int, cancelled: Cancellation, seconds: float) -> dict[str, int] | None:
    """Return how many commits of the last ``days`` changed each file; None without git, or when time runs out.

    Raises:
        ToolFailure: The call was cancelled.
    """
    newest = run_git(root, ("log", "-1", "--format=%ct"), cancelled, seconds)
    raise_if_cancelled(cancelled)
    if newest is None or not newest.strip().isdigit():
        return None
    since = int(newest) - days * DAY_SECONDS
    arguments = ("log", "-z", "--no-merges", "--no-renames", "--relative", "--name-only", f"-n{MAX_COMMITS}")
    output = run_git(root, (*arguments, f"--since=@{since}", "--format=%x01%ct"), cancelled, seconds)
    raise_if_cancelled(cancelled)
    if output is None:
        return None
    counts: Counter[str] = Counter()
    for record in output.split(b"\x01")[1:]:
        head, _, rest = record.partition(b"\0")
        time = int(head.split()[0]) if head.split() else 0
        if time < since:
            continue
        names = [name.lstrip(b"\n") for name in rest.split(b"\0")]
        files = [os.fsdecode(name) for name in names if name]
        if len(files) <= MAX_COUNTED_FILES:
            counts.update(files)
    return dict(counts)
