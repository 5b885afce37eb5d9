"""Determine which commands of a shell line must have succeeded if the whole line did.

Invariant: only what follows from exit code 0 counts. A command whose exit code is masked (``|| true``, ``| tail``
without ``pipefail``, ``; echo``, ``!``, ``&``), or that may not have run at all, proves nothing. Neither does a line
that cannot be parsed or that redefines commands.
"""

from __future__ import annotations

from upbeat.core.lazy_dataclass import dataclass
from upbeat.core.shell.execute import execute
from upbeat.core.shell.syntax import Words
from upbeat.core.shell.wrappers import script_of


@dataclass(frozen=True, slots=True)
class SuccessProof:
    """The commands of a line, each as its words. ``proven``: exit code 0 proves that they ran and succeeded."""

    proven: tuple[Words, ...] = ()
    unproven: tuple[Words, ...] = ()
    commands: tuple[Words, ...] = ()
    """All commands, in order."""


def prove_success(line: str) -> SuccessProof:
    """Return the commands of ``line`` and which of them exit code 0 proves; empty for invalid shell."""
    execution = execute(line)
    commands = [one for one in execution.invocations if script_of(one.words) is None]
    proven = [one for one in commands if one in execution.proven]
    return SuccessProof(
        tuple(one.source_words for one in proven),
        tuple(one.source_words for one in commands if one not in proven),
        tuple(one.source_words for one in commands),
    )
