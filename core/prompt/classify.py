"""Classify a prompt: its intent, the signals for it, and its targets.

Invariant: total and linear. The user's own prose says what is wanted; what is pasted or quoted only says what it is
about. A prompt without evidence of code in a repository has the intent ``none``.

The prose is split into clauses. In each, the first request governs ("add a check that fixes the dates" requests an
addition). A clause that requests a translation or a letter does not count, nor does the rest if it refers to text. Of
the other clauses, a stated fault makes the intent debug, else the first requested of debug, refactor, docs, feature. A
question about code is docs. Code without a request is debug if it is an error, docs in a question, else feature.
"""

from __future__ import annotations

import re

from upbeat.core.prompt import phrases
from upbeat.core.prompt.analysis import Intent, PromptAnalysis, Targets
from upbeat.core.prompt.clauses import (
    ClauseIntent,
    drop_writing_requests,
    find_work_offsets,
    parse_clause,
    split_clauses,
)
from upbeat.core.prompt.entities import FILE_URL, MentionKind, collect_targets, find_mentions
from upbeat.core.prompt.phrases import PhraseTag
from upbeat.core.prompt.quoted_spans import PASTED_KINDS, MaskedPrompt, SpanKind, blank_spans, clip_prompt, mask_prompt
from upbeat.core.prompt.signals import is_about_code, select_counted_mentions, to_prompt_signals, weigh_signals

MAX_QUERY_LENGTH = 6000
MAX_FRAMES = 3
"""Frames of a pasted stack trace that the query has, innermost first."""

_SLASH_COMMAND = re.compile(r"\s*/([a-z][a-z0-9:_-]{0,40})(?=\s|$)")
_CLIENT_COMMANDS = phrases.words("client_command")
_QUESTION = re.compile(r"[?？][ \t]*$|[吗嗎呢么麼][ \t]*$", re.MULTILINE)
_VAGUE_REQUEST_TAGS = frozenset({PhraseTag.UNSPECIFIED_CHANGE, PhraseTag.UNSPECIFIED_TASK})


def analyze_prompt(prompt: str) -> PromptAnalysis:
    """Analyze ``prompt``; accept any string and raise nothing."""
    text = clip_prompt(prompt)
    command = _SLASH_COMMAND.match(text)
    if command and command[1] in _CLIENT_COMMANDS:
        return PromptAnalysis(Intent.NONE)
    masked = mask_prompt(text)
    opening = phrases.parse_opening(phrases.to_simplified(masked.prose))
    mentions = tuple(
        mention
        for mention in find_mentions(masked)
        if mention.start >= opening.start or mention.name not in phrases.COMMIT_TYPES
    )
    own_names = [(m.start, m.end) for m in mentions if m.span_kind is None and m.weight > 1]
    # A name is no verb: get_name contains "get".
    prose = phrases.to_simplified(blank_spans(masked.prose, own_names, phrases.NAME_PLACEHOLDER))
    clauses = split_clauses(prose, phrases.tag_opening(prose, phrases.find_phrase_hits(prose), opening))
    kept = drop_writing_requests(clauses, prose, mentions)
    intents = [parse_clause(clause) for clause in kept]
    # "Don't change parser.py, explain it" is about parser.py; "don't touch x.py, what's the weather" is not.
    requests_more = any(clause.request and clause.request is not PhraseTag.QUESTION for clause in intents)
    counted = select_counted_mentions(mentions, clauses, kept, requests_more)
    signals = weigh_signals(masked, kept, counted, opening)
    targets = collect_targets(mentions, text)
    query = _build_query(masked, targets)
    is_request = any(
        clause.request or clause.fault_level or not clause.tags.isdisjoint(_VAGUE_REQUEST_TAGS) for clause in intents
    )
    if (clauses and not kept) or not is_about_code(signals, is_request, find_work_offsets(kept)):
        return PromptAnalysis(Intent.NONE, targets=targets, query=query)
    shows_error = any(mention.kind is MentionKind.ERROR for mention in counted)
    intent = _decide_intent(intents, shows_error, bool(_QUESTION.search(masked.prose)))
    allows_tier2 = any(
        PhraseTag.DEEP_ANALYSIS in hit.tags
        and hit.preceding_word != "no"
        and not hit.preceding_word.endswith(("没", "没有", "不", "无"))
        for clause in kept
        for hit in clause.asserted_hits
    )
    return PromptAnalysis(intent, to_prompt_signals(masked, signals), targets, query, allows_tier2)


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
