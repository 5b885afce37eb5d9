"""What one clause asks for, and what it denies."""

from __future__ import annotations

import pytest

from upbeat.core.texts.phrases import Tag
from upbeat.core.turn.clauses import Clause, cut
from upbeat.core.turn.lexicon import find_phrases
from upbeat.core.turn.requests import hear


def clauses(prose: str) -> tuple[Clause, ...]:
    return cut(prose, find_phrases(prose))


CUT = [
    ("fix it, explain it", [("fix it", ","), ("explain it", "")]),
    ("fix v1.2, explain a.b: why", [("fix v1.2", ","), ("explain a.b", ":"), ("why", "")]),
    ("fix it but explain why", [("fix it ", ""), ("but explain why", "")]),
    ("fix it and then explain why", [("fix it ", ""), ("and then explain why", "")]),
    ("fix the class and module", [("fix the class and module", "")]),
    ("fix it and, after some more thought, explain", [("fix it and", ","), ("explain", "")]),
    ("fix this and the other thing that we explain", [("fix this and the other thing that we explain", "")]),
    ("fix 修复。重构！优化\n解释", [("fix 修复", "。"), ("重构", "！"), ("优化", ""), ("解释", "")]),
    ("fix it - explain why", [("fix it", "-"), ("explain why", "")]),
    ("fix it (explain why)", [("fix it ", "("), ("explain why)", "")]),
    ("parse() fails", [("parse() fails", "")]),
    ("nothing, here", []),
    ("", []),
]

DENIED = [
    ("don't fix it, explain it", ["explain"]),
    ("please don't fix it but explain it", ["but", "explain"]),
    ("users don't fix it", ["users", "don't", "fix"]),
    ("I said (really) do not fix it", []),
    ("fix it without adding code", ["fix"]),
    ("don't fix, explain, or add it; refactor it", ["refactor"]),
    ("don't fix, explain it. or add it", ["explain", "or", "add"]),
    ("不要修复，解释", ["解释"]),
    ("请不要修复或者优化", []),
]

HEARD = [
    ("fix it", Tag.DEBUG, 0),
    ("add a test to fix it", Tag.DEBUG, 0),
    ("加锁来修复", Tag.DEBUG, 0),
    ("加锁以修复", Tag.DEBUG, 0),
    ("add a fix", Tag.FEATURE, 0),
    ("explain to fix", Tag.DOCS, 0),
    ("the fix", None, 0),
    ("没有实现", None, 1),
    ("where do we add it", Tag.ASK, 0),
    ("does it work", Tag.ASK, 0),
    ("it does", None, 0),
    ("translate it", Tag.DOCS, 0),
    ("it crashes", None, 2),
    ("if it crashes", None, 1),
    ("it crashes if an error comes", None, 2),
    ("an error: it fails", None, 2),
    ("errors", None, 1),
    ("a crash, missing", None, 2),
    ("it is broken and missing", None, 2),
    ("add what is broken", Tag.FEATURE, 0),
    ("the broken one: add", None, 2),
    ("broken: refactor", None, 2),
    ("explain what is broken", Tag.DOCS, 2),
    ("write docs", Tag.DOCS, 0),
    ("注释补充", Tag.DOCS, 0),
    ("注释里补充", Tag.DOCS, 0),
    ("注释里面还要补充", Tag.FEATURE, 0),
    ("fix the typos", Tag.DOCS, 0),
    ("fix the docs", Tag.DEBUG, 0),
    ("explain the docs", Tag.DOCS, 0),
    ("change the docs", Tag.DOCS, 0),
    ("docs", None, 0),
]


@pytest.mark.parametrize(("prose", "stretches"), CUT)
def test_cut(prose: str, stretches: list[tuple[str, str]]) -> None:
    """cut ends a clause at punctuation, before "but", and before "and" with a verb; it drops what says nothing."""
    assert [(prose[clause.start : clause.end], clause.mark) for clause in clauses(prose)] == stretches


@pytest.mark.parametrize(("prose", "said"), DENIED)
def test_denials(prose: str, said: list[str]) -> None:
    """A denial reaches to the end of its clause, and over a list that ends in "or"."""
    assert [hit.phrase for clause in clauses(prose) for hit in clause.said] == said


def test_except_denies_the_verb_only() -> None:
    """After "without" a name still counts, after "don't" it does not."""
    (kept,) = clauses("fix it without adding code")
    assert (kept.denied_from, kept.muted_from) == (7, kept.end)
    (muted,) = clauses("fix it, but please don't add code without")[1:]
    assert (muted.denied_from, muted.muted_from) == (19, 19)


@pytest.mark.parametrize(("prose", "request_", "fault"), HEARD)
def test_hear(prose: str, request_: Tag | None, fault: int) -> None:
    """hear gives the first request of a clause, and whether something is told to be broken."""
    heard = hear(clauses(prose)[0])
    assert (heard.request, heard.fault) == (request_, fault)
