"""Render the fused findings as framed text for the model, within a limit.

Invariant: the text never exceeds the limit, frame included. The most relevant finding comes first. If space runs out,
the least valuable lines are dropped before any heading, and a location without its lines is still named.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from upbeat.core.contract.finding import ANSWER_KIND, Excerpt, Finding
from upbeat.core.sanitize.frame import frame_untrusted
from upbeat.core.sanitize.truncate import TextLimit, measure_text, truncate_to_limit
from upbeat.core.turn.fuse import ALREADY_SHOWN, MAX_SUMMARY_LENGTH, FusedItem, drop_source_lines, evidence_ref

NOTE_LENGTH, MIN_LENGTH_WITH_NOTE = 60, 1000
"""Length kept for the last line, which says what was left out; a shorter text has none."""

MAX_NAME_LENGTH = 80
"""Length kept for the heading of a further location."""

MIN_PART_LINES = 6
"""Lines of one of the best locations that are shown when it does not fit whole; of others nothing is."""

MAX_SIGNATURE_LINES = 12
_DOCSTRING = re.compile(r"\s*[rR]?(?:\"\"\"|''')")

FRAME_SOURCE = "search of this repository"
REASON_LIMIT = TextLimit(MAX_SUMMARY_LENGTH)
MAX_UNSHOWN_EXCERPTS = 2
"""Further locations of a finding that are named without their lines."""
NO_DEFINITION = "lines"
"""The name of a further location outside any definition."""


@dataclass(frozen=True, slots=True)
class RenderedContext:
    """The framed text (empty if there is nothing to show) and its items.

    ``is_truncated``: answers, or more than half of all lines, were dropped. ``left_out`` names whatever was dropped.
    """

    text: str
    items: tuple[FusedItem, ...] = ()
    is_truncated: bool = False
    left_out: str = ""


def render_context(
    items: Sequence[FusedItem], nonce: str, limit: TextLimit, left_out_rows: int = 0, *, has_overview: bool = False
) -> RenderedContext:
    """Return ``items`` in their order, framed, within ``limit``; ``left_out_rows`` were dropped before.

    With ``has_overview`` the text of several items begins with a line for each, as a search prints it: ``path:line``.
    """
    if not items:
        return RenderedContext("")
    user_tools = sorted({item.tool for item in items if item.finding.kind == ANSWER_KIND})
    source = ", ".join([FRAME_SOURCE, *user_tools])
    overview = [_format_location(item.finding) for item in items] if has_overview and len(items) > 1 else []
    overhead = measure_text(frame_untrusted("\n".join(overview), nonce, source=source), limit.unit)
    if overview and limit.max_length < 4 * overhead:
        overview, overhead = [], measure_text(frame_untrusted("", nonce, source=source), limit.unit)
    limit = TextLimit(limit.max_length - overhead, limit.unit)
    bare = sum(map(_lacks_lines, items))
    has_note = limit.max_length >= MIN_LENGTH_WITH_NOTE and (left_out_rows + bare > 0 or not _fits(items, limit))
    limit = replace(limit, max_length=limit.max_length - NOTE_LENGTH * has_note)
    kept = _fit_headings(items, limit)
    if not kept:
        return RenderedContext("", is_truncated=True)
    shown, shortened = _fit_source_lines(kept, limit)
    is_truncated = len(kept) < len(items) or _lost_lines(kept, shown)
    shortened += sum(map(_lacks_lines, kept))
    left_out = _describe_left_out(left_out_rows + len(items) - len(kept), shortened)
    lines = [_format_item(number, item) for number, item in enumerate(shown, start=1)]
    lines = [*overview[: len(kept)], *lines]
    body = "\n".join([*lines, f"[left out to fit: {left_out}]"] if left_out and has_note else lines)
    return RenderedContext(frame_untrusted(body, nonce, source=source), tuple(shown), is_truncated, left_out)


def _lacks_lines(item: FusedItem) -> bool:
    """Return whether the search had lines for ``item`` but no room for them, and the session was not shown them."""
    finding = item.finding
    has_text = any(excerpt.text for excerpt in _excerpts(finding))
    return any(finding.whole) and not has_text and not item.summary.startswith(ALREADY_SHOWN)


def _fits(items: Sequence[FusedItem], limit: TextLimit) -> bool:
    sizes = (measure_text(_format_item(number, item), limit.unit) + 1 for number, item in enumerate(items, start=1))
    return sum(sizes) <= limit.max_length


def _describe_left_out(rows: int, places: int) -> str:
    """Return the numbers of dropped rows, and of places without all of their lines, in words."""
    counts = ((rows, "row", "rows"), (places, "place's lines", "places' lines"))
    return ", ".join(f"{count} {one if count == 1 else many}" for count, one, many in counts if count)


def _fit_headings(items: Sequence[FusedItem], limit: TextLimit) -> list[FusedItem]:
    kept: list[FusedItem] = []
    length = 0
    for number, item in enumerate(items, start=1):
        length += measure_text(_format_item(number, drop_source_lines(item)), limit.unit) + 1
        if length > limit.max_length:
            break
        kept.append(item)
    # One side of a contradiction would look like a fact.
    while kept and kept[-1].has_conflict:
        refs = {evidence_ref(item.tool, item.finding) for item in kept}
        if refs.intersection(kept[-1].evidence_refs):
            break
        kept.pop()
    return kept


def _fit_source_lines(items: Sequence[FusedItem], limit: TextLimit) -> tuple[list[FusedItem], int]:
    """Return ``items`` with the most valuable source lines that fit, and the number of places without all of theirs."""
    shown = [drop_source_lines(item) for item in items]
    sizes = [measure_text(_format_item(number, item), limit.unit) + 1 for number, item in enumerate(shown, start=1)]
    remaining = limit.max_length - sum(sizes)
    ranges_by_path: dict[str, list[tuple[int, int]]] = {}
    shortened = 0
    ranked = sorted(  # answers first, then by score
        (number > 0 or excerpt.optional_score > 0, -excerpt.optional_score, index, number)
        for index, item in enumerate(items)
        for number, excerpt in enumerate(_excerpts(item.finding))
        if excerpt.text
    )
    best = max((-score for _is_optional, score, _index, _number in ranked), default=0.0)
    for _is_optional, _score, index, number in ranked:
        finding = items[index].finding
        excerpt = _excerpts(finding)[number]
        ranges = ranges_by_path.setdefault(finding.path, [])
        if excerpt.optional_score and any(s <= excerpt.start_line and excerpt.end_line <= e for s, e in ranges):
            continue  # another tool's item shows these lines
        extended = _with_lines(shown[index], excerpt, number)
        size = measure_text(_format_item(index + 1, extended), limit.unit) + 1
        if size - sizes[index] > remaining:
            shortened += 1
            shown[index] = replace(shown[index], is_truncated=True)
            is_among_best = not ranges and excerpt.optional_score >= best / 2
            part = _first_lines(excerpt, remaining, limit) if is_among_best and finding.kind != ANSWER_KIND else None
            if part is None:
                continue
            extended = _with_lines(shown[index], part, number)
            size = measure_text(_format_item(index + 1, extended), limit.unit) + 1
        if size - sizes[index] <= remaining:
            remaining -= size - sizes[index]
            shown[index], sizes[index] = extended, size
            ranges.append((excerpt.start_line, excerpt.end_line))
    return shown, shortened


def _first_lines(excerpt: Finding | Excerpt, room: int, limit: TextLimit) -> Finding | Excerpt | None:
    """Return ``excerpt`` with as many of its first lines as fit into ``room``; None if these are few.

    A docstring that would take most of the room is skipped with what precedes it.
    """
    lines = excerpt.text.split("\n")
    fitting = _count_fitting(lines, excerpt.start_line, room, limit)
    code_start = _end_of_docstring(lines)
    first = code_start if 2 * code_start > fitting and code_start < len(lines) else 0
    start_line = excerpt.start_line + first
    count = _count_fitting(lines[first:], start_line, room, limit)
    if count < min(MIN_PART_LINES, len(lines) - first):
        return None
    whole = excerpt.whole if any(excerpt.whole) else (excerpt.start_line, excerpt.end_line)
    text = "\n".join(lines[first : first + count])
    return replace(excerpt, text=text, start_line=start_line, end_line=start_line + count - 1, whole=whole)


def _count_fitting(lines: Sequence[str], start_line: int, room: int, limit: TextLimit) -> int:
    """Return how many of ``lines`` fit into ``room``, with their numbers, the mark and a heading."""
    room -= measure_text(_part_mark((start_line, start_line + len(lines))), limit.unit)
    count = 0
    for line in _number_lines("\n".join(lines), start_line):
        room -= measure_text(line, limit.unit) + 1
        if room < MAX_NAME_LENGTH:
            break
        count += 1
    return count


def _end_of_docstring(lines: Sequence[str]) -> int:
    """Return the number of the first line behind the docstring that a definition begins with; 0 without one."""
    opening = next((n for n, line in enumerate(lines[:MAX_SIGNATURE_LINES]) if _DOCSTRING.match(line)), None)
    if opening is None:
        return 0
    quotes = '"""' if '"""' in lines[opening] else "'''"
    if lines[opening].count(quotes) > 1:
        return opening + 1
    return next((n + 1 for n in range(opening + 1, len(lines)) if quotes in lines[n]), 0)


def _part_mark(whole: tuple[int, int]) -> str:
    """Return the mark of lines that are a part of the definition with the lines ``whole``."""
    return f" [part of {whole[0]}-{whole[1]}]" if any(whole) else ""


def _excerpts(finding: Finding) -> tuple[Finding | Excerpt, ...]:
    """Return the finding for its own lines, then its further locations."""
    return finding, *finding.more_excerpts


def _with_lines(item: FusedItem, source: Finding | Excerpt, number: int) -> FusedItem:
    """Return ``item`` with the lines of ``source`` at ``number``."""
    if isinstance(source, Finding):
        start, end = source.start_line, source.end_line
        own = replace(item.finding, text=source.text, start_line=start, end_line=end, whole=source.whole)
        return replace(item, finding=own)
    more = list(item.finding.more_excerpts)
    more[number - 1] = source
    return replace(item, finding=replace(item.finding, more_excerpts=tuple(more)))


def _lost_lines(items: Sequence[FusedItem], shown: Sequence[FusedItem]) -> bool:
    """Return whether lines of an answer were dropped, or more than half of all lines."""
    for item, left in zip(items, shown, strict=True):
        if item.finding.text and not item.finding.optional_score and not left.finding.text:
            return True
    shown_length, length = (
        sum(len(excerpt.text) for item in group for excerpt in _excerpts(item.finding)) for group in (shown, items)
    )
    return 2 * shown_length < length


def _format_location(finding: Finding) -> str:
    first_line = finding.whole[0] or finding.start_line
    location = f"{finding.path}:{first_line}" if first_line else finding.path
    return f"{location} {finding.symbol}".rstrip()


def _format_item(number: int, item: FusedItem) -> str:
    finding = item.finding
    location = f"{finding.path}:{_line_range(finding)}" if finding.start_line else finding.path
    conflict = " [conflict: see " + ", ".join(item.evidence_refs) + "]" if item.has_conflict else ""
    symbol = f" {finding.symbol}" if finding.symbol else ""
    part = _part_mark(finding.whole) if finding.text else ""
    shows_title = bool(finding.text or finding.symbol)
    reason = truncate_to_limit(finding.why, REASON_LIMIT)[0] if shows_title and finding.why else item.summary
    lines = [
        f"{number}. {location}{symbol} — {reason or finding.kind} ({item.tool} {finding.score:.2f}){part}{conflict}"
    ]
    if finding.kind == ANSWER_KIND and finding.text:  # lines of an answer have no numbers
        lines += [f"| {line}".rstrip() for line in finding.text.rstrip("\n").split("\n")]
    elif finding.kind != ANSWER_KIND:
        lines += _number_lines(finding.text, finding.start_line)
    unshown = []
    for excerpt in finding.more_excerpts:
        name = excerpt.symbol or NO_DEFINITION
        if excerpt.text:
            mark = _part_mark(excerpt.whole)
            lines += [f"+ {name}:{_line_range(excerpt)}{mark}", *_number_lines(excerpt.text, excerpt.start_line)]
        else:
            unshown.append(f"{name}:{excerpt.start_line}")
    return "\n".join([*lines, f"+ {', '.join(unshown[:MAX_UNSHOWN_EXCERPTS])}"] if unshown else lines)


def _line_range(location: Finding | Excerpt) -> str:
    end = f"-{location.end_line}" if location.end_line > location.start_line else ""
    return f"{location.start_line}{end}"


@lru_cache(maxsize=64)
def _number_lines(text: str, start: int) -> tuple[str, ...]:
    if not text:
        return ()
    start = max(start, 1)
    lines = text.rstrip("\n").split("\n")
    width = len(str(start + len(lines) - 1))
    return tuple([f"{start + offset:>{width}}| {line}".rstrip() for offset, line in enumerate(lines)])
