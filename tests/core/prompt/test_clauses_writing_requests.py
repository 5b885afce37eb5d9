"""Clauses that request text instead of work on code."""

from __future__ import annotations

import pytest

from upbeat.core.prompt.clauses import drop_writing_requests, split_clauses
from upbeat.core.prompt.entities import find_mentions
from upbeat.core.prompt.phrases import find_phrase_hits, to_simplified
from upbeat.core.prompt.quoted_spans import mask_prompt


@pytest.mark.parametrize(
    ("prompt", "kept"),
    [
        ("fix parser.py", ["fix parser.py"]),
        ("translate the comments in utils.py", ["translate the comments in utils.py"]),
        ("write an email validator", ["write an email validator"]),
        ("write an email to Bob, saying that the API is up", []),
        ("write an email to Bob. fix parser.py", ["fix parser.py"]),
        ("fix parser.py. translate this text: hello", ["fix parser.py"]),
        ("fix it. translate this text: hello", []),
        ("翻译成英文：修复登录接口", []),
    ],
)
def test_kept_clauses(prompt: str, kept: list[str]) -> None:
    """Requests for text are dropped; after one about text in the prompt, nothing that follows counts."""
    masked = mask_prompt(prompt)
    prose = to_simplified(masked.prose)
    clauses = split_clauses(prose, find_phrase_hits(prose))

    assert kept == [
        prose[clause.start : clause.end] for clause in drop_writing_requests(clauses, prose, find_mentions(masked))
    ]
