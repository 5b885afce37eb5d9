"""Long messages and task files are read in bounded time, however they repeat themselves."""

from __future__ import annotations

from time import process_time

import pytest

from upbeat.core.workflow.decide.loop import ends_in_question
from upbeat.core.workflow.state import StepVerdict
from upbeat.core.workflow.verdict.classify import extract_failure_notes, parse_verdict

pytestmark = pytest.mark.bench

MESSAGES = [
    "tests pass, " * 4_000,
    "<!-- VERDICT: " * 3_500,
    "a" * 50_000,
    "1 failed " * 5_000,
    "(" * 50_000,
    "没有" * 22_500,
    "no " * 15_000,
    "1" * 50_000,
    "é" * 50_000,
    "a.b" * 15_000,
    "测试未通过" * 10_000,
]


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: message[:12])
def test_a_verdict_is_read_in_time(message: str) -> None:
    """50 KB of any text are read in two seconds of processor time."""
    start = process_time()
    parse_verdict(message, (StepVerdict.PASS, StepVerdict.FAIL))
    parse_verdict(message, (StepVerdict.PASS, StepVerdict.ISSUES))
    extract_failure_notes(message)

    assert process_time() - start < 2


def test_a_question_is_recognized_in_time() -> None:
    """The end of 300 KB of text is read in two seconds of processor time."""
    start = process_time()

    assert not ends_in_question("?" + " " * 300_000 + "x")
    assert ends_in_question("Shall I?" + " *" * 100_000)
    assert process_time() - start < 2
