"""The intent of a prompt: ``classify_cases.tsv`` says what people write and what they want."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from case_files import read_cases

from upbeat.core.prompt.analysis import Intent
from upbeat.core.prompt.classify import analyze_prompt

sys.path.insert(0, str(Path(__file__).parents[3]))
from benchmarks.intent import ABOUT_CODE, PROMPTS, counted, labelled, rates

EVERY_CASE = read_cases(Path(__file__).with_name("classify_cases.tsv"))
EVERYDAY = [prompt for _, expected, prompt in EVERY_CASE if expected.lstrip("!") == "none"]
CASES = [case for case in EVERY_CASE if case[1].lstrip("!") != "none"]
GROUPS = sorted({group for group, _, _ in CASES})


def answer(prompt: str, expected: str) -> str:
    """Return what upbeat makes of ``prompt``, in the words of the table."""
    analysis = analyze_prompt(prompt)
    if expected in ("deep", "shallow"):
        return "deep" if analysis.allows_tier2 else "shallow"
    return "code" if expected == "code" and analysis.intent is not Intent.NONE else analysis.intent.value


@pytest.mark.parametrize("group", GROUPS)
def test_cases(group: str) -> None:
    """Each prompt of the table has the expected intent."""
    cases = {prompt: expected for name, expected, prompt in CASES if name == group and expected[0] != "!"}
    assert cases == {prompt: answer(prompt, expected) for prompt, expected in cases.items()}


@pytest.mark.xfail(strict=True, reason="needs to know more than words")
@pytest.mark.parametrize(("expected", "prompt"), [case[1:] for case in CASES if case[1][0] == "!"])
def test_missed(expected: str, prompt: str) -> None:
    """These prompts are misclassified; one that passes loses its mark."""
    assert expected[1:] == answer(prompt, expected[1:])


LISTS = {path.stem: labelled(path) for path in sorted(PROMPTS.glob("*.tsv"))}
PRECISION_AND_RECALL = {"labelled": (0.97, 0.93), "held_out": (0.9, 0.8)}


def test_there_are_enough() -> None:
    """There are at least 400 distinct prompts of every intent, a third of them Chinese."""
    prompts = [prompt for rows in LISTS.values() for _intent, prompt in rows]

    assert len(prompts) >= 400
    assert len(prompts) == len(set(prompts))
    assert set(Intent) == {intent for rows in LISTS.values() for intent, _prompt in rows}
    assert sum(any("\u4e00" <= char <= "\u9fff" for char in prompt) for prompt in prompts) > len(prompts) / 3


@pytest.mark.parametrize("name", LISTS)
def test_precision_and_recall(name: str) -> None:
    """The words alone tell prompts about code from everyday ones at least this well; the repository decides later."""
    rates_found = rates(counted(LISTS[name]), ABOUT_CODE)

    assert all(found >= least for found, least in zip(rates_found, PRECISION_AND_RECALL[name], strict=True)), (
        rates_found
    )


def test_everyday_prompts() -> None:
    """The words are against almost every everyday prompt of the table, even one that sounds technical."""
    mistaken = [prompt for prompt in EVERYDAY if analyze_prompt(prompt).likely_intent is not Intent.NONE]

    assert len(mistaken) <= 0.08 * len(EVERYDAY), mistaken


@pytest.mark.parametrize("prompt", ["error: invalid option is shown twice", "DEBUG OBJECT crashes on a module type"])
def test_a_request_in_the_form_of_a_log_line_is_searched_for(prompt: str) -> None:
    """If nothing but pasted text is left of a prompt, its words are the query."""
    assert prompt == analyze_prompt(prompt).query


@pytest.mark.parametrize("words", ["", "what's in ", "和这个有什么关系？ "])
def test_the_url_of_a_file_is_looked_up_in_any_words(words: str) -> None:
    """A prompt with the URL of a file in a web view needs no other word about code; another URL says nothing."""
    path = "src/click/parser.py#L120-L140"

    assert analyze_prompt(f"{words}https://github.com/pallets/click/blob/main/{path}").prior is None
    assert analyze_prompt("thanks https://example.com/recipes/cake").intent is Intent.NONE
