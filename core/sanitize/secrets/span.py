"""Spans of secrets. Overlapping spans are one secret, named by the finder with the lowest rank."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class SecretSpan(NamedTuple):
    """The offsets, the rank and the kind of a secret."""

    start: int
    end: int
    rank: int
    kind: str


def merge_spans(spans: Iterable[SecretSpan]) -> list[SecretSpan]:
    """Return the spans in order, with overlapping ones merged."""
    merged: list[SecretSpan] = []
    for span in sorted(spans):
        if merged and span.start < merged[-1].end:
            last = merged[-1]
            first = last if (last.rank, last) <= (span.rank, span) else span
            merged[-1] = SecretSpan(last.start, max(last.end, span.end), first.rank, first.kind)
        else:
            merged.append(span)
    return merged
