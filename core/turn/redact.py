"""Every finder looks at the original text; what they find is joined and then replaced, all at once.

So a secret that one finder sees in part and another as a whole goes as a whole, and no finder depends on the
order of the others. ``formats`` has what vendors publish, ``secret_values`` decides about values that are assigned to
telling names, ``secret_scan`` says where to look, ``secret_views`` unfolds what is encoded or broken over lines.
Secrets without format and without name are not found.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import islice

from .formats import RULES, Rule
from .secret_blocks import private_keys
from .secret_context import broken, in_context, may_be_told
from .secret_scan import Scan, TooMany, scan_for
from .secret_span import Span, joined
from .secret_views import encoded, unescaped, unwrapped

_ROUNDS = 3
"""A replacement can show a secret that was hidden before; nobody has built one that shows more than one more."""
MOST = 1000
"""Secrets of one text; one that has more is a secret as a whole."""
_RANKS = {rule: rank for rank, rule in enumerate(RULES, start=1)}


@dataclass(frozen=True, slots=True)
class Redacted:
    """A text without secrets; ``redactions`` are kinds with their counts, sorted by kind."""

    text: str
    redactions: tuple[tuple[str, int], ...] = ()


def redact(text: str, *, keeps_lines: bool = False, scan: Scan | None = None) -> Redacted:
    """``text`` with each secret replaced by ``<redacted:kind>``. Doing it twice changes nothing more.

    With ``keeps_lines`` the line ends of a secret stay, so that what follows keeps its line number. ``scan`` reads the
    text; by default the one that is fastest.
    """
    counts: Counter[str] = Counter()
    for _ in range(_ROUNDS):
        spans = _spans(text, scan or scan_for(text))
        if not spans:
            break
        text = _replaced(text, spans, keeps_lines)
        counts.update(span.kind for span in spans)
    return Redacted(text, tuple(sorted(counts.items())))


def may_hide_secrets(text: str) -> bool:
    """Whether something in ``text`` has the form of a secret. If not, ``redact`` leaves each of its lines as it is."""
    scan = scan_for(text)
    lowered = _lower(text)
    return bool(_spans(text, scan)) or may_be_told(lowered, scan, scan.places(lowered))


def _spans(text: str, scan: Scan) -> list[Span]:
    """The secrets of ``text``, in order; the whole of it if there are too many of them, or of what may be one."""
    try:
        found = list(islice(_find(text, scan), MOST + 1))
    except TooMany:
        return [Span(0, len(text), 0, "secrets")]
    return joined(found) if len(found) <= MOST else [Span(0, len(text), 0, "secrets")]


def _find(text: str, scan: Scan) -> Iterator[Span]:
    lowered = _lower(text)
    places = scan.places(lowered)
    yield from _plain(text, lowered, scan, places)
    if "escape" in places and (view := unescaped(text, lowered, scan)):
        bare = _lower(view.text)
        for span in _plain(view.text, bare, scan, scan.places(bare)):
            yield view.original(span)
    if "encoded" in places:
        for start, end, inside in encoded(text, lowered, scan):
            bare = _lower(inside)
            if hidden := next(_plain(inside, bare, scan, scan.places(bare)), None):
                yield hidden._replace(start=start, end=end)
    if "\n" in text and (wrapped := unwrapped(text)):
        joint = wrapped.view.text
        yield from wrapped.formats(_RANKS, scan.formats(joint))
        yield from wrapped.told(broken(joint, bare := _lower(joint), scan, scan.places(bare)))


def _plain(text: str, lowered: str, scan: Scan, places: Collection[str]) -> Iterator[Span]:
    """The secrets of a text that hides nothing."""
    if "key block" in places:
        yield from private_keys(text)
    for rule in scan.formats(text):
        yield from _of_format(rule, text)
    yield from in_context(text, lowered, scan, places)


def _of_format(rule: Rule, text: str) -> Iterator[Span]:
    rank = _RANKS[rule]
    for found in rule.pattern.finditer(text):
        start, end = rule.span(found)
        if rule.width or not _CROSSED_OUT.fullmatch(text, found.start() + len(rule.literal), end):
            yield Span(start, end, rank, rule.kind)
            if rule.kind == "aws-access-key" and (pair := _AWS_SECRET_BEHIND_ID.match(text, end)):
                yield Span(*pair.span(1), rank, "aws-secret-key")


_CROSSED_OUT = re.compile("[xX*._-]{8,}")
_AWS_SECRET_BEHIND_ID = re.compile(r"[\s,;:|\"']{1,8}([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])")


def _replaced(text: str, spans: list[Span], keeps_lines: bool) -> str:
    pieces, done = [], 0
    for span in spans:
        lines = "\n" * text.count("\n", span.start, span.end) if keeps_lines else ""
        pieces += [text[done : span.start], f"<redacted:{span.kind}>{lines}"]
        done = span.end
    return "".join([*pieces, text[done:]])


def _lower(text: str) -> str:
    """``text`` in lower case, each place kept: the lower case of one letter is longer than it."""
    return text.lower() if text.isascii() else text.replace("İ", "I").lower()
