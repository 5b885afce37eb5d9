"""Recognize a follow-up, and give it the subject of the turn before: "and where is it called?".

Invariant: a follow-up is short, refers to something that it does not name, and its words are not clearly everyday.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import replace

from upbeat.core.prompt.analysis import PromptAnalysis
from upbeat.core.prompt.phrases import to_simplified

MAX_LENGTH = 40
"""Characters of a follow-up; a Chinese one counts two for each."""

MIN_PRIOR = -1.0
"""Log odds by the words below which even a reference is small talk: "thanks for that"."""

_REFERENCE = re.compile(
    r"\b(?:it|its|this|that|these|those|they|them|their|there|the (?:result|same|others?|ones?|part|rest))\b"
    r"|^\W*(?:hm+\W+|ok\W+)?(?:and|but|or|what (?:if|about)|in what|which ones?|before|after)\b"
    r"|[它这那其该]|^\W*(?:还有|然后|如果|什么时候|按什么)|呢[?？]?\s*$"
)


def add_subject(prompt: str, analysis: PromptAnalysis, subject: Collection[str]) -> PromptAnalysis:
    """Return ``analysis`` with the ``subject`` of the turn before if the prompt is a follow-up, else as it is.

    ``subject`` has paths and symbols. A prompt that names or shows code has a subject of its own.
    """
    if not subject or analysis.prior is None or analysis.prior < MIN_PRIOR or analysis.targets:
        return analysis
    text = to_simplified(prompt)
    length = len(text) + sum(char > "\u2e7f" for char in text)
    if length > MAX_LENGTH or not _REFERENCE.search(text):
        return analysis
    files = tuple(name for name in subject if "/" in name or "." in name.rpartition("::")[2])
    symbols = tuple(name for name in subject if name not in files)
    targets = replace(analysis.targets, files=files, symbols=symbols)
    return replace(analysis, targets=targets, query="\n".join([analysis.query, *subject]), prior=None)
