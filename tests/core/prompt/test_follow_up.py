"""A follow-up is about what the turn before was about."""

from __future__ import annotations

from dataclasses import replace

import pytest

from upbeat.core.prompt.analysis import Intent, PromptAnalysis, Targets
from upbeat.core.prompt.classify import analyze_prompt
from upbeat.core.prompt.follow_up import add_subject

SUBJECT = ("shop/retry.py", "send_with_retry")


def is_follow_up(prompt: str) -> bool:
    analysis = analyze_prompt(prompt)
    return add_subject(prompt, analysis, SUBJECT) != analysis


def test_the_subject_is_what_the_prompt_names() -> None:
    """The subject becomes the target, the query has its names, and the search is not gated."""
    analysis = add_subject("and where is it called?", analyze_prompt("and where is it called?"), SUBJECT)

    assert PromptAnalysis(
        Intent.DOCS,
        analysis.signals,
        Targets(("shop/retry.py",), ("send_with_retry",)),
        "and where is it called?\nshop/retry.py\nsend_with_retry",
    ) == replace(analysis, allows_tier2=False)


@pytest.mark.parametrize(
    "prompt",
    [
        "and who calls that?",
        "is there a test for it",
        "what if that fails",
        "它在哪里被调用？",
        "那失败了呢",
        "那這個什麼時候會觸發",
    ],
)
def test_follow_ups(prompt: str) -> None:
    """A short prompt that refers to something without naming it is a follow-up."""
    assert is_follow_up(prompt)


@pytest.mark.parametrize(
    "prompt",
    [
        "ok got it, thanks",
        "never mind, that's enough for now",
        "yes please do that",
        "where is get_user called, and does it fail?",
        "where are cookies merged between the client and the request, and does it keep the old ones?",
        "how are slow scripts logged",
        "好的，那就这样",
    ],
)
def test_other_prompts(prompt: str) -> None:
    """Small talk, a long prompt and one with a subject of its own are no follow-ups."""
    assert not is_follow_up(prompt)


def test_nothing_to_refer_to() -> None:
    """Without a turn before, the prompt stays as it is."""
    analysis = analyze_prompt("and where is it called?")

    assert add_subject("and where is it called?", analysis, ()) is analysis
