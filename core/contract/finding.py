"""Findings of tools: a location in the repository, why it matters, and its source lines."""

from __future__ import annotations

from typing import Any

from upbeat.core.lazy_dataclass import dataclass, field, replace

ANSWER_KIND = "answer"
"""The kind of a finding that holds a user tool's text; its path names the tool, not a file."""

MIN_OPTIONAL_SCORE = 1e-6
"""The lowest score of lines that may be omitted."""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A further location in the file of a finding. Lines count from 1 and include both ends.

    ``text`` holds its source lines, untrusted; it is empty for a location that is only named. If they are only a part
    of a definition, or none, ``whole`` are the first and last line of that, else 0.
    """

    symbol: str
    start_line: int
    end_line: int
    text: str = ""
    optional_score: float = 0.0
    whole: tuple[int, int] = (0, 0)


@dataclass(frozen=True, slots=True)
class Finding:
    """One row of a tool's answer.

    ``path`` is relative to the repository root with ``/`` between its parts. Lines count from 1 and include both
    ends; 0 means the whole file. ``score`` is in 0..1 and comparable within one answer. ``text`` holds the source
    lines, untrusted. ``claim`` and ``supports_claim`` let two findings contradict each other (see ``turn.fuse``).
    Lines with an ``optional_score`` above 0 may be omitted, lowest first; others belong to the answer. ``whole`` is
    that of an ``Excerpt``.
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
    supports_claim: bool = True
    optional_score: float = 0.0
    more_excerpts: tuple[Excerpt, ...] = ()
    whole: tuple[int, int] = (0, 0)

    def split_excerpts(self) -> tuple[Finding, ...]:
        """Return the row and its further locations as separate rows, highest ``optional_score`` first."""
        own = replace(self, more_excerpts=())
        further = sorted(self.more_excerpts, key=lambda excerpt: -excerpt.optional_score)
        return own, *(
            replace(
                own,
                title="",
                symbol=excerpt.symbol,
                start_line=excerpt.start_line,
                end_line=excerpt.end_line,
                text=excerpt.text,
                optional_score=excerpt.optional_score,
                whole=excerpt.whole,
            )
            for excerpt in further
        )


@dataclass(frozen=True, slots=True)
class ToolOutput:
    """A provider's answer: a one-sentence summary, findings, and the tool's own data (JSON)."""

    summary: str
    findings: tuple[Finding, ...] = ()
    data: dict[str, Any] = field(default_factory=dict)
    truncated: bool = False
