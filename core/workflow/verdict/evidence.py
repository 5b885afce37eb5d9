"""Check whether a claim ("the tests pass") is backed by a command that really ran.

Invariant: the latest run of a kind decides. A run counts only for the files it ran on, and never if something else on
its command line hides its exit code.

If the tree digest could not be computed in time, exit code 0 counts and the reason says so: otherwise nothing could
ever pass in a repository too large to digest.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

from upbeat.core.messages.catalogue import load_messages
from upbeat.core.shell import prove_success, unwrap
from upbeat.core.workflow.state import Evidence
from upbeat.core.workflow.verdict.runners import classify_program, first_kind, mentions_runner

MAX_COMMAND_CHARS = 80
EXIT_CODE_PREFIX = "upbeat: exit "
"""The beginning of the last line that ``upbeat exec`` prints, for clients that do not report exit codes."""
_EXIT_CODE_LINE = re.compile(rf"^{EXIT_CODE_PREFIX}(\d{{1,3}})[ \t\r]*$", re.MULTILINE)


class EvidenceStatus(StrEnum):
    """What the evidence is worth."""

    VERIFIED = "verified"
    UNCHECKED = "unchecked"
    """Exit code 0, but the files could not be compared."""
    CONTRADICTED = "contradicted"
    EXPIRED = "expired"
    MISSING = "missing"
    EXIT_CODE_UNKNOWN = "exit_code_unknown"
    EXIT_CODE_HIDDEN = "exit_code_hidden"
    """It ran, and its command line hides the exit code, as in ``pytest | tail``."""


PROVEN_STATUSES = (EvidenceStatus.VERIFIED, EvidenceStatus.UNCHECKED)


@dataclass(frozen=True, slots=True)
class CommandChecks:
    """The checks that a command line runs.

    ``proven_kind`` is proven by exit code 0; ``masked_kind`` runs but is not proven by the exit code;
    ``recorded_kind`` runs through ``upbeat exec``, which prints the exit code.
    """

    proven_kind: str = ""
    masked_kind: str = ""
    recorded_kind: str = ""


@dataclass(frozen=True, slots=True)
class EvidenceResult:
    """Whether the claim is proven, and why: one clause for users and models."""

    is_proven: bool
    reason: str
    status: EvidenceStatus


def inspect_command(command: str) -> CommandChecks:
    """Return the checks that ``command``, one shell command line, runs."""
    if not mentions_runner(command):
        return CommandChecks()
    line = prove_success(command)
    both = (*line.proven, *line.unproven)
    recorded = [words for words in both if ("upbeat", "exec") in pairwise(word.rpartition("/")[2] for word in words)]
    kinds = (
        first_kind(classify_program(unwrap(words)) for words in group)
        for group in (line.proven, line.unproven, recorded)
    )
    return CommandChecks(*kinds)


def can_be_evidence(command: str) -> bool:
    """Return whether the exit code of ``command`` can prove anything."""
    checks = inspect_command(command)
    return bool(checks.proven_kind or checks.recorded_kind)


def parse_exit_code(output: str) -> int | None:
    """Return the exit code that ``upbeat exec`` printed at the end of ``output``; None if there is none."""
    codes = _EXIT_CODE_LINE.findall(output[-2000:])
    return int(codes[-1]) if codes and int(codes[-1]) < 256 else None


def extract_evidence(command: str, exit_code: int | None, output: str = "") -> tuple[str, int | None, bool]:
    """Return the kind of check that a finished command ran, its exit code, and whether the command line hides that.

    The kind is empty for a command that is no check. The line that ``upbeat exec`` prints is used if the client does
    not report the exit code or the command hides it.
    """
    checks = inspect_command(command)
    printed = parse_exit_code(output) if checks.recorded_kind else None
    if checks.proven_kind:
        return checks.proven_kind, printed if exit_code is None else exit_code, False
    if printed is not None:
        return checks.recorded_kind, printed, False
    return checks.masked_kind, None, bool(checks.masked_kind)


def check_evidence(kind: str, evidence: tuple[Evidence, ...], tree_digest: str, language: str = "en") -> EvidenceResult:
    """Return whether the latest of ``evidence`` proves ``kind`` for the files with this ``tree_digest``.

    A run with a hidden exit code does not replace an earlier proof, and proves nothing itself.
    """
    runs = [run for run in reversed(evidence) if run.kind == kind]
    latest = next((run for run in runs if not run.is_hidden), None)
    status = _evidence_status(latest, tree_digest)
    if status not in PROVEN_STATUSES and runs and runs[0].is_hidden:
        latest, status = runs[0], EvidenceStatus.EXIT_CODE_HIDDEN
    messages = load_messages("workflow", language)
    kinds = messages.group("check_kinds")
    command = " ".join(latest.command.split()) if latest else ""
    reason = messages.group("evidence")[status].format(
        kind=kinds.get(kind, kind),
        command=command if len(command) <= MAX_COMMAND_CHARS else command[: MAX_COMMAND_CHARS - 1] + "…",
        code="" if latest is None or latest.exit_code is None else str(latest.exit_code),
    )
    return EvidenceResult(status in PROVEN_STATUSES, reason, status)


def _evidence_status(latest: Evidence | None, tree_digest: str) -> EvidenceStatus:
    if latest is None:
        return EvidenceStatus.MISSING
    if latest.exit_code is None:
        return EvidenceStatus.EXIT_CODE_UNKNOWN
    if latest.exit_code != 0:
        return EvidenceStatus.CONTRADICTED
    if not latest.tree_digest or not tree_digest:
        return EvidenceStatus.UNCHECKED
    return EvidenceStatus.VERIFIED if latest.tree_digest == tree_digest else EvidenceStatus.EXPIRED
