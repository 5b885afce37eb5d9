"""Understands a prompt: what is wanted, how that shows, and what it is about.

Law: total and linear; the user's own prose says what is wanted, what is pasted or quoted only what it
is about. A prompt without evidence of code in a repository has the intent ``none``.

How the intent is found: the prose is cut into clauses. In each the first request governs ("add a check
that fixes the dates" wants something added). A clause that asks for a translation or for a letter counts
for nothing, and with it, where it points at text, all the rest. Of what is left, a fault that somebody
tells of makes it debug, else the first that is asked for of debug, refactor, docs, feature. A question
about the code is docs. Code without any request is debug when it is an error, docs when it is a
question, and feature otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..texts.opening_phrases import TYPES
from ..texts.phrases import Tag, words
from .clauses import cut
from .lexicon import Hit, find_phrases, fold
from .mask import PASTED, Masked, Voice, clip, mask
from .opening import MARK, as_told, read_opening
from .reading import Intent, Reading
from .requests import Heard, deeds_of, hear
from .shapes import Kind
from .signals import is_about_code, signals_of, speaking, weigh
from .targets import Mention, find_mentions, targets_of
from .writing import without_writing

LONGEST_QUERY = 6000

_COMMAND = re.compile(r"\s*/([a-z][a-z0-9:_-]{0,40})(?=\s|$)")
_CLIENT_COMMANDS = words(
    """
    clear compact model models help exit quit resume cost status config login logout memory init permissions mcp hooks
    agents doctor bug vim ide theme add-dir export usage context rewind new approvals mention undo fast plugin skills
    tasks"""
)
_QUESTION = re.compile(r"[?？][ \t]*$|[吗嗎呢么麼][ \t]*$", re.MULTILINE)


def read(prompt: str) -> Reading:
    """Understand ``prompt``; takes any string, raises nothing."""
    text = clip(prompt)
    command = _COMMAND.match(text)
    if command and command[1] in _CLIENT_COMMANDS:
        return Reading(Intent.NONE)
    masked = mask(text)
    opening = read_opening(fold(masked.prose))
    mentions = tuple(one for one in find_mentions(masked) if one.start >= opening.start or one.name not in TYPES)
    prose = fold(_without(masked.prose, mentions))
    clauses = cut(prose, as_told(prose, find_phrases(prose), opening))
    kept = without_writing(clauses, prose, mentions)
    heard = [hear(clause) for clause in kept]
    # "Don't change parser.py, explain it" is about parser.py; "don't touch x.py, what's the weather" is not.
    asks_more = any(one.request and one.request is not Tag.ASK for one in heard)
    counted = speaking(mentions, clauses, kept, asks_more)
    signs = weigh(masked, kept, counted, opening)
    targets = targets_of(mentions, text)
    query = _query(masked, targets.files + targets.symbols + targets.errors)
    is_request = any(one.request or one.fault or one.tags & {Tag.CHANGE, Tag.ATTEND} for one in heard)
    if (clauses and not kept) or not is_about_code(signs, is_request, deeds_of(kept)):
        return Reading(Intent.NONE, targets=targets, query=query)
    shows_error = any(mention.kind is Kind.ERROR for mention in counted)
    intent = _decide(heard, shows_error, bool(_QUESTION.search(masked.prose)))
    deep = any(_wants_depth(hit) for clause in kept for hit in clause.said)
    return Reading(intent, signals_of(masked, signs), targets, query, deep)


def _wants_depth(hit: Hit) -> bool:
    return Tag.DEPTH in hit.tags and hit.before != "no" and not hit.before.endswith(("没", "没有", "不", "无"))


def _without(prose: str, mentions: Iterable[Mention]) -> str:
    """``prose`` with marks in place of what it names: in get_name stands no "get"."""
    parts: list[str] = []
    at = 0
    for mention in mentions:
        if mention.voice is None and mention.start >= at and mention.weight > 1:
            parts += [prose[at : mention.start], MARK * (mention.end - mention.start)]
            at = mention.end
    return "".join(parts) + prose[at:]


def _decide(heard: list[Heard], shows_error: bool, is_question: bool) -> Intent:
    """What is wanted in all, of a prompt about code."""
    asked = {one.request for one in heard if one.request}
    tags = frozenset(tag for one in heard for tag in one.tags)
    only_asks = asked <= {Tag.ASK}
    may_be_broken = shows_error or any(one.fault for one in heard)
    is_broken = any(one.fault == 2 and Tag.WHERE not in one.tags for one in heard)
    is_broken = is_broken or (may_be_broken and (Tag.WHY in tags or not (asked or Tag.CHANGE in tags)))
    is_broken = is_broken or (shows_error and only_asks and Tag.WHERE not in tags)
    if is_broken or Tag.DEBUG in asked:
        return Intent.DEBUG
    if Tag.REFACTOR in asked or (only_asks and Tag.SLOW in tags):
        return Intent.REFACTOR
    if asked & {Tag.DOCS, Tag.ASK}:
        return Intent.DOCS
    if not asked and (is_question or Tag.HOW in tags):
        return Intent.DOCS
    return Intent.FEATURE


def _query(masked: Masked, names: Iterable[str]) -> str:
    """The user's own lines, with what they quote, and then the names that are only in what was pasted.

    A search weighs the first line and the others apart, so that lines stay lines.
    """
    own = []
    at = 0
    for span in masked.spans:
        if span.voice in PASTED or span.voice is Voice.URL:
            own.append(masked.text[at : span.start])
            at = span.end
    prose = _tidy("".join([*own, masked.text[at:]]))
    missing = [line for name in names if (line := " ".join(name.split())) not in prose]
    room = LONGEST_QUERY - min(LONGEST_QUERY // 2, sum(len(name) + 1 for name in missing))
    query = _ends(prose, room)
    for name in missing:
        if len(query) + 1 + len(name) <= LONGEST_QUERY:
            query = f"{query}\n{name}".strip()
    return query


def _ends(text: str, room: int) -> str:
    """The beginning and the end of ``text``: a question stands before what was pasted with it, or after."""
    if len(text) <= room:
        return text
    half = (room - 1) // 2
    return f"{text[:half].rstrip()} {text[-half:].lstrip()}"


def _tidy(text: str) -> str:
    """The lines of ``text`` as far as they say something: their indentation, and single spaces between words."""
    lines = []
    for line in text.expandtabs(4).splitlines():
        words_only = " ".join(line.split())
        if words_only:
            lines.append(" " * (len(line) - len(line.lstrip())) + words_only)
    return "\n".join(lines).strip()
