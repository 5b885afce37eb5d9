"""What a clause requests, states and negates."""

from __future__ import annotations

from pathlib import Path

from case_files import read_groups

from upbeat.core.prompt.clauses import Clause, drop_writing_requests, parse_clause, split_clauses
from upbeat.core.prompt.entities import find_mentions
from upbeat.core.prompt.phrases import find_phrase_hits, to_simplified
from upbeat.core.prompt.quoted_spans import mask_prompt

CASES = read_groups(Path(__file__).with_name("clauses_cases.tsv"))


def clauses(prose: str) -> tuple[Clause, ...]:
    return split_clauses(prose, find_phrase_hits(prose))


def test_split_clauses() -> None:
    """A clause ends at punctuation, before "but", and before "and" with a verb; one without a phrase is left out."""
    assert {"": [], **{prose: expected for prose, *expected in CASES["clauses"]}} == {
        prose: [part for clause in clauses(prose) for part in (clause.terminator, prose[clause.start : clause.end])]
        for prose in ["", *(prose for prose, *_ in CASES["clauses"])]
    }


def test_negations() -> None:
    """A negation reaches to the end of its clause, and over a list that ends in "or"."""
    assert {prose: phrases for prose, *phrases in CASES["asserted"]} == {
        prose: [hit.phrase for clause in clauses(prose) for hit in clause.asserted_hits]
        for prose, *_ in CASES["asserted"]
    }


def test_an_exclusion_negates_the_verb_only() -> None:
    """After "without" a name still counts, after "don't" it does not."""
    (kept,) = clauses("fix it without adding code")
    assert ([hit.phrase for hit in kept.asserted_hits], kept.ignored_from) == (["fix"], kept.end)
    (muted,) = clauses("fix it, but please don't add code without")[1:]
    assert ([hit.phrase for hit in muted.asserted_hits], muted.ignored_from) == (["but"], 19)


def test_parse_clause() -> None:
    """The first request of a clause governs it; a stated fault has a level."""
    intents = {prose: parse_clause(clauses(prose)[0]) for prose, *_ in CASES["intent"]}

    assert {prose: (request, int(level)) for prose, request, level in CASES["intent"]} == {
        prose: (intent.request or "", intent.fault_level) for prose, intent in intents.items()
    }


def kept_clauses(prompt: str) -> list[str]:
    """Return the clauses of ``prompt`` that may be about code."""
    masked = mask_prompt(prompt)
    prose = to_simplified(masked.prose)
    kept = drop_writing_requests(clauses(prose), prose, find_mentions(masked))
    return [prose[clause.start : clause.end] for clause in kept]


def test_drop_writing_requests() -> None:
    """Requests for text are dropped; after one about text in the prompt, nothing that follows counts."""
    assert {prompt: kept for prompt, *kept in CASES["kept"]} == {
        prompt: kept_clauses(prompt) for prompt, *_ in CASES["kept"]
    }
