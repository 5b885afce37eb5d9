"""Phrases in a prompt: the tables ``phrases.tsv`` and ``words.tsv``, and the search for them.

Invariants: the longest phrase at an offset wins and consumes its characters; a phrase may have several meanings.
Offsets into the simplified text are offsets into the text.

A prompt may begin like a commit message or a one-line report. Only there, after a scope or a label, "Fixes the race"
requests a fix and "don't crash if the header is empty" says what a program shall not do.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache

from upbeat.core.package_data import load_rows, load_text


class PhraseTag(StrEnum):
    """The meaning of a phrase."""

    DEBUG = "debug"
    REFACTOR = "refactor"
    DOCS = "docs"
    FEATURE = "feature"
    NON_CODE_TASK = "non_code_task"
    """Requests something other than work on code: translate, proofread."""
    UNSPECIFIED_CHANGE = "unspecified_change"
    """Requests an unspecified kind of change."""
    UNSPECIFIED_TASK = "unspecified_task"
    """Requests something, perhaps only a look."""
    COMPOSE = "compose"
    """Requests text; before a ``TEXT``, text that is not code."""
    TEXT = "text"
    SYMPTOM = "symptom"
    """States that something is broken."""
    POSSIBLE_SYMPTOM = "possible_symptom"
    """May state that something is broken."""
    PERFORMANCE = "performance"
    QUESTION = "question"
    """Begins a question about what there is."""
    QUESTION_AT_START = "question_at_start"
    """Begins a question, but only at the start of a clause."""
    WHERE = "where"
    IMPLEMENTATION_VERB = "implementation_verb"
    """What code does; after "where", a question about an implementation."""
    WHY = "why"
    HOW = "how"
    """Asks how to do something, or how something is done."""
    DOCS_NOUN = "docs_noun"
    NEGATION = "negation"
    EXCLUSION = "exclusion"
    """Negates what follows in the sentence, but the names in it still count."""
    OR = "or"
    AND = "and"
    CLAUSE_BREAK = "clause_break"
    CONDITION = "condition"
    GENERAL_KNOWLEDGE = "general_knowledge"
    """Requests a definition from a book rather than from a repository."""
    DEICTIC = "deictic"
    """Refers to text elsewhere in the prompt."""
    DEEP_ANALYSIS = "deep_analysis"
    HISTORY = "history"
    STRONG_TECH_TERM = "strong_tech_term"
    TECH_TERM = "tech_term"
    WEAK_TECH_TERM = "weak_tech_term"
    NON_TECHNICAL = "non_technical"
    MATHS = "maths"
    NEUTRAL = "neutral"
    """Means nothing; listed so that no shorter phrase matches inside it."""


REQUEST_TAGS = frozenset(
    {PhraseTag.DEBUG, PhraseTag.REFACTOR, PhraseTag.DOCS, PhraseTag.FEATURE, PhraseTag.NON_CODE_TASK}
)
TECH_TERM_TAGS = frozenset({PhraseTag.WEAK_TECH_TERM, PhraseTag.TECH_TERM, PhraseTag.STRONG_TECH_TERM})


@dataclass(frozen=True, slots=True)
class PhraseHit:
    """A phrase in the text; ``preceding_word`` is the English word or the two Chinese characters before it."""

    phrase: str
    tags: frozenset[PhraseTag]
    start: int
    end: int
    preceding_word: str = ""


def parse_words(text: str) -> frozenset[str]:
    """Return the words of ``text``."""
    return frozenset(text.split())


@cache
def _load_words() -> dict[str, frozenset[str]]:
    lists: dict[str, frozenset[str]] = {}
    for name, row in load_rows(__package__, "words.tsv"):
        lists[name] = lists.get(name, frozenset()) | parse_words(row)
    return lists


def words(name: str) -> frozenset[str]:
    """Return the list ``name`` of ``words.tsv``.

    Raises:
        KeyError: There is no such list.
    """
    return _load_words()[name]


def _load_simplified_table() -> dict[int, str]:
    rows = load_text(__package__, "traditional_characters.tsv").splitlines()
    pairs = "".join(row for row in rows if not row.startswith("#"))
    table = {ord(old): new for old, new in zip(pairs[::2], pairs[1::2], strict=True)}
    # Full-width letters and brackets become ASCII; these marks end a clause in any context.
    table |= {0xFF01 + i: chr(0x21 + i) for i in range(94) if chr(0xFF01 + i) not in "，！？；："}
    table |= {ord("A") + i: chr(ord("a") + i) for i in range(26)}
    return table | {ord("’"): "'", 0x3000: " "}


def _load_phrase_tags() -> dict[str, frozenset[PhraseTag]]:
    tags_by_phrase: dict[str, frozenset[PhraseTag]] = {}
    for tag, phrases in load_rows(__package__, "phrases.tsv"):
        for phrase in phrases.split(", "):
            tags_by_phrase[phrase] = tags_by_phrase.get(phrase, frozenset()) | {PhraseTag(tag)}
    for phrase, tags in list(tags_by_phrase.items()):
        if tags & TECH_TERM_TAGS and "a" <= phrase[-1] <= "z" and phrase[-1] != "s":
            tags_by_phrase.setdefault(phrase + "s", tags & TECH_TERM_TAGS)
    return tags_by_phrase


_TO_SIMPLIFIED = _load_simplified_table()
_TAGS_BY_PHRASE = _load_phrase_tags()
_MAX_LENGTH_BY_FIRST_CHAR: dict[str, int] = {}
_MAX_WORDS_BY_FIRST_WORD: dict[str, int] = {}
for _phrase in _TAGS_BY_PHRASE:
    if _phrase[0] > "\x7f":
        _MAX_LENGTH_BY_FIRST_CHAR[_phrase[0]] = max(_MAX_LENGTH_BY_FIRST_CHAR.get(_phrase[0], 0), len(_phrase))
    else:
        _first, *_rest = _phrase.split()
        _MAX_WORDS_BY_FIRST_WORD[_first] = max(_MAX_WORDS_BY_FIRST_WORD.get(_first, 0), 1 + len(_rest))

_ARTICLES = parse_words("the a an this that my our")
_TOKEN = re.compile(r"[a-z0-9]+(?:['/-][a-z0-9]+)*|[\u3400-\u9fff]+")


def to_simplified(text: str) -> str:
    """Return ``text`` in lower case, simplified characters and half-width letters; each character keeps its offset."""
    return text.translate(_TO_SIMPLIFIED)


def find_phrase_hits(simplified: str) -> tuple[PhraseHit, ...]:
    """Return the phrases in ``simplified`` (see ``to_simplified``), in order and without overlap."""
    hits: list[PhraseHit] = []
    tokens = list(_TOKEN.finditer(simplified))
    end = 0
    for i, token in enumerate(tokens):
        if token.start() < end:
            continue
        if token[0] > "\x7f":
            hits += _match_chinese(simplified, token)
        elif hit := _match_english(simplified, tokens, i):
            is_article = token[0] in _ARTICLES and hit.end != token.end()
            inner = _match_english(simplified, tokens, i + 1) if is_article else None
            if not inner or inner.end <= hit.end:  # the | error handler
                hits.append(hit)
        if hits:
            end = hits[-1].end
    return tuple(hits)


def _match_english(simplified: str, tokens: list[re.Match[str]], i: int) -> PhraseHit | None:
    """Return the longest phrase that begins with token ``i``; its words are at most two characters apart."""
    words = _MAX_WORDS_BY_FIRST_WORD.get(tokens[i][0], 0)
    if not words:
        return None
    start, end = tokens[i].span()
    ends = [end]
    for j in range(i + 1, min(i + words, len(tokens))):
        if not 0 < tokens[j].start() - end <= 2:
            break
        end = tokens[j].end()
        ends.append(end)
    before = tokens[i - 1][0] if i and start - tokens[i - 1].end() == 1 else ""
    for end in reversed(ends):
        phrase = " ".join(simplified[start:end].split())
        if phrase in _TAGS_BY_PHRASE:
            return PhraseHit(phrase, _TAGS_BY_PHRASE[phrase], start, end, before)
    return None


def _match_chinese(simplified: str, token: re.Match[str]) -> Iterator[PhraseHit]:
    """Yield the longest phrases of a run of characters; a phrase may end in a Latin word, as 修bug does."""
    offset = token.start()
    while offset < token.end():
        for length in range(_MAX_LENGTH_BY_FIRST_CHAR.get(simplified[offset], 0), 0, -1):
            phrase = simplified[offset : offset + length]
            if phrase in _TAGS_BY_PHRASE:
                yield PhraseHit(
                    phrase,
                    _TAGS_BY_PHRASE[phrase],
                    offset,
                    offset + len(phrase),
                    simplified[max(offset - 2, 0) : offset],
                )
                offset += len(phrase)
                break
        else:
            offset += 1


# The opening of a prompt

REPAIR_WORDS = words("repair")
AMBIGUOUS_REPAIR_WORDS = words("ambiguous_repair")
BEHAVIOR_WORDS = words("behavior")
PERSON_VERBS = words("person_verb")
UPGRADE_WORDS = words("upgrade")
PERSON_OR_PROGRAM_VERBS = words("person_or_program_verb")
_OPENING_TAGS = (
    dict.fromkeys(BEHAVIOR_WORDS, frozenset({PhraseTag.UNSPECIFIED_TASK}))
    | dict.fromkeys(words("change"), frozenset({PhraseTag.UNSPECIFIED_CHANGE}))
    | dict.fromkeys(REPAIR_WORDS | AMBIGUOUS_REPAIR_WORDS, frozenset({PhraseTag.DEBUG}))
)
"""What a word means if a prompt begins with it."""
NEGATIONS = frozenset({"don't", "do not", "dont", "must not", "mustn't", "不要", "别", "不许", "禁止", "勿", "请勿"})
"""State what a program shall not do, if they negate no work."""
BARE_COMMIT_TYPES = parse_words("feat fix perf refactor bugfix hotfix regression")
"""Types of a change before a colon: "fix: the header is lost"."""
COMMIT_TYPES = BARE_COMMIT_TYPES | parse_words("build chore ci docs revert style test tests deps")
"""Types of a change with a scope in parentheses: "build(deps): …"."""

_OPENING = re.compile(
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
    match = _OPENING.match(prose)
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
        return (PhraseHit(opening.label, _OPENING_TAGS[opening.label], start, start + len(opening.label)), *hits)
    word = _word_at(prose, opening.start)
    first = next((hit for hit in hits if hit.start >= opening.start), None)
    tags = _OPENING_TAGS.get(word, frozenset())
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
