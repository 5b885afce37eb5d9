"""Parse the opening of a prompt that begins like a commit message or a one-line report.

Invariant: only the first words count, after a scope or a label. "Fixes the race" states a fix, "don't crash if the
header is empty" what a program shall not do; the same words later in a prompt keep their own meaning.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from upbeat.core.prompt.clauses import REQUEST_TAGS
from upbeat.core.prompt.phrases import PhraseHit, PhraseTag, parse_words, words

REPAIR_WORDS = words("repair")
AMBIGUOUS_REPAIR_WORDS = words("ambiguous_repair")
CHANGE_WORDS = words("change")
BEHAVIOR_WORDS = words("behavior")
PERSON_VERBS = words("person_verb")
UPGRADE_WORDS = words("upgrade")
PERSON_OR_PROGRAM_VERBS = words("person_or_program_verb")
NEGATIONS = frozenset({"don't", "do not", "dont", "must not", "mustn't", "不要", "别", "不许", "禁止", "勿", "请勿"})
"""State what a program shall not do, if they negate no work."""
BARE_COMMIT_TYPES = parse_words("feat fix perf refactor bugfix hotfix regression")
"""Types of a change before a colon: "fix: the header is lost"."""
COMMIT_TYPES = BARE_COMMIT_TYPES | parse_words("build chore ci docs revert style test tests deps")
"""Types of a change with a scope in parentheses: "build(deps): …"."""

_PREFIX = re.compile(
    r"""(?:(?:pr|issue|bug|ticket|gh|\#)[ /-]?\#?\d{1,8}[ :.,-]{1,3}|\[[^\]\n]{1,30}\]|[ \t\n*\#-])*+
    (?:(?P<label>[\w./,*+-]{1,40}(?:,[ ][\w./*+-]{1,30})?)(?P<scope>\([^()\n]{1,60}\))?!?:[ ]{1,2})?""",
    re.VERBOSE,
)
NAME_PLACEHOLDER = "\x01"
"""Replaces each character of a name in the prose; part of no word."""

_LATIN = re.compile(r"[a-z][a-z'-]*")
_CODE_SCOPE = re.compile(r"[/,_*+]|\w\.\w")
_SENTENCE_END = re.compile(r"[.!?,;:](?=\s|$)|[，。！？；：\n]")
_WORK_TAGS = REQUEST_TAGS | {PhraseTag.UNSPECIFIED_CHANGE, PhraseTag.UNSPECIFIED_TASK}
_MAX_CHINESE_LENGTH = 4


@dataclass(frozen=True, slots=True)
class PromptOpening:
    """The opening of a prompt: the offset of its first words, its label or "", and the label's weight as a signal."""

    start: int
    label: str = ""
    weight: int = 0


NO_OPENING = PromptOpening(0)


def parse_opening(prose: str) -> PromptOpening:
    """Return the opening of simplified ``prose``."""
    match = _PREFIX.match(prose)
    if not match:
        return NO_OPENING
    label, start = match["label"] or "", match.end()
    if match["scope"] and label in COMMIT_TYPES:
        return PromptOpening(start, label, 3)
    if label in BARE_COMMIT_TYPES:
        return PromptOpening(start, label, 2)
    return PromptOpening(start, label, 1 if _CODE_SCOPE.search(label) else 0)


def tag_opening(prose: str, hits: tuple[PhraseHit, ...], opening: PromptOpening) -> tuple[PhraseHit, ...]:
    """Return ``hits`` with the meaning that the first words have at the beginning of a prompt."""
    if opening.label in REPAIR_WORDS and not any(hit.start < opening.start for hit in hits):
        start = prose.index(opening.label)
        return (PhraseHit(opening.label, _opening_tags(opening.label), start, start + len(opening.label)), *hits)
    word = _word_at(prose, opening.start)
    first = next((hit for hit in hits if hit.start >= opening.start), None)
    tags = _opening_tags(word)
    if first and first.start == opening.start:
        if first.phrase in NEGATIONS:
            return _retag_negation(prose, hits, first)
        if first.phrase != word or not tags:
            return hits
        return tuple(replace(hit, tags=hit.tags | tags) if hit is first else hit for hit in hits)
    opening_hit = PhraseHit(word, tags, opening.start, opening.start + len(word))
    if not tags or (first and first.start < opening_hit.end):
        return hits
    before = sum(hit.start < opening.start for hit in hits)
    return (*hits[:before], opening_hit, *hits[before:])


def _word_at(prose: str, start: int) -> str:
    """Return the word at ``start``: a Latin word, or a Chinese one of the tables."""
    if match := _LATIN.match(prose, start):
        return match[0]
    candidates = (prose[start : start + length] for length in range(_MAX_CHINESE_LENGTH, 0, -1))
    return next((word for word in candidates if word in BEHAVIOR_WORDS or word in PERSON_VERBS), "")


def _opening_tags(word: str) -> frozenset[PhraseTag]:
    if word in REPAIR_WORDS or word in AMBIGUOUS_REPAIR_WORDS:
        return frozenset({PhraseTag.DEBUG})
    if word in CHANGE_WORDS:
        return frozenset({PhraseTag.UNSPECIFIED_CHANGE})
    return frozenset({PhraseTag.UNSPECIFIED_TASK}) if word in BEHAVIOR_WORDS else frozenset()


def _retag_negation(prose: str, hits: tuple[PhraseHit, ...], negation: PhraseHit) -> tuple[PhraseHit, ...]:
    """Return ``hits`` with ``negation`` as what a program shall not do, unless it addresses the developer."""
    start = len(prose) - len(prose[negation.end :].lstrip())
    if start == len(prose) or _word_at(prose, start) in PERSON_VERBS:
        return hits
    following = next((hit for hit in hits if hit.start == start), None)
    if following and following.tags & _WORK_TAGS and PhraseTag.IMPLEMENTATION_VERB not in following.tags:
        end = _SENTENCE_END.search(prose, start)
        sentence = prose[start : end.start() if end else len(prose)]
        if NAME_PLACEHOLDER not in sentence or following.phrase not in PERSON_OR_PROGRAM_VERBS:
            return hits
    return tuple(replace(hit, tags=frozenset({PhraseTag.UNSPECIFIED_TASK})) if hit is negation else hit for hit in hits)
