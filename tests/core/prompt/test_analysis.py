"""Invariants of every analysis, and its cost."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from case_files import read_groups
from hypothesis import given
from hypothesis import strategies as st

from upbeat.core.prompt.analysis import Intent, PromptAnalysis, Targets
from upbeat.core.prompt.classify import MAX_QUERY_LENGTH, analyze_prompt

CASES = read_groups(Path(__file__).with_name("analysis_cases.tsv"))
PIECES = [piece for (piece,) in CASES["piece"]]
prompts = st.one_of(st.text(max_size=60), st.lists(st.sampled_from(PIECES), max_size=14).map(" ".join))


@pytest.mark.parametrize(("prompt", "query"), CASES["query"])
def test_query(prompt: str, query: str) -> None:
    """The query is the user's own lines, without addresses, and the names in pasted text."""
    assert analyze_prompt(prompt).query == query


def test_query_is_bounded() -> None:
    """Names keep up to half of a long query; what does not fit is left out whole."""
    query = analyze_prompt("x" * 9000 + "\n```\na.py\n```").query
    half = "x" * ((MAX_QUERY_LENGTH - 6) // 2)
    assert query == f"{half} {half}\na.py"
    long = [f"{'n' * 190}{i}.py" for i in range(20)]
    query = analyze_prompt("y " * 4500 + "\n```\n" + "\n".join(long) + "\n```").query
    assert query.startswith(" ".join(["y"] * 1000))
    assert query.split("\n")[1:] == long[: len(query.split("\n")) - 1]
    assert len(query) <= MAX_QUERY_LENGTH


def test_client_commands_are_not_analyzed() -> None:
    """A client's own command is not analyzed; another command is only a first word."""
    assert analyze_prompt("/compact keep parser.py") == PromptAnalysis(Intent.NONE)
    assert analyze_prompt("  /clear\n") == PromptAnalysis(Intent.NONE)
    assert analyze_prompt("/review the crash in parser.py").targets == Targets(("parser.py",))
    assert analyze_prompt("/clearly/a.py is broken").intent is Intent.DEBUG


def test_goals_of_workflows_are_looked_up() -> None:
    """The goal after a command or in brackets is about code whatever its words are; a command alone is not."""
    goals = ("/upbeat:standard cookies get lost", "[workflow:quick] cookies get lost", "[goal: cookies get lost]")

    assert [("cookies get lost", None)] * 3 == [(a.query, a.prior) for a in map(analyze_prompt, goals)]
    assert [Intent.NONE] * 3 == [
        analyze_prompt(text).intent for text in ("/upbeat:why", "$upbeat:quiet", "/upbeat:stop")
    ]


def test_a_prompt_about_nothing_has_a_query() -> None:
    """A prompt that is not about code has a query, for those who look things up for every prompt."""
    analysis = analyze_prompt("good morning, how did you sleep?")

    assert (Intent.NONE, (), "good morning, how did you sleep?") == (analysis.intent, analysis.signals, analysis.query)


@given(prompts)
def test_holds_for_every_prompt(prompt: str) -> None:
    """The analysis is total, deterministic and bounded; with the intent none there are no signals."""
    analysis = analyze_prompt(prompt)
    assert analyze_prompt(prompt) == analysis
    assert not (analysis.signals and analysis.intent is Intent.NONE)
    assert analysis.likely_intent in (analysis.intent, Intent.NONE)
    assert not (analysis.allows_tier2 and analysis.intent is Intent.NONE)
    assert len(analysis.signals) <= 20
    assert all(0 < len(signal.match) <= 80 for signal in analysis.signals)
    assert len({signal.match for signal in analysis.signals}) == len(analysis.signals)
    for names in (analysis.targets.files, analysis.targets.symbols, analysis.targets.errors):
        assert len(names) <= 10
        assert len(set(names)) == len(names)
        assert all(0 < len(name) <= 200 for name in names)
    assert len(analysis.query) <= MAX_QUERY_LENGTH
    assert analysis.query == analysis.query.strip()
    assert "\n\n" not in analysis.query
    analysis.query.encode()


@given(prompts.filter(lambda prompt: not set("`~\"'“「『‘«《>") & set(prompt)))
def test_a_quotation_requests_nothing(prompt: str) -> None:
    """Quoted verbs do not change what is wanted."""
    assert analyze_prompt(prompt + " “fix the crash”").intent == analyze_prompt(prompt + " “one two”").intent


@given(prompts.filter(lambda prompt: not set("`~\"'“「『‘«《>/") & set(prompt)))
def test_a_quoted_line_requests_nothing(prompt: str) -> None:
    """Quoted lines do not change what is wanted."""
    assert (
        analyze_prompt(prompt + "\n> please add, refactor and fix the module").intent
        == analyze_prompt(prompt + "\n").intent
    )


@given(prompts.filter(lambda prompt: not set("`~\"'“「『‘«《>/") & set(prompt)))
def test_a_block_without_code_adds_nothing(prompt: str) -> None:
    """Verbs in a fenced block of plain words do not make a prompt one about code, nor change its intent."""
    assert (
        analyze_prompt(prompt + "\n```\nplease fix and refactor the module\n```").intent
        == analyze_prompt(prompt + "\n").intent
    )


@pytest.mark.parametrize("piece", [piece for (piece,) in CASES["large"]])
def test_a_large_prompt_takes_little_time(piece: str) -> None:
    """A megabyte takes about the time of the 24,000 characters that are read (generous bound for busy machines)."""
    text = piece * (1_000_000 // len(piece))
    started = time.process_time()
    analyze_prompt(text)
    assert time.process_time() - started < 0.5


@pytest.mark.parametrize("paste", ["a,b,some,row,of,data\n" * 400, "word " * 2000, "重试上限" * 2500])
def test_a_question_beside_a_long_paste_is_in_the_query(paste: str) -> None:
    """Text pasted without a fence does not push the question out of the query, at the start or at the end."""
    question = "where is the retry limit enforced in client.py?"

    assert question in analyze_prompt(f"{paste}\n{question}").query
    assert question in analyze_prompt(f"{question}\n{paste}").query
