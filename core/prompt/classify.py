"""Classify a prompt: its intent, the signals for it, and its targets.

Invariant: total and linear. The user's own prose says what is wanted; what is pasted or quoted only says what it is
about. Only a prompt whose words leave no doubt that it is not about code has the intent ``none``; of all others the
repository has the last word (``gate``).

The prose is split into clauses. In each, the first request governs ("add a check that fixes the dates" requests an
addition). A clause that requests a translation or a letter does not count, nor does the rest if it refers to text. Of
the other clauses, a stated fault makes the intent debug, else the first requested of debug, refactor, docs, feature. A
question about code is docs. Code without a request is debug if it is an error, docs in a question, else feature.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from upbeat.core.prompt import phrases
from upbeat.core.prompt.analysis import Intent, PromptAnalysis, Targets
from upbeat.core.prompt.clauses import (
    Clause,
    ClauseIntent,
    drop_writing_requests,
    parse_clause,
    split_clauses,
)
from upbeat.core.prompt.entities import FILE_URL, Mention, MentionKind, collect_targets, find_mentions
from upbeat.core.prompt.gate import NO_DOUBT, iter_word_features, weigh_words
from upbeat.core.prompt.phrases import PhraseTag, PromptOpening
from upbeat.core.prompt.quoted_spans import PASTED_KINDS, MaskedPrompt, SpanKind, blank_spans, clip_prompt, mask_prompt
from upbeat.core.prompt.signals import select_counted_mentions, shows_code, to_prompt_signals, weigh_signals

MAX_QUERY_LENGTH = 6000
MAX_FRAMES = 3
"""Frames of a pasted stack trace that the query has, innermost first."""

_GOAL_MARK = re.compile(
    r"\A\s*[/$]upbeat:[\w-]+(?=\s)|\[(?:workflow:\s*[\w-]+\s*|goal:([^\[\]\n]{1,4000}))\]", re.IGNORECASE
)
"""What marks the rest of a prompt, or the text in brackets, as the goal of a workflow."""

_SLASH_COMMAND = re.compile(r"\s*[/$]([a-z][a-z0-9:_-]{0,40})(?=\s|$)")
_CLIENT_COMMANDS = phrases.words("client_command")
_QUESTION = re.compile(r"[?？][ \t]*$|[吗嗎呢么麼][ \t]*$", re.MULTILINE)


def analyze_prompt(prompt: str) -> PromptAnalysis:
    """Analyze ``prompt``; accept any string and raise nothing."""
    text = clip_prompt(prompt)
    command = _SLASH_COMMAND.match(text)
    if command and command[1].removeprefix("upbeat:") in _CLIENT_COMMANDS:
        return PromptAnalysis(Intent.NONE)
    text, is_goal = _GOAL_MARK.subn(r" \1 ", text)
    masked = mask_prompt(text)
    opening, mentions, prose = _read_prose(masked)
    clauses = split_clauses(prose, phrases.tag_opening(prose, phrases.find_phrase_hits(prose), opening))
    kept = drop_writing_requests(clauses, prose, mentions)
    intents = [parse_clause(clause) for clause in kept]
    # "Don't change parser.py, explain it" is about parser.py; "don't touch x.py, what's the weather" is not.
    requests_more = any(clause.request and clause.request is not PhraseTag.QUESTION for clause in intents)
    counted = select_counted_mentions(mentions, clauses, kept, requests_more)
    signals = weigh_signals(masked, kept, counted, opening)
    targets = collect_targets(mentions, text)
    query = _build_query(masked, targets)
    words = _word_features(prose, clauses, kept)
    is_certain = shows_code(signals) or _names_file_by_url(masked) or (is_goal and words)
    prior = None if is_certain else weigh_words(words)
    if prior is not None and (prior < NO_DOUBT or not words):
        return PromptAnalysis(Intent.NONE, targets=targets, query=query, prior=prior)
    shows_error = any(mention.kind is MentionKind.ERROR for mention in counted)
    intent = _decide_intent(intents, shows_error, bool(_QUESTION.search(masked.prose)))
    allows_tier2 = (prior is None or prior >= 0) and any(
        PhraseTag.DEEP_ANALYSIS in hit.tags
        and hit.preceding_word != "no"
        and not hit.preceding_word.endswith(("没", "没有", "不", "无"))
        for clause in kept
        for hit in clause.asserted_hits
    )
    return PromptAnalysis(intent, to_prompt_signals(masked, signals), targets, query, allows_tier2, prior)


def find_word_features(prompt: str) -> frozenset[str]:
    """Return what ``gate.weigh_words`` weighs of ``prompt``."""
    _opening, mentions, prose = _read_prose(mask_prompt(clip_prompt(prompt)))
    clauses = split_clauses(prose, phrases.find_phrase_hits(prose))
    return _word_features(prose, clauses, drop_writing_requests(clauses, prose, mentions))


def _word_features(prose: str, clauses: Iterable[Clause], kept: Iterable[Clause]) -> frozenset[str]:
    """Return the words of ``prose``, the meanings of its phrases, and whether it only requests text."""
    tags = {f"#{tag}" for clause in clauses for hit in clause.hits for tag in hit.tags}
    return frozenset({*iter_word_features(prose), *tags, *({"#writing"} if clauses and not kept else ())})


def _read_prose(masked: MaskedPrompt) -> tuple[PromptOpening, tuple[Mention, ...], str]:
    """Return how the prompt opens, what it names, and its simplified prose with placeholders for names."""
    opening = phrases.parse_opening(phrases.to_simplified(masked.prose))
    mentions = tuple(
        mention
        for mention in find_mentions(masked)
        if mention.start >= opening.start or mention.name not in phrases.COMMIT_TYPES
    )
    own_names = [(m.start, m.end) for m in mentions if m.span_kind is None and m.weight > 1]
    # A name is no verb: get_name contains "get".
    return opening, mentions, phrases.to_simplified(blank_spans(masked.prose, own_names, phrases.NAME_PLACEHOLDER))


def _names_file_by_url(masked: MaskedPrompt) -> bool:
    urls = (span.start for span in masked.spans if span.kind is SpanKind.URL)
    return any(FILE_URL.match(masked.text, start) for start in urls)


def _decide_intent(clauses: list[ClauseIntent], shows_error: bool, is_question: bool) -> Intent:
    """Return the intent of a prompt about code."""
    requests = {clause.request for clause in clauses if clause.request}
    tags = frozenset(tag for clause in clauses for tag in clause.tags)
    only_asks = requests <= {PhraseTag.QUESTION}
    may_be_broken = shows_error or any(clause.fault_level for clause in clauses)
    requests_nothing = not requests and PhraseTag.UNSPECIFIED_CHANGE not in tags
    is_broken = (
        any(clause.fault_level == 2 and PhraseTag.WHERE not in clause.tags for clause in clauses)
        or (may_be_broken and (PhraseTag.WHY in tags or requests_nothing))
        or (shows_error and only_asks and PhraseTag.WHERE not in tags)
    )
    if is_broken or PhraseTag.DEBUG in requests:
        return Intent.DEBUG
    if PhraseTag.REFACTOR in requests or (only_asks and PhraseTag.PERFORMANCE in tags):
        return Intent.REFACTOR
    if requests & {PhraseTag.DOCS, PhraseTag.QUESTION} or (not requests and (is_question or PhraseTag.HOW in tags)):
        return Intent.DOCS
    return Intent.FEATURE


def _build_query(masked: MaskedPrompt, targets: Targets) -> str:
    """Return the user's own lines, with what they quote, and the frames and names that only pasted text has.

    Lines stay separate, because a search weighs the first line and the others differently. URLs of files stay.
    """
    own = []
    done = 0
    for span in masked.spans:
        is_url = span.kind is SpanKind.URL and not FILE_URL.match(masked.text, span.start)
        if span.kind in PASTED_KINDS or is_url:
            own.append(masked.text[done : span.start])
            done = span.end
    text = "".join([*own, masked.text[done:]]).expandtabs(4)
    if not text.strip() and not targets.stack_frames:
        text = masked.text  # "error: …" can be a request in the form of a log line, and pasted code the only words
    lines = [(len(line) - len(line.lstrip()), " ".join(line.split())) for line in text.splitlines()]
    query = "\n".join(" " * indent + line for indent, line in lines if line).strip()
    frames = [frame for frame in targets.stack_frames[:MAX_FRAMES] if frame not in query]
    query = "\n".join(filter(None, (query, *frames)))
    names = targets.files + targets.symbols + targets.errors
    missing = [line for name in names if (line := " ".join(name.split())) not in query]
    max_length = MAX_QUERY_LENGTH - min(MAX_QUERY_LENGTH // 2, sum(len(name) + 1 for name in missing))
    if len(query) > max_length:  # a question precedes or follows what was pasted with it
        half = (max_length - 1) // 2
        query = f"{query[:half].rstrip()} {query[-half:].lstrip()}"
    for name in missing:
        if len(query) + 1 + len(name) <= MAX_QUERY_LENGTH:
            query = f"{query}\n{name}".strip()
    return query
