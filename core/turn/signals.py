"""Weighs what shows that a prompt is about code.

Law: one sure sign is enough, two weak ones are needed; words from outside the craft weigh against weak
signs, never against sure ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ..texts.opening_phrases import CORRECTIONS, DENIALS, UPGRADES
from ..texts.phrases import Tag
from .clauses import Clause, is_noun
from .lexicon import Hit
from .mask import Masked, Span, Voice
from .opening import NO_OPENING, Opening
from .reading import Signal, SignalType
from .shapes import Kind
from .targets import Mention

MOST = 20
LONGEST = 80
ENOUGH = 2
SURE = 3

WEIGHTS = {Tag.CRAFT3: 3, Tag.CRAFT2: 2, Tag.CRAFT1: 1, Tag.EVERYDAY: -1, Tag.MATHS: -2, Tag.GENERAL: -3}
PASTED = {Voice.FENCE: 4, Voice.LOG: 4, Voice.SOURCE: 3, Voice.INLINE: 2}
WHERE_PLACED = 2

_LOOKS_LIKE_CODE = re.compile(
    r"^[`~]{3,}[ ]?\w|[;{}]\s*$|\w\([^)\n]{0,80}\)|[=!<>]=|=>|->|::|</|^[+-]\s?\w"
    r"|\b(?:def|return|import|const|class)\s|\w\s=\s|Error\b|Exception\b|^\s*[$#]\s\w",
    re.MULTILINE,
)
_VERSION = re.compile(r"[^.!?\n]{1,60}?\sv?\d+(?:\.\d+)+\b|[^.!?\n]{1,60}?\sv\d+\b")
"""What an upgrade names: to v10, from 1.2 to 1.3."""

_SOMEBODYS = re.compile(
    r"\s*(?:my|his|her|me|us|up|yourself|english|grammar|punctuation|spelling)\b"
    r"|\s*(?:this|that|it|all|everything|now|again|already)?\s*(?:$|[.,!?，。！？])",
    re.IGNORECASE,
)
_AGAINST = frozenset({Tag.EVERYDAY, Tag.MATHS, Tag.GENERAL, Tag.TEXT})
_NAME = re.compile(r"\W[A-Za-z_][\w.-]{1,60}\W")
_OPTION = re.compile(r"(?<![\w-])--([a-z][a-z0-9]{1,30}(?:-[a-z0-9]{1,30}){0,6})(?![\w-])")
_DONE_BY_CODE = frozenset({Tag.SYMPTOM, Tag.PLACE, Tag.CRAFT1, Tag.CRAFT2, Tag.CRAFT3})
_MARKS = re.compile(r"[\\^$(){}\[\]=<>_|&]")
_CHINESE = re.compile(r"[\u4e00-\u9fff]")


@dataclass(frozen=True, slots=True)
class Sign:
    """One reason for or, with a negative weight, against; ``what`` is the same for the same words."""

    type: SignalType
    start: int
    end: int
    weight: int
    what: str


def weigh(
    masked: Masked, clauses: Iterable[Clause], mentions: Iterable[Mention], opening: Opening = NO_OPENING
) -> tuple[Sign, ...]:
    """The signs in ``clauses``, in the ``mentions`` and in what is pasted, in order of appearance."""
    in_chinese = bool(_CHINESE.search(masked.prose))
    clauses = tuple(clauses)
    found = [sign for clause in clauses for sign in _of_clause(clause, in_chinese)]
    found += _of_opening(masked, clauses, opening, in_chinese)
    found += _of_names(masked, clauses)
    found += [_of_mention(mention) for mention in mentions if mention.weight]
    found += [sign for span in masked.spans if (sign := _of_span(span, masked.text))]
    return tuple(sorted(found, key=lambda sign: (sign.start, sign.end)))


def speaking(
    mentions: Iterable[Mention], clauses: Iterable[Clause], kept: Iterable[Clause], with_denied: bool
) -> tuple[Mention, ...]:
    """The mentions that count: those in clauses that are ``kept``, and, ``with_denied``, after "don't" too."""
    starts = {clause.start for clause in kept}
    silent = [(c.start if c.start not in starts else c.end if with_denied else c.muted_from, c.end) for c in clauses]
    counted = []
    at = 0
    for mention in mentions:
        while at < len(silent) and silent[at][1] <= mention.start:
            at += 1
        if at == len(silent) or mention.start < silent[at][0]:
            counted.append(mention)
    return tuple(counted)


def is_about_code(signs: Iterable[Sign], is_request: bool, deeds: frozenset[int] = frozenset()) -> bool:
    """Whether the signs are enough.

    Ordinary words alone are when there are three, or two with a request (or a fault told of) and nothing against them,
    or one that a deed in ``deeds`` (where the verbs of work and the faults stand) is done to: "add retries".
    """
    signs = tuple(signs)
    weights = {sign.what: sign.weight for sign in signs}
    certain = sum(weight for what, weight in weights.items() if weight >= SURE and not what.startswith("word:"))
    vague = sum(weights.values()) - certain
    total = certain + max(vague, 0)
    heaviest = max(weights.values(), default=0)
    if min(weights.values(), default=0) >= 0:
        worked_on = bool(deeds) and any(sign.weight > 0 and sign.start not in deeds for sign in signs)
        if worked_on or (is_request and total >= ENOUGH):
            return True
    return total >= ENOUGH and (heaviest >= ENOUGH or total > ENOUGH)


def signals_of(masked: Masked, signs: Iterable[Sign]) -> tuple[Signal, ...]:
    """The signs for code as the report shows them: in order, each once, at most twenty."""
    seen: dict[str, Signal] = {}
    for sign in signs:
        words = " ".join(masked.text[sign.start : sign.end].split())[:LONGEST].strip()
        if sign.weight > 0 and words and words not in seen:
            seen[words] = Signal(sign.type, words)
    return tuple(seen.values())[:MOST]


def _of_opening(masked: Masked, clauses: tuple[Clause, ...], opening: Opening, in_chinese: bool) -> Iterator[Sign]:
    """A prompt that begins as commit messages do ("fix …", "fix: …") is about code while nothing speaks against it."""
    hits = [hit for clause in clauses for hit in clause.hits]
    if any(hit.tags & _AGAINST for hit in hits) or _SOMEBODYS.match(masked.prose, opening.start):
        return
    if opening.weight:
        yield Sign(SignalType.IMPLICIT, 0, opening.start, opening.weight, "label")
    first = next((hit for hit in hits if hit.start >= opening.start), None)
    if (
        in_chinese
        or not first
        or first.start != opening.start
        or is_noun(first)
        or _SOMEBODYS.match(masked.prose, first.end)
    ):
        return
    if Tag.DEBUG in first.tags:
        weight = 1 if first.phrase in CORRECTIONS else ENOUGH
        yield Sign(SignalType.IMPLICIT, first.start, first.end, weight, "opens:" + first.phrase)
    elif first.phrase in DENIALS and any(hit.tags & _DONE_BY_CODE for hit in hits if 0 <= hit.start - first.end <= 1):
        yield Sign(SignalType.IMPLICIT, first.start, first.end, 1, "opens:" + first.phrase)
    elif first.phrase in UPGRADES and _VERSION.match(masked.prose, first.end):
        yield Sign(SignalType.IMPLICIT, first.start, first.end, ENOUGH, "opens:" + first.phrase)


def _of_names(masked: Masked, clauses: Iterable[Clause]) -> Iterator[Sign]:
    """Words in quotation marks that the sentence calls a parameter, a module; and options of a command line."""
    called = {hit.start for clause in clauses for hit in clause.said if hit.tags & {Tag.CRAFT2, Tag.CRAFT3}}
    for span in masked.spans:
        if (
            span.voice is Voice.QUOTE
            and called & {span.end, span.end + 1}
            and _NAME.fullmatch(masked.text, span.start, span.end)
        ):
            yield Sign(SignalType.IMPLICIT, span.start, span.end, ENOUGH, masked.text[span.start : span.end])
    for found in _OPTION.finditer(masked.prose):
        weight = ENOUGH if "-" in found[1] else 1
        yield Sign(SignalType.IMPLICIT, found.start(), found.end(), weight, found[0])


def _of_clause(clause: Clause, in_chinese: bool) -> Iterator[Sign]:
    asks_where = clause.says(Tag.WHERE) or any(hit.phrase in ("how is", "how are") for hit in clause.hits)
    for hit in clause.hits:
        if hit.start >= clause.muted_from:
            return
        weight = _weight(hit, in_chinese)
        if asks_where and Tag.PLACE in hit.tags:
            weight = max(weight, WHERE_PLACED)
        if Tag.PAST in hit.tags:
            yield Sign(SignalType.HISTORICAL, hit.start, hit.end, max(weight, 1), "word:" + hit.phrase)
        elif weight:
            yield Sign(SignalType.IMPLICIT, hit.start, hit.end, weight, "word:" + hit.phrase)


def _weight(hit: Hit, in_chinese: bool) -> int:
    if hit.phrase == "bug" and in_chinese:
        return 2  # in Chinese prose the English word is never an insect
    return max((WEIGHTS[tag] for tag in hit.tags & WEIGHTS.keys()), default=0)


def _of_mention(mention: Mention) -> Sign:
    sure = mention.weight >= SURE
    kind = SignalType.EXPLICIT if sure or mention.kind is not Kind.SYMBOL else SignalType.IMPLICIT
    return Sign(kind, mention.start, mention.end, mention.weight, f"{mention.kind}:{mention.name}")


def _of_span(span: Span, text: str) -> Sign | None:
    weight = PASTED.get(span.voice, 0)
    if not weight or (span.voice is Voice.FENCE and not _LOOKS_LIKE_CODE.search(text, span.start, span.end)):
        return None
    if span.voice is Voice.INLINE and _MARKS.search(text, span.start, span.end):
        weight = SURE
    return Sign(SignalType.CODE, span.start, span.end, weight, span.voice)
