"""Parse explicit markers: ``<!-- VERDICT: {"result": "PASS", "call": "k7f2"} -->`` and ``<promise>DONE</promise>``.

Invariant: a marker in a fence, on a quoted line or between quotation marks does not count. Its fields are parsed
leniently; an unknown result is kept unchanged.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from upbeat.core.prompt.quoted_spans import SpanKind, mask_prompt

_MARKER_FORM = r"(?:<|&lt;)!--\s{0,20}%s\s{0,20}[:：]?\s{0,20}(.{0,%d}?)\s{0,20}--!?(?:>|&gt;)"
"""Codex escapes ``<`` and ``>`` in hook prompts, so agents repeat markers in that form."""
_VERDICT_FORM = re.compile(_MARKER_FORM % ("VERDICT", 1000), re.IGNORECASE | re.DOTALL)
_GOAL_FORM = re.compile(_MARKER_FORM % ("GOAL", 4000), re.IGNORECASE | re.DOTALL)
_PROMISE_FORM = re.compile(r"(?:<|&lt;)promise(?:>|&gt;)([^<>&]{1,200})(?:<|&lt;)/promise(?:>|&gt;)", re.IGNORECASE)
_PROMISE_TAG = re.compile(r"(?:<|&lt;)/?promise(?:>|&gt;)", re.IGNORECASE)
_PAIR = re.compile(r"""["'“”]?(\w{1,40})["'“”]?\s{0,9}[:=]\s{0,9}["'“”]?([^"'“”,{}]{0,200})["'“”]?""")
_NON_NEWLINE = re.compile(r"[^\n]")
_QUOTES = {'"': '"', "'": "'", "“": "”", "‘": "’", "「": "」", "『": "』", "«": "»", "`": "`"}


@dataclass(frozen=True, slots=True)
class VerdictMarker:
    """One marker: ``result`` and ``step_key`` in upper case, ``call_id`` as written, ``start`` and ``end`` its span."""

    result: str
    step_key: str
    call_id: str
    start: int
    end: int


def find_verdict_markers(text: str) -> tuple[VerdictMarker, ...]:
    """Return the verdict markers in ``text`` that count, in order."""
    return tuple(_parse_marker(match) for match in _find_unquoted(text, _VERDICT_FORM))


def find_goal_markers(text: str) -> tuple[Mapping[str, str], ...]:
    """Return the fields of each ``<!-- GOAL: {…} -->`` in ``text`` that counts, in order."""
    return tuple(_parse_fields(match[1].strip()) for match in _find_unquoted(text, _GOAL_FORM))


def find_promises(text: str) -> tuple[str, ...]:
    """Return the text of each ``<promise>…</promise>`` in ``text`` that counts, in order, as it compares."""
    return tuple(" ".join(match[1].casefold().split()) for match in _find_unquoted(text, _PROMISE_FORM))


def ends_in_promise(text: str, promise: str) -> bool:
    """Return whether the last line of ``text`` is nothing but ``promise``, one of ``find_promises``, in its tags."""
    last_line = next((line for line in reversed(text.splitlines()) if line.strip()), "")
    return promise in find_promises(text) and not re.search(r"\w", _PROMISE_FORM.sub("", last_line, count=1))


def strip_promise_tags(text: str) -> str:
    """Return ``text`` with a space in place of each tag of a promise."""
    return _PROMISE_TAG.sub(" ", text)


def _find_unquoted(text: str, pattern: re.Pattern[str]) -> list[re.Match[str]]:
    """Return the matches of ``pattern`` in ``text`` that are neither code nor quoted."""
    matches = list(pattern.finditer(text))
    if not matches:
        return []
    bare = blank_out(text, (match.span() for match in matches))
    code = [span for span in mask_prompt(bare).spans if span.kind in (SpanKind.FENCE, SpanKind.INLINE)]
    return [
        match
        for match in matches
        if not any(span.start <= match.start() < span.end for span in code) and not _is_quoted(text, match)
    ]


def blank_out(text: str, spans: Iterable[tuple[int, int]], filler: str = " ") -> str:
    """Return ``text`` with ``spans`` (ordered, disjoint) overwritten; line ends and offsets are preserved."""
    parts: list[str] = []
    position = 0
    for start, end in spans:
        parts += [text[position:start], _NON_NEWLINE.sub(filler, text[start:end])]
        position = end
    return "".join(parts) + text[position:] if parts else text


def _is_quoted(text: str, marker: re.Match[str]) -> bool:
    """Return whether the marker is between quotation marks or on a quoted line."""
    line = text[text.rfind("\n", 0, marker.start()) + 1 : marker.start()]
    before, after = text[: marker.start()].rstrip(" ")[-1:], text[marker.end() :].lstrip(" ")[:1]
    return line.lstrip().startswith(">") or (before in _QUOTES and after == _QUOTES[before])


def _parse_marker(marker: re.Match[str]) -> VerdictMarker:
    fields = _parse_fields(marker[1].strip())
    result = fields.get("result") or fields.get("verdict") or ""
    return VerdictMarker(
        result.strip().upper(),
        fields.get("stage", "").strip().upper(),
        fields.get("call", "").strip(),
        marker.start(),
        marker.end(),
    )


def _parse_fields(body: str) -> dict[str, str]:
    """Return the text fields of a JSON object, of something similar, or of a single word; keys in lower case."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        pairs = {name.lower(): text for name, text in _PAIR.findall(body)}
        return pairs or {"result": body.strip("{} \"'")}
    if isinstance(value, str):
        return {"result": value}
    if not isinstance(value, dict):
        return {}
    return {name.lower(): str(text) for name, text in value.items() if isinstance(text, str | int)}
