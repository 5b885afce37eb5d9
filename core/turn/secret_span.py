"""Where a secret stands; spans that overlap are one secret, named by the finder with the lowest rank."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class Span(NamedTuple):
    """``start`` and ``end`` of a secret in its text, and what kind it is."""

    start: int
    end: int
    rank: int
    kind: str


def joined(spans: Iterable[Span]) -> list[Span]:
    """Spans in order, those that overlap made one."""
    together: list[Span] = []
    for span in sorted(spans):
        if together and span.start < together[-1].end:
            last = together[-1]
            first = last if (last.rank, last) <= (span.rank, span) else span
            together[-1] = Span(last.start, max(last.end, span.end), first.rank, first.kind)
        else:
            together.append(span)
    return together
