"""Cuts the user's prose into clauses, and each clause into what it says and what it denies.

Law: a denial reaches to the end of its clause, never into the next one, except along a list that ends
in "or": "don't rename, move, or split it".
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

from ..texts.phrases import Tag, words
from .lexicon import Hit

VERBS = frozenset({Tag.DEBUG, Tag.REFACTOR, Tag.DOCS, Tag.FEATURE, Tag.OTHER})
_OPENS = VERBS | {Tag.CHANGE, Tag.ATTEND, Tag.ASK, Tag.WHERE, Tag.WHY, Tag.NOT}

_END = re.compile(r"[.!?,;:](?=\s|$|[\"'”」』)])|[，。！？；：\n…]|\s(?:-{1,2}|—)\s|(?<=\s)\(")
_ADDRESSED = words("you please i we but just so and really also to would they say said")
_DETERMINERS = words("the a an this that my your our its their last previous latest any some each every of")
_NOT_DONE = ("没", "没有", "未", "不")
_OR_LIST = re.compile(r"(?:[^.!?;:\n，。！？；,]{1,60}, ?){1,6}or\b")
_NEAR = 25
"""Characters between "and" and the verb that makes it the beginning of a clause."""


@dataclass(frozen=True, slots=True)
class Clause:
    """A stretch of prose. ``hits`` are what it says; ``mark`` is the punctuation that ends it.

    Verbs from ``denied_from`` on are denied; what is named from ``muted_from`` on does not count either.
    """

    start: int
    end: int
    mark: str
    hits: tuple[Hit, ...]
    denied_from: int
    muted_from: int

    @property
    def said(self) -> tuple[Hit, ...]:
        """The hits that are not denied."""
        return tuple(hit for hit in self.hits if hit.start < self.denied_from)

    def says(self, *tags: Tag) -> bool:
        """Whether the clause has one of ``tags``, and does not deny it."""
        return any(not hit.tags.isdisjoint(tags) for hit in self.said)


def cut(prose: str, hits: tuple[Hit, ...]) -> tuple[Clause, ...]:
    """The clauses of ``prose`` (folded) that say or deny something, in order; together they hold all of ``hits``."""
    clauses: list[Clause] = []
    carried_to = at = 0
    for start, end, mark in _stretches(prose, hits):
        first = at
        while at < len(hits) and hits[at].start < end:
            at += 1
        own = hits[first:at]
        muted = next((hit.start for hit in own if _is_denial(hit, start)), end)
        denied = next((hit.start for hit in own if Tag.EXCEPT in hit.tags and hit.start < muted), muted)
        if start < carried_to:
            denied = muted = start
        elif muted < end and (rest := _OR_LIST.match(prose, muted)):
            carried_to = rest.end()
        if own or muted < end:
            clauses.append(Clause(start, end, mark, own, denied, muted))
    return tuple(clauses)


def is_request(hit: Hit) -> bool:
    """Whether ``hit`` is a verb that asks for something."""
    return bool(hit.tags & VERBS) and not is_noun(hit)


def is_noun(hit: Hit) -> bool:
    """Whether the word before makes a noun of it ("the fix"), or a thing that has not been done (没有实现)."""
    return hit.before in _DETERMINERS or hit.before.endswith(_NOT_DONE)


def _stretches(prose: str, hits: tuple[Hit, ...]) -> list[tuple[int, int, str]]:
    """Start, end and closing mark of each clause: cut at punctuation, at "but", and at "and" before a verb."""
    cuts = [(found.start(), found.end(), found[0].strip()) for found in _END.finditer(prose)]
    cuts += [(hit.start, hit.start, "") for hit in hits if Tag.BREAK in hit.tags]
    for hit, following in pairwise(hits):
        if Tag.AND in hit.tags and following.start - hit.end < _NEAR and following.tags & _OPENS:
            cuts.append((hit.start, hit.start, ""))
    cuts.sort()
    stretches = []
    start = 0
    for low, high, mark in [*cuts, (len(prose), len(prose), "")]:
        stretch = prose[start:low]
        if not stretch.isspace() and stretch:
            stretches.append((low - len(stretch.lstrip()), low, mark))
        start = max(start, high)
    return stretches


def _is_denial(hit: Hit, start: int) -> bool:
    """Whether ``hit`` denies a request; "users don't get mails" tells what happens instead."""
    return Tag.NOT in hit.tags and (
        hit.phrase > "\x7f" or not hit.before or hit.start == start or hit.before in _ADDRESSED
    )
