"""What a clause requests, states and negates."""

from __future__ import annotations

import pytest

from upbeat.core.prompt.clauses import Clause, parse_clause, split_clauses
from upbeat.core.prompt.phrases import PhraseTag, find_phrase_hits


def clauses(prose: str) -> tuple[Clause, ...]:
    return split_clauses(prose, find_phrase_hits(prose))


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
    ("fix it", PhraseTag.DEBUG, 0),
    ("add a test to fix it", PhraseTag.DEBUG, 0),
    ("加锁来修复", PhraseTag.DEBUG, 0),
    ("加锁以修复", PhraseTag.DEBUG, 0),
    ("add a fix", PhraseTag.FEATURE, 0),
    ("explain to fix", PhraseTag.DOCS, 0),
    ("the fix", None, 0),
    ("没有实现", None, 1),
    ("where do we add it", PhraseTag.QUESTION, 0),
    ("does it work", PhraseTag.QUESTION, 0),
    ("it does", None, 0),
    ("translate it", PhraseTag.DOCS, 0),
    ("it crashes", None, 2),
    ("if it crashes", None, 1),
    ("it crashes if an error comes", None, 2),
    ("an error: it fails", None, 2),
    ("errors", None, 1),
    ("a crash, missing", None, 2),
    ("it is broken and missing", None, 2),
    ("add what is broken", PhraseTag.FEATURE, 0),
    ("the broken one: add", None, 2),
    ("broken: refactor", None, 2),
    ("explain what is broken", PhraseTag.DOCS, 2),
    ("write docs", PhraseTag.DOCS, 0),
    ("注释补充", PhraseTag.DOCS, 0),
    ("注释里补充", PhraseTag.DOCS, 0),
    ("注释里面还要补充", PhraseTag.FEATURE, 0),
    ("fix the typos", PhraseTag.DOCS, 0),
    ("fix the docs", PhraseTag.DEBUG, 0),
    ("explain the docs", PhraseTag.DOCS, 0),
    ("change the docs", PhraseTag.DOCS, 0),
    ("docs", None, 0),
]


@pytest.mark.parametrize(("prose", "stretches"), CUT)
def test_cut(prose: str, stretches: list[tuple[str, str]]) -> None:
    """cut ends a clause at punctuation, before "but", and before "and" with a verb; it drops what says nothing."""
    assert [(prose[clause.start : clause.end], clause.terminator) for clause in clauses(prose)] == stretches


@pytest.mark.parametrize(("prose", "phrases"), DENIED)
def test_denials(prose: str, phrases: list[str]) -> None:
    """A denial reaches to the end of its clause, and over a list that ends in "or"."""
    assert [hit.phrase for clause in clauses(prose) for hit in clause.asserted_hits] == phrases


def test_except_denies_the_verb_only() -> None:
    """After "without" a name still counts, after "don't" it does not."""
    (kept,) = clauses("fix it without adding code")
    assert ([hit.phrase for hit in kept.asserted_hits], kept.ignored_from) == (["fix"], kept.end)
    (muted,) = clauses("fix it, but please don't add code without")[1:]
    assert ([hit.phrase for hit in muted.asserted_hits], muted.ignored_from) == (["but"], 19)


@pytest.mark.parametrize(("prose", "request_", "fault"), HEARD)
def test_hear(prose: str, request_: PhraseTag | None, fault: int) -> None:
    """The first request of a clause governs it; a stated fault has a level."""
    heard = parse_clause(clauses(prose)[0])
    assert (heard.request, heard.fault_level) == (request_, fault)
