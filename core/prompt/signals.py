"""Find the signals that a prompt is about code: what the report lists, and whether one of them leaves no doubt."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from upbeat.core.prompt.analysis import PromptSignal, SignalType
from upbeat.core.prompt.clauses import Clause, is_used_as_noun
from upbeat.core.prompt.entities import CERTAIN_WEIGHT, Mention, MentionKind
from upbeat.core.prompt.phrases import (
    AMBIGUOUS_REPAIR_WORDS,
    NEGATIONS,
    NO_OPENING,
    UPGRADE_WORDS,
    PhraseTag,
    PromptOpening,
)
from upbeat.core.prompt.quoted_spans import MaskedPrompt, SpanKind

MAX_SIGNALS = 20
MAX_SIGNAL_LENGTH = 80
SUFFICIENT_WEIGHT = 2

TAG_WEIGHTS = {
    PhraseTag.STRONG_TECH_TERM: 3,
    PhraseTag.TECH_TERM: 2,
    PhraseTag.WEAK_TECH_TERM: 1,
}
SPAN_WEIGHTS = {SpanKind.FENCE: 4, SpanKind.LOG: 4, SpanKind.SOURCE: 3, SpanKind.INLINE: 2}
WHERE_QUESTION_WEIGHT = 2

_LOOKS_LIKE_CODE = re.compile(
    r"^[`~]{3,}[ ]?\w|[;{}]\s*$|\w\([^)\n]{0,80}\)|[=!<>]=|=>|->|::|</|^[+-]\s?\w"
    r"|\b(?:def|return|import|const|class)\s|\w\s=\s|Error\b|Exception\b|^\s*[$#]\s\w",
    re.MULTILINE,
)
_VERSION = re.compile(r"[^.!?\n]{1,60}?\sv?\d+(?:\.\d+)+\b|[^.!?\n]{1,60}?\sv\d+\b")
"""The version of an upgrade: to v10, from 1.2 to 1.3."""

_PERSONAL_OBJECT = re.compile(
    r"\s*(?:my|his|her|me|us|up|yourself|english|grammar|punctuation|spelling)\b"
    r"|\s*(?:this|that|it|all|everything|now|again|already)?\s*(?:$|[.,!?，。！？])",
    re.IGNORECASE,
)
_TECH_TAGS = frozenset({PhraseTag.TECH_TERM, PhraseTag.STRONG_TECH_TERM})
_NON_CODE_TAGS = frozenset({PhraseTag.NON_TECHNICAL, PhraseTag.MATHS, PhraseTag.GENERAL_KNOWLEDGE, PhraseTag.TEXT})
_QUOTED_NAME = re.compile(r"\W[A-Za-z_][\w.-]{1,60}\W")
_COMMAND_LINE_OPTION = re.compile(r"(?<![\w-])--([a-z][a-z0-9]{1,30}(?:-[a-z0-9]{1,30}){0,6})(?![\w-])")
_PROGRAM_TAGS = _TECH_TAGS | {PhraseTag.SYMPTOM, PhraseTag.IMPLEMENTATION_VERB, PhraseTag.WEAK_TECH_TERM}
_CODE_CHARACTERS = re.compile(r"[\\^$(){}\[\]=<>_|&]")
_CHINESE = re.compile(r"[\u4e00-\u9fff]")


@dataclass(frozen=True, slots=True)
class WeightedSignal:
    """A signal for code; ``key`` is the same for the same words."""

    type: SignalType
    start: int
    end: int
    weight: int
    key: str


def weigh_signals(
    masked: MaskedPrompt, clauses: Iterable[Clause], mentions: Iterable[Mention], opening: PromptOpening = NO_OPENING
) -> tuple[WeightedSignal, ...]:
    """Return the signals in ``clauses``, in ``mentions`` and in pasted text, in order of appearance."""
    is_chinese = bool(_CHINESE.search(masked.prose))
    clauses = tuple(clauses)
    signals = [signal for clause in clauses for signal in _clause_signals(clause, is_chinese)]
    signals += _opening_signals(masked, clauses, opening, is_chinese)
    signals += _name_signals(masked, clauses)
    for mention in mentions:
        if mention.weight:
            is_explicit = mention.weight >= CERTAIN_WEIGHT or mention.kind is not MentionKind.SYMBOL
            kind = SignalType.EXPLICIT if is_explicit else SignalType.IMPLICIT
            key = f"{mention.kind}:{mention.name}"
            signals.append(WeightedSignal(kind, mention.start, mention.end, mention.weight, key))
    for span in masked.spans:
        weight = SPAN_WEIGHTS.get(span.kind, 0)
        if span.kind is SpanKind.FENCE and not _LOOKS_LIKE_CODE.search(masked.text, span.start, span.end):
            weight = 0
        elif span.kind is SpanKind.INLINE and _CODE_CHARACTERS.search(masked.text, span.start, span.end):
            weight = CERTAIN_WEIGHT
        if weight:
            signals.append(WeightedSignal(SignalType.CODE, span.start, span.end, weight, span.kind))
    return tuple(sorted(signals, key=lambda signal: (signal.start, signal.end)))


def select_counted_mentions(
    mentions: Iterable[Mention], clauses: Iterable[Clause], kept_clauses: Iterable[Clause], include_negated: bool
) -> tuple[Mention, ...]:
    """Return the mentions in ``kept_clauses``; with ``include_negated`` those after "don't", too."""
    starts = {clause.start for clause in kept_clauses}
    ignored = [
        (c.start if c.start not in starts else c.end if include_negated else c.ignored_from, c.end) for c in clauses
    ]
    counted = []
    index = 0
    for mention in mentions:
        while index < len(ignored) and ignored[index][1] <= mention.start:
            index += 1
        if index == len(ignored) or mention.start < ignored[index][0]:
            counted.append(mention)
    return tuple(counted)


def shows_code(signals: Iterable[WeightedSignal]) -> bool:
    """Return whether a signal leaves no doubt that the prompt is about code: a name, an error, pasted code."""
    return any(signal.weight >= CERTAIN_WEIGHT and not signal.key.startswith("word:") for signal in signals)


def to_prompt_signals(masked: MaskedPrompt, signals: Iterable[WeightedSignal]) -> tuple[PromptSignal, ...]:
    """Return the signals for code as the report lists them: in order, each once, at most ``MAX_SIGNALS``."""
    prompt_signals: dict[str, PromptSignal] = {}
    for signal in signals:
        match = " ".join(masked.text[signal.start : signal.end].split())[:MAX_SIGNAL_LENGTH].strip()
        if match:
            prompt_signals.setdefault(match, PromptSignal(signal.type, match))
    return tuple(prompt_signals.values())[:MAX_SIGNALS]


def _opening_signals(
    masked: MaskedPrompt, clauses: tuple[Clause, ...], opening: PromptOpening, is_chinese: bool
) -> Iterator[WeightedSignal]:
    """Yield signals of a commit-message opening ("fix …", "fix: …"), unless something contradicts them."""
    hits = [hit for clause in clauses for hit in clause.hits]
    if any(hit.tags & _NON_CODE_TAGS for hit in hits) or _PERSONAL_OBJECT.match(masked.prose, opening.start):
        return
    if opening.weight:
        yield WeightedSignal(SignalType.IMPLICIT, 0, opening.start, opening.weight, "label")
    first = next((hit for hit in hits if hit.start >= opening.start), None)
    if (
        is_chinese
        or not first
        or first.start != opening.start
        or is_used_as_noun(first)
        or _PERSONAL_OBJECT.match(masked.prose, first.end)
    ):
        return
    weight = 0
    if PhraseTag.DEBUG in first.tags:
        weight = 1 if first.phrase in AMBIGUOUS_REPAIR_WORDS else SUFFICIENT_WEIGHT
    elif first.phrase in NEGATIONS and any(hit.tags & _PROGRAM_TAGS for hit in hits if 0 <= hit.start - first.end <= 1):
        weight = 1
    elif first.phrase in UPGRADE_WORDS and _VERSION.match(masked.prose, first.end):
        weight = SUFFICIENT_WEIGHT
    if weight:
        yield WeightedSignal(SignalType.IMPLICIT, first.start, first.end, weight, "opens:" + first.phrase)


def _name_signals(masked: MaskedPrompt, clauses: Iterable[Clause]) -> Iterator[WeightedSignal]:
    """Yield quoted words that the sentence calls a parameter or a module, and command-line options."""
    term_offsets = {hit.start for clause in clauses for hit in clause.asserted_hits if hit.tags & _TECH_TAGS}
    for span in masked.spans:
        if (
            span.kind is SpanKind.QUOTE
            and term_offsets & {span.end, span.end + 1}
            and _QUOTED_NAME.fullmatch(masked.text, span.start, span.end)
        ):
            key = masked.text[span.start : span.end]
            yield WeightedSignal(SignalType.IMPLICIT, span.start, span.end, SUFFICIENT_WEIGHT, key)
    for match in _COMMAND_LINE_OPTION.finditer(masked.prose):
        weight = SUFFICIENT_WEIGHT if "-" in match[1] else 1
        yield WeightedSignal(SignalType.IMPLICIT, match.start(), match.end(), weight, match[0])


def _clause_signals(clause: Clause, is_chinese: bool) -> Iterator[WeightedSignal]:
    asks_where = PhraseTag.WHERE in clause.asserted_tags or any(
        hit.phrase in ("how is", "how are") for hit in clause.hits
    )
    for hit in clause.hits:
        if hit.start >= clause.ignored_from:
            return
        weight = max((TAG_WEIGHTS[tag] for tag in hit.tags & TAG_WEIGHTS.keys()), default=0)
        if hit.phrase == "bug" and is_chinese:
            weight = 2  # in Chinese prose, the English word never means an insect
        if asks_where and PhraseTag.IMPLEMENTATION_VERB in hit.tags:
            weight = max(weight, WHERE_QUESTION_WEIGHT)
        if PhraseTag.HISTORY in hit.tags:
            yield WeightedSignal(SignalType.HISTORICAL, hit.start, hit.end, max(weight, 1), "word:" + hit.phrase)
        elif weight:
            yield WeightedSignal(SignalType.IMPLICIT, hit.start, hit.end, weight, "word:" + hit.phrase)
