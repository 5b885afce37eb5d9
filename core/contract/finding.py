"""What a tool found: one place in the repository, why it matters, and the lines that show it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

ANSWER = "answer"
"""The kind of a finding that is the text of a user's own tool; its path names the tool, and no file."""


LEAST_WORTH = 1e-6
"""Of lines that may be left out."""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A further place in the file of a row. Lines count from 1 and include both ends.

    ``text`` holds its source lines, untrusted; empty for a place that is only named.
    """

    symbol: str
    start_line: int
    end_line: int
    text: str = ""
    worth: float = 0.0


@dataclass(frozen=True, slots=True)
class Finding:
    """One row of a tool's answer.

    ``path`` is relative to the repository root with ``/`` between its parts. Lines count from 1 and
    include both ends; 0 means that the finding is about the whole file. ``score`` lies in 0..1 and is
    comparable inside one tool's answer. ``text`` holds the source lines themselves, untrusted.
    ``claim`` and ``supports`` let two findings contradict each other (see ``turn.fuse``).

    ``worth`` says which lines are to be shown when there is no room for all of the answer's; above 0 they may be
    left out without a word. Lines with a worth of 0 belong to the answer.
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
    worth: float = 0.0
    more: tuple[Excerpt, ...] = ()

    def places(self) -> tuple[Finding, ...]:
        """The row and each further place of it as rows of their own, those that are worth most first."""
        own = replace(self, more=())
        further = sorted(self.more, key=lambda one: -one.worth)
        return own, *(
            replace(
                own,
                title="",
                symbol=one.symbol,
                start_line=one.start_line,
                end_line=one.end_line,
                text=one.text,
                worth=one.worth,
            )
            for one in further
        )


@dataclass(frozen=True, slots=True)
class ToolOutput:
    """What a provider answers: a sentence for people, rows with provenance, and the tool's own data (JSON)."""

    summary: str
    findings: tuple[Finding, ...] = ()
    data: dict[str, Any] = field(default_factory=dict)
    truncated: bool = False
