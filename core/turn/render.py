"""The list of findings as the text that a model reads, inside a cap.

Law: the text never passes the cap, frame included. What matters most comes first; when space runs out, the
later findings lose their source lines before any loses its heading.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .frame import frame, frame_overhead
from .fuse import MAX_SUMMARY, Fused, reference, without_text
from .truncate import Cap, fit, measure

SOURCE = "search of this repository"
WHY = Cap(MAX_SUMMARY)


@dataclass(frozen=True, slots=True)
class Rendered:
    """The framed text (empty when there is nothing to say), what is in it, and whether anything had to go."""

    text: str
    items: tuple[Fused, ...] = ()
    truncated: bool = False


def render(items: Sequence[Fused], nonce: str, cap: Cap) -> Rendered:
    """``items`` in their order, framed, at most ``cap`` long."""
    if not items:
        return Rendered("")
    room = cap.limit - frame_overhead(nonce, SOURCE, cap.unit)
    kept = _headings_that_fit(items, Cap(room, cap.unit))
    if not kept:
        return Rendered("", truncated=True)
    shown = _texts_that_fit(kept, Cap(room, cap.unit))
    truncated = len(kept) < len(items) or shown != list(kept)
    body = "\n".join(_entry(number, item) for number, item in enumerate(shown, start=1))
    return Rendered(frame(body, nonce, source=SOURCE), tuple(shown), truncated)


def _headings_that_fit(items: Sequence[Fused], cap: Cap) -> list[Fused]:
    kept: list[Fused] = []
    used = 0
    for number, item in enumerate(items, start=1):
        used += measure(_entry(number, without_text(item)), cap.unit) + 1
        if used > cap.limit:
            break
        kept.append(item)
    while kept and kept[-1].conflict and not _stands_beside(kept[-1], kept):
        kept.pop()
    return kept


def _stands_beside(item: Fused, kept: Sequence[Fused]) -> bool:
    """Whether one that contradicts ``item`` is kept, too; one side of a quarrel would read as a fact."""
    return any(reference(other.tool, other.finding) in item.evidence for other in kept)


def _texts_that_fit(items: Sequence[Fused], cap: Cap) -> list[Fused]:
    headings = [without_text(item) for item in items]
    used = sum(measure(_entry(number, item), cap.unit) + 1 for number, item in enumerate(headings, start=1))
    shown = []
    for number, (item, heading) in enumerate(zip(items, headings, strict=True), start=1):
        more = measure(_entry(number, item), cap.unit) - measure(_entry(number, heading), cap.unit)
        fits = used + more <= cap.limit
        used += more if fits else 0
        shown.append(item if fits else heading)
    return shown


def _entry(number: int, item: Fused) -> str:
    finding = item.finding
    place = finding.path
    if finding.start_line:
        place += f":{finding.start_line}"
        place += f"-{finding.end_line}" if finding.end_line > finding.start_line else ""
    mark = " [conflict: see " + ", ".join(item.evidence) + "]" if item.conflict else ""
    symbol = f" {finding.symbol}" if finding.symbol else ""
    said = fit(finding.why, WHY)[0] if finding.text and finding.why else item.summary  # the lines below show the title
    heading = f"{number}. {place}{symbol} — {said or finding.kind} ({item.tool} {finding.score:.2f}){mark}"
    return "\n".join([heading, *_numbered(finding.text, finding.start_line)])


def _numbered(text: str, start: int) -> list[str]:
    if not text:
        return []
    start = max(start, 1)
    lines = text.rstrip("\n").split("\n")
    width = len(str(start + len(lines) - 1))
    return [f"   {start + offset:>{width}}| {line}".rstrip() for offset, line in enumerate(lines)]
