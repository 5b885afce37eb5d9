"""Recognize a prompt that asks to stop or to pause the work in progress.

Invariant: a prompt that is too long to be a stop is none, and a stop that may be meant for a while is a pause: it is
easily resumed.
"""

from __future__ import annotations

from enum import StrEnum
from functools import lru_cache

from upbeat.core.dialogue.features import Clause, classify_words, split_into_clauses, weigh

MAX_STOP_CHARS = 400
"""Characters of a prompt that may be a stop; a longer one describes work."""

MIN_STOP_ODDS = 0.3
"""Log odds of a stop from which the turn ends."""

MIN_FINAL_ODDS = 0.5
"""Log odds of a stop for good, given that the prompt stops, from which it is not taken for a pause."""

_NOT_PROSE = ("", "/", "$", "[", "@", "#", "!")
"""How a prompt begins that is empty, or a command of a client."""
_RESUMING = frozenset({"go_on", "go", "on", "polite", "you", "do", "here", "all", "self", "it"})
"""Classes of words in a clause that says nothing but to go on; not "I" and times: "we continue later"."""


class StopKind(StrEnum):
    """Whether a prompt stops the work: for good, for a while, or not."""

    STOP = "stop"
    PAUSE = "pause"
    NONE = ""


@lru_cache(maxsize=4)
def find_stop(prompt: str) -> StopKind:
    """Return what ``prompt`` asks of the work in progress; one that ends in "go on" goes on."""
    text = prompt.strip()
    if text[:1] in _NOT_PROSE or len(text) > MAX_STOP_CHARS or weigh(text, "stop_weights.bin") < MIN_STOP_ODDS:
        return StopKind.NONE
    if _says_to_go_on(split_into_clauses(text)[-1]):
        return StopKind.NONE
    return StopKind.STOP if weigh(text, "final_stop_weights.bin") >= MIN_FINAL_ODDS else StopKind.PAUSE


def asks_to_continue(prompt: str) -> bool:
    """Return whether a clause of ``prompt`` says nothing but to go on: "ok, please continue", "我回来了，继续"."""
    return len(prompt) <= MAX_STOP_CHARS and any(map(_says_to_go_on, split_into_clauses(prompt)))


def _says_to_go_on(clause: Clause) -> bool:
    words, mark = clause
    classes = set(classify_words(words))
    return mark != "?" and classes <= _RESUMING and ("go_on" in classes or {"go", "on"} <= classes)
