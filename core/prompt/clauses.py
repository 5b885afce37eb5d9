"""Split the user's prose into clauses, and parse what each requests, states and negates.

Invariants: a negation reaches to the end of its clause, never into the next one, except along a list that ends in
"or": "don't rename, move, or split it". The first request of a clause governs it: "add a command that cleans the
cache" requests an addition; what follows the first verb only says what it is about. "Translate" and "write an email"
are about text unless their object is clearly code: "translate the comments in utils.py", "write an email validator".
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from upbeat.core.prompt.entities import CERTAIN_WEIGHT, Mention
from upbeat.core.prompt.phrases import REQUEST_TAGS, TECH_TERM_TAGS, PhraseHit, PhraseTag, parse_words
from upbeat.core.prompt.quoted_spans import SpanKind

_CLAUSE_OPENING_TAGS = REQUEST_TAGS | {
    PhraseTag.UNSPECIFIED_CHANGE,
    PhraseTag.UNSPECIFIED_TASK,
    PhraseTag.QUESTION,
    PhraseTag.WHERE,
    PhraseTag.WHY,
    PhraseTag.NEGATION,
}

_CLAUSE_END = re.compile(r"[.!?,;:](?=\s|$|[\"'”」』)])|[，。！？；：\n…]|\s(?:-{1,2}|—)\s|(?<=\s)\(")
_WORDS_BEFORE_REQUEST = parse_words("you please i we but just so and really also to would they say said")
_DETERMINERS = parse_words("the a an this that my your our its their last previous latest any some each every of")
_CHINESE_NEGATIONS = ("没", "没有", "未", "不")
_OR_LIST = re.compile(r"(?:[^.!?;:\n，。！？；,]{1,60}, ?){1,6}or\b")
_MAX_VERB_DISTANCE = 25
"""Characters between "and" and the verb that makes it the beginning of a clause."""
_WORK_KINDS = (PhraseTag.DEBUG, PhraseTag.REFACTOR, PhraseTag.DOCS, PhraseTag.FEATURE)
_QUESTION_TAGS = frozenset({PhraseTag.QUESTION, PhraseTag.WHERE, PhraseTag.WHY})
_CREATING_TAGS = frozenset({PhraseTag.FEATURE, PhraseTag.REFACTOR})
_CHANGING_TAGS = frozenset({PhraseTag.FEATURE, PhraseTag.REFACTOR, PhraseTag.UNSPECIFIED_CHANGE})
_MAX_NOUN_AFTER = 40
_MAX_NOUN_BEFORE = 3


@dataclass(frozen=True, slots=True)
class Clause:
    """A span of prose. ``hits`` are its phrases; ``terminator`` is the punctuation that ends it.

    ``asserted_hits`` are the hits that are not negated, ``asserted_tags`` their tags. Names from ``ignored_from`` on do
    not count.
    """

    start: int
    end: int
    terminator: str
    hits: tuple[PhraseHit, ...]
    asserted_hits: tuple[PhraseHit, ...]
    asserted_tags: frozenset[PhraseTag]
    ignored_from: int


@dataclass(frozen=True, slots=True)
class ClauseIntent:
    """The meaning of a clause.

    ``request`` is DEBUG, REFACTOR, DOCS, FEATURE, QUESTION or None. ``fault_level`` is 2 if something is stated to be
    broken, 1 if it may be, else 0. ``tags`` are all that are not negated.
    """

    request: PhraseTag | None
    fault_level: int
    tags: frozenset[PhraseTag]


def split_clauses(prose: str, hits: tuple[PhraseHit, ...]) -> tuple[Clause, ...]:
    """Return the clauses of simplified ``prose`` that have hits or are negated, in order; they contain all ``hits``."""
    clauses: list[Clause] = []
    negated_to = index = 0
    for start, end, terminator in _clause_spans(prose, hits):
        first = index
        while index < len(hits) and hits[index].start < end:
            index += 1
        own = hits[first:index]
        ignored = next((hit.start for hit in own if _negates_request(hit, start)), end)
        negated = next((hit.start for hit in own if PhraseTag.EXCLUSION in hit.tags and hit.start < ignored), ignored)
        if start < negated_to:
            negated = ignored = start
        elif ignored < end and (rest := _OR_LIST.match(prose, ignored)):
            negated_to = rest.end()
        if own or ignored < end:
            asserted = tuple(hit for hit in own if hit.start < negated)
            tags = frozenset(tag for hit in asserted for tag in hit.tags)
            clauses.append(Clause(start, end, terminator, own, asserted, tags, ignored))
    return tuple(clauses)


def is_request_verb(hit: PhraseHit) -> bool:
    """Return whether ``hit`` is a verb that requests something."""
    return bool(hit.tags & REQUEST_TAGS) and not is_used_as_noun(hit)


def is_used_as_noun(hit: PhraseHit) -> bool:
    """Return whether the preceding word makes it a noun ("the fix") or something not done (没有实现)."""
    return hit.preceding_word in _DETERMINERS or hit.preceding_word.endswith(_CHINESE_NEGATIONS)


def _clause_spans(prose: str, hits: tuple[PhraseHit, ...]) -> list[tuple[int, int, str]]:
    """Return start, end and terminator of each clause: split at punctuation, "but", and "and" before a verb."""
    cuts = [(match.start(), match.end(), match[0].strip()) for match in _CLAUSE_END.finditer(prose)]
    cuts += [(hit.start, hit.start, "") for hit in hits if PhraseTag.CLAUSE_BREAK in hit.tags]
    cuts += [
        (hit.start, hit.start, "")
        for hit, following in pairwise(hits)
        if PhraseTag.AND in hit.tags
        and following.start - hit.end < _MAX_VERB_DISTANCE
        and following.tags & _CLAUSE_OPENING_TAGS
    ]
    spans = []
    start = 0
    for low, high, terminator in [*sorted(cuts), (len(prose), len(prose), "")]:
        text = prose[start:low].lstrip()
        if text:
            spans.append((low - len(text), low, terminator))
        start = max(start, high)
    return spans


def _negates_request(hit: PhraseHit, start: int) -> bool:
    """Return whether ``hit`` negates a request; "users don't get mails" states what happens instead."""
    return PhraseTag.NEGATION in hit.tags and (
        hit.phrase > "\x7f"
        or not hit.preceding_word
        or hit.start == start
        or hit.preceding_word in _WORDS_BEFORE_REQUEST
    )


def parse_clause(clause: Clause) -> ClauseIntent:
    """Return what ``clause`` requests and states."""
    hits = clause.asserted_hits
    request, offset = _first_request(clause, hits)
    fault_level = _fault_level(hits, until=offset if request in _CREATING_TAGS else clause.end)
    purposes = (hit for hit in hits if hit.preceding_word == "to" or hit.preceding_word.endswith(("来", "以")))
    if request in _CREATING_TAGS and any(PhraseTag.DEBUG in hit.tags for hit in purposes):
        request = PhraseTag.DEBUG  # "add a lock to fix the race"
    if _targets_docs(request, clause):
        request = PhraseTag.DOCS
    return ClauseIntent(request, fault_level, clause.asserted_tags)


def _first_request(clause: Clause, hits: Iterable[PhraseHit]) -> tuple[PhraseTag | None, int]:
    """Return the request that governs the clause, and its offset."""
    for hit in hits:
        if is_request_verb(hit):
            return next((tag for tag in _WORK_KINDS if tag in hit.tags), PhraseTag.DOCS), hit.start
        if hit.tags & _QUESTION_TAGS or (PhraseTag.QUESTION_AT_START in hit.tags and hit.start == clause.start):
            return PhraseTag.QUESTION, hit.start
    return None, clause.end


def _fault_level(hits: Iterable[PhraseHit], until: int) -> int:
    """Return how certainly something is broken; after "if" it only may be."""
    level = 0
    is_conditional = False
    for hit in hits:
        if hit.start >= until:
            break
        is_conditional = is_conditional or PhraseTag.CONDITION in hit.tags
        if PhraseTag.SYMPTOM in hit.tags and not is_conditional:
            level = 2
        elif hit.tags & {PhraseTag.SYMPTOM, PhraseTag.POSSIBLE_SYMPTOM}:
            level = max(level, 1)
    return level


def _targets_docs(request: PhraseTag | None, clause: Clause) -> bool:
    """Return whether the object of an addition or change is documentation, or a typo in it."""
    nouns = [hit for hit in clause.hits if PhraseTag.DOCS_NOUN in hit.tags]
    if request is PhraseTag.DEBUG:
        return any(noun.phrase in ("typo", "typos") for noun in nouns)
    if request not in (PhraseTag.FEATURE, PhraseTag.REFACTOR, None):
        return False
    verbs = [hit for hit in clause.asserted_hits if hit.tags & _CHANGING_TAGS]
    return any(
        0 <= noun.start - verb.end <= _MAX_NOUN_AFTER or 0 <= verb.start - noun.end <= _MAX_NOUN_BEFORE
        for noun in nouns
        for verb in verbs
    )


# Requests for text instead of work on code

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
    requests_text = PhraseTag.TEXT in clause.asserted_tags
    if not requests_text and PhraseTag.NON_CODE_TASK not in clause.asserted_tags:
        return False
    if requests_text and clause.terminator in (":", "：") and not any(hit.tags & TECH_TERM_TAGS for hit in clause.hits):
        return True
    request = next((hit for hit in clause.asserted_hits if is_request_verb(hit)), None)
    if not request or PhraseTag.NON_CODE_TASK not in request.tags:
        return False
    names_code = any(
        hit.tags & {PhraseTag.STRONG_TECH_TERM, PhraseTag.TECH_TERM, PhraseTag.DOCS_NOUN} for hit in clause.hits
    )
    return not _names_code(clause, mentions) and (requests_text or not names_code)


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
