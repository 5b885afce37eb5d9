"""The intent of a prompt: ``classify_cases.tsv`` says what people write and what they want."""

from __future__ import annotations

from pathlib import Path

import pytest

from upbeat.core.prompt.analysis import Intent
from upbeat.core.prompt.classify import analyze_prompt

LINES = Path(__file__).with_name("classify_cases.tsv").read_text(encoding="utf-8").splitlines()
CASES = [
    (group, expected, prompt.replace("\\n", "\n").replace("\\t", "\t").replace("\\\\", "\\"))
    for group, expected, prompt in (line.split("\t") for line in LINES if not line.startswith("#"))
]
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
