"""Recognize a last message of an agent that needs its user: a question, a blocker, consent to something destructive.

Invariant: an offer that may be about something destructive waits, whatever else the message says: the odds from which
it does are far below even. When in doubt the turn waits: an unneeded wait costs an answer, an unneeded continuation
runs past a question.
"""

from __future__ import annotations

import re
from functools import lru_cache

from upbeat.core.destructive import ShellLocation, find_hazards
from upbeat.core.dialogue.features import classify_words, split_into_clauses, weigh
from upbeat.core.prompt.quoted_spans import SpanKind, mask_prompt

MAX_ENDING_CHARS = 2500
"""Characters at the end of a message that are read."""

MIN_QUESTION_ODDS = -0.9
"""Log odds of a real question or a blocker from which a message waits."""

MIN_DANGER_ODDS = -2.1
"""Log odds of something destructive from which a message waits: nothing may be continued by mistake here."""

MIN_NAMED_DANGER_ODDS = -4.0
"""The same where the message asks for something and has a word for destroying or publishing."""

_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_DELETES = re.compile(r"\b(?:drop|truncate|delete\s+from|update\s+\w+\s+set|rm\s+-\w*[rf]\w*)\b", re.IGNORECASE)
_BARE_COMMAND = re.compile(
    r"\b(?:rm\s+-\w*[rf]\w*\s+\S+|git\s+push\s[^\n?!。？]*?(?:--force\S*|\s-f\b)|git\s+reset\s+--hard|git\s+clean\s+-\w*f\w*|"
    r"(?:drop|truncate)\s+(?:table|database|schema|index|column)\b|delete\s+from\s+\w+)",
    re.IGNORECASE,
)
"""Commands that destroy, also where nothing marks them as code."""
_CHINESE = re.compile("[\u3400-\u9fff]")
_LATIN_RUN = re.compile(r"[A-Za-z][\w./~-]*(?:[ \t]+[\w./~*=:@-]+)+")
_CODE = (SpanKind.FENCE, SpanKind.INLINE, SpanKind.SOURCE, SpanKind.LOG)

_DESTRUCTIVE = frozenset({"destroy", "publish"})
_ASKING = frozenset({"tell", "may", "if"})
_DESTRUCTIVE_CODE = "destroy"
_LOCATION = ShellLocation("/project", "/project")


@lru_cache(maxsize=4)
def waits_for_user(message: str) -> bool:
    """Return whether ``message``, with which a turn is about to end, needs an answer of the user."""
    text = prepare_ending(message)
    if weigh(text, "question_weights.bin") >= MIN_QUESTION_ODDS:
        return True
    danger = weigh(text, "danger_weights.bin")
    return danger >= MIN_DANGER_ODDS or (danger >= MIN_NAMED_DANGER_ODDS and _names_destruction(text))


def prepare_ending(message: str) -> str:
    """Return the end of ``message`` as it is weighed: without comments, a word in place of destructive code."""
    text = _COMMENT.sub("", message[-MAX_ENDING_CHARS:])
    spans = [span for span in mask_prompt(text).spans if span.kind in _CODE]
    for span in reversed(spans):
        if _is_destructive(text[span.start : span.end].strip("`\n")):
            text = f"{text[: span.start]} {_DESTRUCTIVE_CODE} {text[span.end :]}"
    text = _BARE_COMMAND.sub(f" {_DESTRUCTIVE_CODE} ", text)
    if _CHINESE.search(text):  # code needs no marks to stand out there
        text = _LATIN_RUN.sub(_replace_destructive, text)
    return text


def _replace_destructive(run: re.Match[str]) -> str:
    return f" {_DESTRUCTIVE_CODE} " if _is_destructive(run[0]) else run[0]


def _is_destructive(code: str) -> bool:
    """Return whether ``code`` is a command that destroys or publishes; a lone name is none."""
    words = [word for part in code.lower().split() if (word := part.strip("-"))]
    named = _DESTRUCTIVE & set(classify_words(words)) if len(words) > 1 else ()
    return bool(named or _DELETES.search(code) or find_hazards(code, _LOCATION))


def _names_destruction(text: str) -> bool:
    """Return whether ``text`` asks for something, and a clause of it would destroy or publish something."""
    clauses = [(frozenset(classify_words(words)), mark) for words, mark in split_into_clauses(text)]
    if not any(mark == "?" or names & _ASKING for names, mark in clauses):
        return False
    return any(names & _DESTRUCTIVE and (mark == "?" or "done" not in names) for names, mark in clauses)
