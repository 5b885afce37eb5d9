"""Tells which clauses ask for a translation, a letter or other text, and so not for work on code.

Law: "translate" and "write an email" are about text unless what they are applied to is shown to be code:
"translate the comments in utils.py", "write an email validator".
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..texts.phrases import Tag
from .clauses import Clause, is_request
from .lexicon import Hit
from .mask import Voice
from .signals import SURE
from .targets import Mention

CRAFT = frozenset({Tag.CRAFT1, Tag.CRAFT2, Tag.CRAFT3})
_OBJECT_WITHIN = 40
_MAKES_CODE = re.compile(r"\s?(?:的|功能|模板|服务|接口|模块|页|\x01)")


def without_writing(clauses: tuple[Clause, ...], prose: str, mentions: tuple[Mention, ...]) -> tuple[Clause, ...]:
    """The clauses that may be about code.

    Where text that stands in the prompt is to be worked on, only those before it are, if they name code surely.
    """
    kept: list[Clause] = []
    goes_on = False
    for clause in clauses:
        composes = _composes(clause, prose)
        if composes or _is_on_text(clause, mentions):
            if clause.mark in (":", "：") or any(Tag.DEICTIC in hit.tags for hit in clause.hits):
                return tuple(kept) if any(_names_surely(before, mentions) for before in kept) else ()
            goes_on = composes
        elif not goes_on:
            kept.append(clause)
        # "Write a mail to the team, saying that the API is up": what it says is no request either.
        goes_on = goes_on and clause.mark in (",", "，")
    return tuple(kept)


def _composes(clause: Clause, prose: str) -> bool:
    """Whether the clause asks for a letter, a story or the like."""
    verb = next((hit for hit in clause.said if Tag.COMPOSE in hit.tags), None)
    return verb is not None and any(_is_object_of(verb, hit, clause, prose) for hit in clause.hits)


def _is_on_text(clause: Clause, mentions: Iterable[Mention]) -> bool:
    """Whether the clause asks for a translation, or announces a text."""
    if not clause.says(Tag.OTHER, Tag.TEXT):
        return False
    if clause.mark in (":", "：") and clause.says(Tag.TEXT) and not any(hit.tags & CRAFT for hit in clause.hits):
        return True
    request = next((hit for hit in clause.said if is_request(hit)), None)
    if not request or Tag.OTHER not in request.tags:
        return False
    names_code = any(hit.tags & {Tag.CRAFT3, Tag.CRAFT2, Tag.DOCS_NOUN} for hit in clause.hits)
    return not _names_surely(clause, mentions) and (clause.says(Tag.TEXT) or not names_code)


def _names_surely(clause: Clause, mentions: Iterable[Mention]) -> bool:
    """Whether the clause names a file or an identifier outside quotation marks."""
    return any(
        mention.voice is not Voice.QUOTE and mention.weight >= SURE and clause.start <= mention.start < clause.end
        for mention in mentions
    )


def _is_object_of(verb: Hit, noun: Hit, clause: Clause, prose: str) -> bool:
    """Whether ``noun`` is text that ``verb`` asks for, and no part of a name for code."""
    if Tag.TEXT not in noun.tags or not 0 <= noun.start - verb.end <= _OBJECT_WITHIN:
        return False
    if _MAKES_CODE.match(prose, noun.end):
        return False
    following = next((hit for hit in clause.hits if hit.start >= noun.end), None)
    if following and following.start - noun.end <= 1 and following.tags & CRAFT:
        return False
    return not any(hit.tags & CRAFT for hit in clause.hits if verb.end <= hit.start < noun.start)
