"""Recognize a last message of an agent that needs its user: a question, a blocker, consent to something destructive.

Invariant: an offer that names something destructive always waits, whatever else the message says. When in doubt the
turn waits: an unneeded wait costs an answer, an unneeded continuation runs past a question.
"""

from __future__ import annotations

import re
from functools import lru_cache

from upbeat.core.destructive import ShellLocation, find_hazards
from upbeat.core.dialogue.features import classify_words, split_into_clauses, weigh
from upbeat.core.prompt.quoted_spans import SpanKind, mask_prompt

MAX_ENDING_CHARS = 2500
"""Characters at the end of a message that are read."""

MIN_QUESTION_ODDS = 0.0
"""Log odds of a real question or a blocker from which a message waits."""

MIN_DANGER_ODDS = -1.0
"""Log odds of something destructive from which a message waits: nothing may be continued by mistake here."""

_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_SQL = re.compile(r"\b(?:drop|truncate|delete\s+from|update\s+\w+\s+set)\b", re.IGNORECASE)
_CODE = (SpanKind.FENCE, SpanKind.INLINE, SpanKind.SOURCE, SpanKind.LOG)

_DESTRUCTIVE = frozenset({"destroy", "publish"})
_ASKING = frozenset({"tell", "may", "if"})
_LOCATION = ShellLocation("/project", "/project")


@lru_cache(maxsize=4)
def waits_for_user(message: str) -> bool:
    """Return whether ``message``, with which a turn is about to end, needs an answer of the user."""
    text = _COMMENT.sub("", message[-MAX_ENDING_CHARS:]).strip()
    if not text:
        return False
    return (
        weigh(text, "question_weights.tsv") >= MIN_QUESTION_ODDS
        or weigh(text, "danger_weights.tsv") >= MIN_DANGER_ODDS
        or _names_destruction(text)
    )


def _names_destruction(text: str) -> bool:
    """Return whether ``text`` asks for something, and a clause or command in it would destroy or publish something."""
    clauses = split_into_clauses(text)
    classes = [frozenset(classify_words(words)) for words, _ in clauses]
    marks = {mark for _, mark in clauses}
    if "?" not in marks and not any(names & _ASKING for names in classes):
        return False
    pending = (names for names, (_, mark) in zip(classes, clauses, strict=True) if mark == "?" or "done" not in names)
    return any(names & _DESTRUCTIVE for names in pending) or any(map(_is_destructive, _code_of(text)))


def _is_destructive(code: str) -> bool:
    return bool(_SQL.search(code) or find_hazards(code, _LOCATION))


def _code_of(text: str) -> list[str]:
    return [text[span.start : span.end].strip("`\n") for span in mask_prompt(text).spans if span.kind in _CODE]
