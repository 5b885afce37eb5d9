"""What git says of the last commits: who changed together, when, and with which words.

Law: one plain ``git log`` of names, no blob is read and nothing that the repository configures is started.
Nothing after the given commit is ever asked for. What git does not answer in time is no history.
"""

from __future__ import annotations

import os
import re
from collections import Counter

from ...core.ports import Cancellation
from ..local.command import NEVER
from ..local.git import run
from ..local.git_root import RootInfo, read_head
from .history import MAX_COMMITS, Commit
from .index_doc import without_secrets
from .words import NAME, STOP_WORDS, cjk_pairs, split_name, stem

READ_SECONDS = 4.0
"""The longest that reading a history may take."""

MAX_MESSAGE = 3000
MAX_TERMS = 80
MAX_FILES_OF_COMMIT = 80
"""A commit with more files says little about each: it moves, formats or imports."""

LONGEST_TERM = 40

_LOG = (
    *("-c", "diff.relative=false"),
    *("log", "-z", "--no-merges", "--name-status", "--find-renames=100%", "--no-ext-diff", "--no-textconv"),
    *("--no-notes", "--no-mailmap", "--no-color", "--encoding=UTF-8", "--format=%x01%H%x00%ct%x00%B%x00"),
)
_ID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_START = re.compile(rb"\x01([0-9a-f]{40,64})")
_FIX = re.compile(
    r"\b(?:fix(?:e[sd]|ing)?|bugs?|bugfix|hotfix|regression|crash(?:e[sd])?|repair(?:s|ed)?|resolve[sd]?)\b|修复|修正|修復",
    re.I,
)
_TRAILER = re.compile(r"^(?:[A-Z][A-Za-z]+-[A-Za-z-]{2,30}: |git-svn-id:|\(cherry picked from )")


def is_commit_id(text: str) -> bool:
    """Whether ``text`` is a whole commit id."""
    return bool(_ID.fullmatch(text))


def read_commits(
    info: RootInfo, head: str, known: str = "", cancelled: Cancellation = NEVER, seconds: float = READ_SECONDS
) -> tuple[Commit, ...] | None:
    """The commits that ``head`` reaches, the latest first, without those that ``known`` reaches.

    None when git does not say: no git, an unknown commit, out of time.
    """
    if not is_commit_id(head) or (known and not is_commit_id(known)):
        return None
    since = ("--not", known) if known else ()
    output = run(info.worktree, (*_LOG, f"--max-count={MAX_COMMITS}", head, *since, "--"), cancelled, seconds)
    return None if output is None else parse_log(output)


def is_ancestor(info: RootInfo, older: str, newer: str, cancelled: Cancellation = NEVER, seconds: float = 1.0) -> bool:
    """Whether ``newer`` reaches ``older``."""
    if not (is_commit_id(older) and is_commit_id(newer)):
        return False
    return run(info.worktree, ("merge-base", "--is-ancestor", older, newer), cancelled, seconds) is not None


def current_commit(info: RootInfo) -> str:
    """The id of the commit that HEAD names; empty without one. Starts no process."""
    found = read_head(info)
    return found if is_commit_id(found) else ""


def parse_log(output: bytes) -> tuple[Commit, ...]:
    """The commits in what ``git log`` printed; what does not look as it should ends the list."""
    commits: list[Commit] = []
    fields = iter(output.split(b"\0"))
    field = next(fields, b"")
    while start := _START.fullmatch(field):
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
        text = without_secrets(message.decode("utf-8", "replace"))
        files = tuple(changed) if len(changed) <= MAX_FILES_OF_COMMIT else ()
        commits.append(
            Commit(start.group(1).decode(), int(time), is_fix(text), message_terms(text), files, tuple(renamed))
        )
    return tuple(commits)


def is_fix(message: str) -> bool:
    """Whether the first line of ``message`` says that something was mended."""
    return bool(_FIX.search(message.strip().partition("\n")[0]))


def message_terms(message: str) -> tuple[str, ...]:
    """The terms of a commit's message, those of its first line first; trailers are left out."""
    lines = [line for line in message[:MAX_MESSAGE].splitlines() if not _TRAILER.match(line)]
    terms: Counter[str] = Counter()
    for name in NAME.findall("\n".join(lines)):
        for part in split_name(name):
            if 2 <= len(part) <= LONGEST_TERM and part not in STOP_WORDS and not part.isdigit():
                terms[stem(part)] += 1
    text = "\n".join(lines)
    if not text.isascii():
        terms.update(cjk_pairs(text))
    return tuple(terms)[:MAX_TERMS]
