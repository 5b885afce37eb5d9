"""The verdict that an agent writes on purpose: ``<!-- VERDICT: {"result": "PASS", "call": "k7f2"} -->``.

Law: a marker counts when the agent itself says it. One in a fence, on a quoted line or between quotation marks is
shown, not said. What stands inside the braces is read leniently; a result that nobody knows is kept as it is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ..turn.mask import Voice, mask

_FORM = r"(?:<|&lt;)!--\s{0,20}%s\s{0,20}[:：]?\s{0,20}(.{0,%d}?)\s{0,20}--!?(?:>|&gt;)"
"""Also as Codex shows it to an agent that is sent back: its hook prompts have ``<`` and ``>`` escaped."""
_MARKER = re.compile(_FORM % ("VERDICT", 1000), re.IGNORECASE | re.DOTALL)
_GOAL = re.compile(_FORM % ("GOAL", 4000), re.IGNORECASE | re.DOTALL)
_PAIR = re.compile(r"""["'“”]?(\w{1,40})["'“”]?\s{0,9}[:=]\s{0,9}["'“”]?([^"'“”,{}]{0,200})["'“”]?""")
_NOT_AN_END = re.compile(r"[^\n]")
_QUOTES = {'"': '"', "'": "'", "“": "”", "‘": "’", "「": "」", "『": "』", "«": "»", "`": "`"}


@dataclass(frozen=True, slots=True)
class Marker:
    """One marker: ``result`` and ``stage`` in upper case, ``call`` as written; ``start`` and ``end`` are its place."""

    result: str
    stage: str
    call: str
    start: int
    end: int


def markers(text: str) -> tuple[Marker, ...]:
    """The markers that ``text`` says, in order."""
    return tuple(_read(one) for one in _said(text, _MARKER))


def goals(text: str) -> tuple[Mapping[str, str], ...]:
    """The fields of each ``<!-- GOAL: {…} -->`` that ``text`` says, in order."""
    return tuple(_fields(one[1].strip()) for one in _said(text, _GOAL))


def _said(text: str, form: re.Pattern[str]) -> list[re.Match[str]]:
    """Where ``text`` says something of the form itself, and does not only show it."""
    found = list(form.finditer(text))
    if not found:
        return []
    bare = without(text, (one.span() for one in found))
    shown = [span for span in mask(bare).spans if span.voice in (Voice.FENCE, Voice.INLINE)]
    return [
        one
        for one in found
        if not any(span.start <= one.start() < span.end for span in shown) and not _is_quoted(text, one)
    ]


def without(text: str, places: Iterable[tuple[int, int]], filler: str = " ") -> str:
    """``text`` with ``filler`` in ``places`` (in order, apart), line ends kept; nothing moves."""
    parts: list[str] = []
    at = 0
    for start, end in places:
        parts += [text[at:start], _NOT_AN_END.sub(filler, text[start:end])]
        at = end
    return "".join(parts) + text[at:] if parts else text


def _is_quoted(text: str, marker: re.Match[str]) -> bool:
    """Whether it stands between quotation marks, or on a line that quotes somebody."""
    line = text[text.rfind("\n", 0, marker.start()) + 1 : marker.start()]
    before, after = text[: marker.start()].rstrip(" ")[-1:], text[marker.end() :].lstrip(" ")[:1]
    return line.lstrip().startswith(">") or (before in _QUOTES and after == _QUOTES[before])


def _read(marker: re.Match[str]) -> Marker:
    fields = _fields(marker[1].strip())
    result = fields.get("result") or fields.get("verdict") or ""
    return Marker(
        result.strip().upper(),
        fields.get("stage", "").strip().upper(),
        fields.get("call", "").strip(),
        marker.start(),
        marker.end(),
    )


def _fields(body: str) -> dict[str, str]:
    """The texts in a JSON object, its names in lower case; also of one that is not quite JSON, or only a word."""
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
