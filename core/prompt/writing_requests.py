"""Drop the clauses that request a translation, a letter or other text instead of work on code.

Invariant: "translate" and "write an email" are about text unless their object is clearly code: "translate the comments
in utils.py", "write an email validator".
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from upbeat.core.prompt.clauses import Clause, is_request_verb
from upbeat.core.prompt.entities import Mention
from upbeat.core.prompt.phrases import PhraseHit, PhraseTag
from upbeat.core.prompt.quoted_spans import SpanKind
from upbeat.core.prompt.signals import CERTAIN_WEIGHT

TECH_TERM_TAGS = frozenset({PhraseTag.WEAK_TECH_TERM, PhraseTag.TECH_TERM, PhraseTag.STRONG_TECH_TERM})
_MAX_OBJECT_DISTANCE = 40
_CODE_NOUN_SUFFIX = re.compile(r"\s?(?:的|功能|模板|服务|接口|模块|页|\x01)")


def drop_writing_requests(clauses: tuple[Clause, ...], prose: str, mentions: tuple[Mention, ...]) -> tuple[Clause, ...]:
    """Return the clauses that may be about code.

    After a request to work on text in the prompt, only the clauses before it are kept, if one of them names code.
    """
    kept: list[Clause] = []
    is_prose = False
    for clause in clauses:
        verb = next((hit for hit in clause.asserted_hits if PhraseTag.COMPOSE in hit.tags), None)
        composes = verb is not None and any(_is_object_of(verb, hit, clause, prose) for hit in clause.hits)
        if composes or _targets_text(clause, mentions):
            if clause.terminator in (":", "：") or any(PhraseTag.DEICTIC in hit.tags for hit in clause.hits):
                return tuple(kept) if any(_names_code(earlier, mentions) for earlier in kept) else ()
            is_prose = composes
        elif not is_prose:
            kept.append(clause)
        # "Write a mail to the team, saying that the API is up": the content is no request either.
        is_prose = is_prose and clause.terminator in (",", "，")
    return tuple(kept)


def _targets_text(clause: Clause, mentions: Iterable[Mention]) -> bool:
    """Return whether the clause requests a translation, or announces a text."""
    if not clause.asserts_any(PhraseTag.NON_CODE_TASK, PhraseTag.TEXT):
        return False
    if (
        clause.terminator in (":", "：")
        and clause.asserts_any(PhraseTag.TEXT)
        and not any(hit.tags & TECH_TERM_TAGS for hit in clause.hits)
    ):
        return True
    request = next((hit for hit in clause.asserted_hits if is_request_verb(hit)), None)
    if not request or PhraseTag.NON_CODE_TASK not in request.tags:
        return False
    names_code = any(
        hit.tags & {PhraseTag.STRONG_TECH_TERM, PhraseTag.TECH_TERM, PhraseTag.DOCS_NOUN} for hit in clause.hits
    )
    return not _names_code(clause, mentions) and (clause.asserts_any(PhraseTag.TEXT) or not names_code)


def _names_code(clause: Clause, mentions: Iterable[Mention]) -> bool:
    """Return whether the clause names a file or an identifier outside quotation marks."""
    return any(
        mention.span_kind is not SpanKind.QUOTE
        and mention.weight >= CERTAIN_WEIGHT
        and clause.start <= mention.start < clause.end
        for mention in mentions
    )


def _is_object_of(verb: PhraseHit, noun: PhraseHit, clause: Clause, prose: str) -> bool:
    """Return whether ``noun`` is text that ``verb`` requests, and not part of a technical term."""
    if PhraseTag.TEXT not in noun.tags or not 0 <= noun.start - verb.end <= _MAX_OBJECT_DISTANCE:
        return False
    if _CODE_NOUN_SUFFIX.match(prose, noun.end):
        return False
    following = next((hit for hit in clause.hits if hit.start >= noun.end), None)
    if following and following.start - noun.end <= 1 and following.tags & TECH_TERM_TAGS:
        return False
    return not any(hit.tags & TECH_TERM_TAGS for hit in clause.hits if verb.end <= hit.start < noun.start)
