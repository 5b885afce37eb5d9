"""What a tool found: one place in the repository, why it matters, and the lines that show it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Finding:
    """One row of a tool's answer.

    ``path`` is relative to the repository root with ``/`` between its parts. Lines count from 1 and
    include both ends; 0 means that the finding is about the whole file. ``score`` lies in 0..1 and is
    comparable inside one tool's answer. ``text`` holds the source lines themselves, untrusted.
    ``claim`` and ``supports`` let two findings contradict each other (see ``turn.fuse``).
    """

    path: str
    title: str = ""
    symbol: str = ""
    kind: str = "file"
    start_line: int = 0
    end_line: int = 0
    score: float = 0.0
    why: str = ""
    text: str = ""
    claim: str = ""
    supports: bool = True


@dataclass(frozen=True, slots=True)
class ToolOutput:
    """What a provider answers: a sentence for people, rows with provenance, and the tool's own data (JSON)."""

    summary: str
    findings: tuple[Finding, ...] = ()
    data: dict[str, Any] = field(default_factory=dict)
    truncated: bool = False
