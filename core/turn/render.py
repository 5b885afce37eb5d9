"""The list of findings as the text that a model reads, inside a cap.

Law: the text never passes the cap, frame included. What matters most comes first; when space runs out, the lines
that are worth least go before any heading does, and a place whose lines went is still named.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..contract.finding import ANSWER, Excerpt, Finding
from .frame import frame, frame_overhead
from .fuse import MAX_SUMMARY, Fused, reference, without_text
from .truncate import Cap, fit, measure

SOURCE = "search of this repository"
WHY = Cap(MAX_SUMMARY)
MAX_NAMED = 2
"""Further places of a row that are named without their lines."""

OUTSIDE = "lines"
"""The name of a further place that lies in no definition."""


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
    source = _source(items)
    room = cap.limit - frame_overhead(nonce, source, cap.unit)
    kept = _headings_that_fit(items, Cap(room, cap.unit))
    if not kept:
        return Rendered("", truncated=True)
    shown = _texts_that_fit(kept, Cap(room, cap.unit))
    truncated = len(kept) < len(items) or _lacks_lines(kept, shown)
    body = "\n".join(_entry(number, item) for number, item in enumerate(shown, start=1))
    return Rendered(frame(body, nonce, source=source), tuple(shown), truncated)


def _source(items: Sequence[Fused]) -> str:
    """Who found ``items``: upbeat's own search, and the user's own tools among them by name."""
    asked = sorted({item.tool for item in items if item.finding.kind == ANSWER})
    return ", ".join([SOURCE, *asked])


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
    """``items`` with the source lines that are worth most, as far as they go."""
    shown = [without_text(item) for item in items]
    sizes = [measure(_entry(number, item), cap.unit) + 1 for number, item in enumerate(shown, start=1)]
    left = cap.limit - sum(sizes)
    seen: dict[str, list[tuple[int, int]]] = {}
    for at, place in _by_worth(items):
        finding = items[at].finding
        here = finding if place == MAIN else finding.more[place]
        known = seen.setdefault(finding.path, [])
        if here.worth and any(start <= here.start_line and here.end_line <= end for start, end in known):
            continue  # another tool's row shows these lines
        more = _with_lines(shown[at], items[at], place)
        size = measure(_entry(at + 1, more), cap.unit) + 1
        if size - sizes[at] <= left:
            left -= size - sizes[at]
            shown[at], sizes[at] = more, size
            known.append((here.start_line, here.end_line))
    return shown


MAIN = -1
"""Instead of the position of a further place: the row's own lines."""


def _by_worth(items: Sequence[Fused]) -> list[tuple[int, int]]:
    """Everything that has lines, as (item, further place or ``MAIN``): what belongs to an answer, then by worth."""
    ranked = []
    for at, item in enumerate(items):
        if item.finding.text:
            ranked.append((bool(item.finding.worth), -item.finding.worth, at, MAIN))
        ranked += [(True, -one.worth, at, number) for number, one in enumerate(item.finding.more) if one.text]
    return [(at, place) for _is_spare, _worth, at, place in sorted(ranked)]


def _with_lines(bare: Fused, whole: Fused, place: int) -> Fused:
    """``bare`` with the lines that ``whole`` has at ``place``."""
    finding = bare.finding
    if place == MAIN:
        return replace(bare, finding=replace(finding, text=whole.finding.text))
    more = list(finding.more)
    more[place] = whole.finding.more[place]
    return replace(bare, finding=replace(finding, more=tuple(more)))


def _lacks_lines(items: Sequence[Fused], shown: Sequence[Fused]) -> bool:
    """Whether lines went that belong to an answer, or most of all that there were."""
    for item, left in zip(items, shown, strict=True):
        if item.finding.text and not item.finding.worth and not left.finding.text:
            return True
    return 2 * _lines_in(shown) < _lines_in(items)


def _lines_in(items: Sequence[Fused]) -> int:
    """Characters of source lines."""
    return sum(len(item.finding.text) + sum(len(one.text) for one in item.finding.more) for item in items)


def _entry(number: int, item: Fused) -> str:
    finding = item.finding
    place = f"{finding.path}:{_range(finding)}" if finding.start_line else finding.path
    mark = " [conflict: see " + ", ".join(item.evidence) + "]" if item.conflict else ""
    symbol = f" {finding.symbol}" if finding.symbol else ""
    shows_title = bool(finding.text or finding.symbol)
    said = fit(finding.why, WHY)[0] if shows_title and finding.why else item.summary
    lines = [f"{number}. {place}{symbol} — {said or finding.kind} ({item.tool} {finding.score:.2f}){mark}"]
    lines += _barred(finding.text) if finding.kind == ANSWER else _numbered(finding.text, finding.start_line)
    for one in finding.more:
        if one.text:
            lines += [f"+ {one.symbol or OUTSIDE}:{_range(one)}", *_numbered(one.text, one.start_line)]
    named = [f"{one.symbol or OUTSIDE}:{one.start_line}" for one in finding.more if not one.text][:MAX_NAMED]
    return "\n".join([*lines, f"+ {', '.join(named)}"] if named else lines)


def _range(place: Finding | Excerpt) -> str:
    more = f"-{place.end_line}" if place.end_line > place.start_line else ""
    return f"{place.start_line}{more}"


def _barred(text: str) -> list[str]:
    """The lines of an answer: they are of no file, and have no numbers."""
    return [f"| {line}".rstrip() for line in text.rstrip("\n").split("\n")] if text else []


def _numbered(text: str, start: int) -> list[str]:
    if not text:
        return []
    start = max(start, 1)
    lines = text.rstrip("\n").split("\n")
    width = len(str(start + len(lines) - 1))
    return [f"{start + offset:>{width}}| {line}".rstrip() for offset, line in enumerate(lines)]
