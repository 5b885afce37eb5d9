"""Reads the beginning of a prompt that speaks as commit messages and reports of one line do.

Law: only what the prompt begins with is looked at, behind a scope or a label. "Fixes the race" tells of a repair,
"don't crash if the header is empty" what a program shall not do; the same words later in a prompt stay what they are.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from ..texts import opening_phrases as known
from ..texts.phrases import Tag
from .clauses import VERBS
from .lexicon import Hit

_PREFIX = re.compile(
    r"""(?:(?:pr|issue|bug|ticket|gh|\#)[ /-]?\#?\d{1,8}[ :.,-]{1,3}|\[[^\]\n]{1,30}\]|[ \t\n*\#-])*+
    (?:(?P<label>[\w./,*+-]{1,40}(?:,[ ][\w./*+-]{1,30})?)(?P<scope>\([^()\n]{1,60}\))?!?:[ ]{1,2})?""",
    re.VERBOSE,
)
MARK = "\x01"
"""Stands for each character of a name in the prose; part of no word."""

_LATIN = re.compile(r"[a-z][a-z'-]*")
_CODE_SCOPE = re.compile(r"[/,_*+]|\w\.\w")
_END = re.compile(r"[.!?,;:](?=\s|$)|[，。！？；：\n]")
_WORK = VERBS | {Tag.CHANGE, Tag.ATTEND}
_LONGEST_CHINESE = 4


@dataclass(frozen=True, slots=True)
class Opening:
    """How a prompt begins: where its first words stand, its label, or "", and what that weighs as a sign of code."""

    start: int
    label: str = ""
    weight: int = 0


NO_OPENING = Opening(0)


def read_opening(prose: str) -> Opening:
    """The opening of folded ``prose``."""
    found = _PREFIX.match(prose)
    if not found:
        return NO_OPENING
    label, start = found["label"] or "", found.end()
    if found["scope"] and label in known.TYPES:
        return Opening(start, label, 3)
    if label in known.LABELS:
        return Opening(start, label, 2)
    return Opening(start, label, 1 if _CODE_SCOPE.search(label) else 0)


def as_told(prose: str, hits: tuple[Hit, ...], opening: Opening) -> tuple[Hit, ...]:
    """``hits`` with what the first words mean at the beginning of a prompt."""
    if opening.label in known.REPAIRS and not any(hit.start < opening.start for hit in hits):
        at = prose.index(opening.label)
        return (Hit(opening.label, _meaning(opening.label), at, at + len(opening.label)), *hits)
    word = _word_at(prose, opening.start)
    first = next((hit for hit in hits if hit.start >= opening.start), None)
    tags = _meaning(word)
    if first and first.start == opening.start:
        if first.phrase in known.DENIALS:
            return _without_denial(prose, hits, first)
        if first.phrase != word or not tags:
            return hits
        return tuple(replace(hit, tags=hit.tags | tags) if hit is first else hit for hit in hits)
    told = Hit(word, tags, opening.start, opening.start + len(word))
    if not tags or (first and first.start < told.end):
        return hits
    before = sum(hit.start < opening.start for hit in hits)
    return (*hits[:before], told, *hits[before:])


def _word_at(prose: str, start: int) -> str:
    """The word of the tables that stands at ``start``."""
    if found := _LATIN.match(prose, start):
        return found[0]
    for length in range(_LONGEST_CHINESE, 0, -1):
        if prose[start : start + length] in known.BEHAVIOURS | known.OF_PEOPLE:
            return prose[start : start + length]
    return ""


def _meaning(word: str) -> frozenset[Tag]:
    if word in known.REPAIRS | known.CORRECTIONS:
        return frozenset({Tag.DEBUG})
    if word in known.CHANGES:
        return frozenset({Tag.CHANGE})
    return frozenset({Tag.ATTEND}) if word in known.BEHAVIOURS else frozenset()


def _without_denial(prose: str, hits: tuple[Hit, ...], denial: Hit) -> tuple[Hit, ...]:
    """``hits`` with ``denial`` as what a program shall not do, unless it is said to whoever works on the program."""
    start = denial.end + len(prose[denial.end :]) - len(prose[denial.end :].lstrip())
    if start == len(prose) or _word_at(prose, start) in known.OF_PEOPLE:
        return hits
    following = next((hit for hit in hits if hit.start == start), None)
    if following and following.tags & _WORK and Tag.PLACE not in following.tags:
        end = _END.search(prose, start)
        sentence = prose[start : end.start() if end else len(prose)]
        if MARK not in sentence or following.phrase not in known.OF_BOTH:
            return hits
    return tuple(replace(hit, tags=frozenset({Tag.ATTEND})) if hit is denial else hit for hit in hits)
