"""Hears what one clause asks for, and what it tells is wrong.

Law: the first request of a clause governs it. "Add a command that cleans the cache" wants something
added; what comes after the first verb only says what it is about.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ..texts.phrases import Tag
from .clauses import Clause, is_noun, is_request
from .lexicon import Hit

_KINDS = (Tag.DEBUG, Tag.REFACTOR, Tag.DOCS, Tag.FEATURE)
_ASKS = frozenset({Tag.ASK, Tag.WHERE, Tag.WHY})
_MAKES = frozenset({Tag.FEATURE, Tag.REFACTOR})
_WORKS_ON = frozenset({Tag.FEATURE, Tag.REFACTOR, Tag.CHANGE})
_DEEDS = _WORKS_ON | {Tag.DEBUG, Tag.SYMPTOM, Tag.SLOW}
_NOUN_AFTER = 40
_NOUN_BEFORE = 3


@dataclass(frozen=True, slots=True)
class Heard:
    """What a clause says.

    ``request`` is debug, refactor, docs, feature, ask (a question), or None. ``fault`` is 2 when
    something is told to be broken, 1 when it may be, else 0. ``tags`` is all that is not denied.
    """

    request: Tag | None
    fault: int
    tags: frozenset[Tag]


def hear(clause: Clause) -> Heard:
    """What ``clause`` asks for and tells."""
    said = clause.said
    tags = frozenset(tag for hit in said for tag in hit.tags)
    request, at = _first_request(clause, said)
    fault = _fault(said, until=at if request in _MAKES else clause.end)
    if request in _MAKES and any(Tag.DEBUG in hit.tags and _tells_purpose(hit) for hit in said):
        request = Tag.DEBUG
    if _is_on_docs(request, clause):
        request = Tag.DOCS
    return Heard(request, fault, tags)


def deeds_of(clauses: Iterable[Clause]) -> frozenset[int]:
    """Where work is asked for, or a fault told of; nowhere in a clause that is about a text which is not code."""
    return frozenset(
        hit.start
        for clause in clauses
        if not any(Tag.TEXT in hit.tags for hit in clause.hits)
        for hit in clause.said
        if hit.tags & _DEEDS and not is_noun(hit)
    )


def _first_request(clause: Clause, said: Iterable[Hit]) -> tuple[Tag | None, int]:
    """The request that governs the clause, and where it stands."""
    for hit in said:
        if is_request(hit):
            return next((tag for tag in _KINDS if tag in hit.tags), Tag.DOCS), hit.start
        if hit.tags & _ASKS or (Tag.START in hit.tags and hit.start == clause.start):
            return Tag.ASK, hit.start
    return None, clause.end


def _fault(said: Iterable[Hit], until: int) -> int:
    """How surely something is broken; after "if" it only may be."""
    level = 0
    is_conditional = False
    for hit in said:
        if hit.start >= until:
            break
        is_conditional = is_conditional or Tag.IF in hit.tags
        if Tag.SYMPTOM in hit.tags and not is_conditional:
            level = 2
        elif hit.tags & {Tag.SYMPTOM, Tag.SOFT}:
            level = max(level, 1)
    return level


def _tells_purpose(hit: Hit) -> bool:
    """Whether the verb says what the request is for: "add a lock to fix the race"."""
    return hit.before == "to" or hit.before.endswith(("来", "以"))


def _is_on_docs(request: Tag | None, clause: Clause) -> bool:
    """Whether what is to be added or changed is documentation, or a typo in it."""
    nouns = [hit for hit in clause.hits if Tag.DOCS_NOUN in hit.tags]
    if request is Tag.DEBUG:
        return any(noun.phrase in ("typo", "typos") for noun in nouns)
    if request not in (Tag.FEATURE, Tag.REFACTOR, None):
        return False
    verbs = [hit for hit in clause.said if hit.tags & _WORKS_ON]
    return any(
        0 <= noun.start - verb.end <= _NOUN_AFTER or 0 <= verb.start - noun.end <= _NOUN_BEFORE
        for noun in nouns
        for verb in verbs
    )
