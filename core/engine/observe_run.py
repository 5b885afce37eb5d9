"""Gather what a finished command is judged by as a run of tests: the project's files, the settings, the record.

Invariant: nothing is gathered for a command that cannot be a check.
"""

from __future__ import annotations

import posixpath
import shlex
from typing import TYPE_CHECKING

from upbeat.core.contract.event import ToolFinished
from upbeat.core.shell import prove_success
from upbeat.core.workflow.evidence.exec_mark import read_mark
from upbeat.core.workflow.evidence.judge import judge_command
from upbeat.core.workflow.evidence.judgement import EvidenceRules, FinishedCommand, ObservedRun
from upbeat.core.workflow.verdict.evidence import NO_CHECKS, inspect_command

if TYPE_CHECKING:
    from upbeat.core.engine.ports import EvidenceSource
    from upbeat.core.settings import Settings
    from upbeat.core.workflow.evidence.runner_calls import ProjectFiles


def observe_run(
    event: ToolFinished, exit_code: int | None, root: str, source: EvidenceSource | None, settings: Settings, now: float
) -> ObservedRun:
    """Return what the command of ``event`` is worth, run in the repository at ``root`` (real, absolute)."""
    source = source or _NOTHING
    files = source.files(root)
    recorded, mark = _recorded_code(event, source, now)
    finished = FinishedCommand(
        event.command,
        _start_folder(event, files, root),
        root,
        event.exit_code if exit_code is None else exit_code,
        event.output,
        recorded,
    )
    judgement = judge_command(finished, files, evidence_rules(settings, root, source))
    checks = NO_CHECKS if judgement.is_test_run else inspect_command(event.command)
    other = checks.proven_kind or (checks.masked_kind if recorded is not None else "")
    return ObservedRun(judgement, other, "" if other else checks.masked_kind, recorded, mark)


def evidence_rules(settings: Settings, root: str, source: EvidenceSource) -> EvidenceRules:
    """Return what the settings say; a command with a script of the project counts as long as that is trusted."""
    trusted: list[tuple[str, ...]] = []
    untrusted: list[tuple[str, ...]] = []
    for line in settings.evidence_tests:
        try:
            words = tuple(shlex.split(line))
        except ValueError:
            continue
        (trusted if all(source.is_trusted(root, path) for path in named_scripts(words)) else untrusted).append(words)
    return EvidenceRules(tuple(trusted), settings.evidence_scope == "all", tuple(untrusted))


def named_scripts(words: tuple[str, ...]) -> tuple[str, ...]:
    """Return the words of a command that name a file of the project: relative paths with a folder or a suffix."""
    return tuple(
        posixpath.normpath(word)
        for word in words[:3]
        if not word.startswith(("-", "/", "~")) and ("/" in word or posixpath.splitext(word)[1])
    )


def _recorded_code(event: ToolFinished, source: EvidenceSource, now: float) -> tuple[int | None, str]:
    key = source.exec_key()  # made here for commands that run in a sandbox, which cannot make one
    if "exec" not in event.command or "upbeat" not in event.command:
        return None, ""
    for words in prove_success(event.command).commands:
        at = next(
            (
                at
                for at, word in enumerate(words[:-1])
                if posixpath.basename(word) == "upbeat" and words[at + 1] == "exec"
            ),
            None,
        )
        if at is None:
            continue
        inner = words[at + 2 :]
        if found := read_mark(key, inner[1:] if inner[:1] == ("--",) else inner, event.output, now):
            return found
    return None, ""


def _start_folder(event: ToolFinished, files: ProjectFiles, root: str) -> str:
    """Return where the command began: a client that follows ``cd`` reports the folder where it ended."""
    cwd = posixpath.normpath(event.source.cwd or root)
    for words in prove_success(event.command).commands[:1]:
        folder = words[1].rstrip("/") if words[0] == "cd" and len(words) == 2 else ""
        is_plain = folder and not folder.startswith(("/", "~", "-", "."))
        if is_plain and cwd.endswith(f"/{folder}"):
            inside = posixpath.relpath(posixpath.join(cwd, folder), root)
            return cwd if files.exists(inside) else cwd[: -len(folder) - 1]
    return cwd


class _Nothing:
    """Implements ``EvidenceSource`` without any file."""

    def files(self, root: str) -> _Nothing:  # noqa: ARG002 -- the port's
        return self

    def is_trusted(self, root: str, path: str) -> bool:  # noqa: ARG002 -- the port's
        return False

    def exec_key(self) -> str:
        return ""

    def read(self, path: str) -> str | None:  # noqa: ARG002 -- the port's
        return None

    def exists(self, path: str) -> bool:  # noqa: ARG002 -- the port's
        return False

    def entries(self, path: str) -> list[str]:  # noqa: ARG002 -- the port's
        return []


_NOTHING = _Nothing()
