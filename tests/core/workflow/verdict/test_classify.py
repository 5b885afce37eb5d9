"""The verdict of a message, and the notes on a failure."""

from __future__ import annotations

from pathlib import Path

import pytest
from case_files import read_cases, read_json_groups
from hypothesis import given
from hypothesis import strategies as st

from upbeat.core.workflow.state import StepVerdict
from upbeat.core.workflow.verdict.classify import (
    ParsedVerdict,
    contradicts_pass,
    extract_failure_notes,
    parse_stage_verdicts,
    parse_verdict,
)

TESTS = (StepVerdict.PASS, StepVerdict.FAIL)
REVIEW = (StepVerdict.PASS, StepVerdict.REJECT)
RETRO = (StepVerdict.PASS, StepVerdict.ISSUES)
WORK = (StepVerdict.PASS,)
STAGES = {"tests": TESTS, "review": REVIEW, "retro": RETRO, "work": WORK, "none": ()}

PASS_MARKER = '<!-- VERDICT: {"result": "PASS", "stage": "TEST:2", "call": "k7f2"} -->'

CASES = read_json_groups(Path(__file__).with_name("cases.jsonl"))
MARKER_CASES = read_cases(Path(__file__).parent / "marker_cases.tsv")


@pytest.mark.parametrize(("verdict", "call", "stage", "message"), MARKER_CASES)
def test_marker(verdict: str, call: str, stage: str, message: str) -> None:
    """A marker outside code and quotations decides, however it is written, and names its step and call."""
    parsed = parse_verdict(message, TESTS)

    assert (verdict, call, stage) == (parsed.verdict, parsed.call_id, parsed.step_key)


def test_a_marker_at_the_end_of_a_long_message() -> None:
    """The end of a message that is too long to be read whole is searched, too."""
    parsed = parse_verdict(f"x {'y' * 300_000}\n{PASS_MARKER}", TESTS)

    assert ("pass", "k7f2") == (parsed.verdict, parsed.call_id)


@pytest.mark.parametrize(("stage", "result", "verdict"), CASES["marker"])
def test_marker_fits_the_stage(stage: str, result: str, verdict: str) -> None:
    """FAIL counts for every stage; any other negative verdict becomes the stage's own."""
    assert verdict == parse_verdict(f'<!-- VERDICT: {{"result": "{result}"}} -->', STAGES[stage]).verdict


def test_verdicts_of_several_steps() -> None:
    """Each step that a marker names has one verdict, which is unclear if its markers contradict."""
    message = "\n".join(
        f'<!-- VERDICT: {{"result": "{result}", "stage": "{stage}"}} -->'
        for result, stage in [("PASS", "DEV"), ("FAIL", "test"), ("FAIL", "TEST"), ("PASS", "QA"), ("FAIL", "QA")]
    )

    verdicts = parse_stage_verdicts(message + "\nAll tests pass.\n<!-- VERDICT: PASS -->")

    assert [("DEV", StepVerdict.PASS), ("TEST", StepVerdict.FAIL), ("QA", StepVerdict.UNCLEAR)] == [
        (parsed.step_key, parsed.verdict) for parsed in verdicts
    ]


def test_two_stages_that_agree() -> None:
    """Markers of two stages with the same result have that result, and name no stage."""
    message = '<!-- VERDICT: {"result":"PASS","stage":"QA"} -->\n<!-- VERDICT: {"result":"PASS","stage":"E2E"} -->'

    assert ParsedVerdict(StepVerdict.PASS) == parse_verdict(message, TESTS)


@pytest.mark.parametrize(("message", "expected"), CASES["notes"])
def test_notes(message: str, expected: str) -> None:
    """The notes are the sentences that say what failed and why."""
    assert expected == extract_failure_notes(message)


def test_notes_are_cut_between_sentences() -> None:
    """Notes consist of whole sentences; only a first one that is too long is cut."""
    assert "The cart failed." == extract_failure_notes("The cart failed. The tax failed because of the lock.", 20)
    assert "The cart failed bec…" == extract_failure_notes("The cart failed because of the lock.", 20)


PIECES = (
    *("all tests pass", "2 tests failed", "测试失败", "如果", ". ", ", ", "\n", "```", "`", '"', "not ", "but "),
    *("<!-- VERDICT: ", '{"result": "PASS"}', " -->", "0 failed", "12 passed", "> ", "\0", "\ud800", "fixed ", "「"),
)
FRAGMENTS = st.lists(st.sampled_from(PIECES), max_size=12).map("".join)


@given(st.one_of(FRAGMENTS, st.text(max_size=200)), st.sampled_from([TESTS, REVIEW, RETRO, WORK, ()]))
def test_any_message(message: str, accepted: tuple[StepVerdict, ...]) -> None:
    """Any text has a verdict that the stage can have and notes within their limit; in a fence, it has none."""
    parsed = parse_verdict(message, accepted)

    assert parsed.verdict in {*accepted, StepVerdict.PASS, StepVerdict.FAIL, StepVerdict.UNCLEAR}
    assert len(extract_failure_notes(message, 60)) <= 60
    if "`" not in message and accepted in (TESTS, REVIEW, RETRO):
        assert ParsedVerdict(StepVerdict.UNCLEAR) == parse_verdict(f"```\n{message}\n```", accepted)


@pytest.mark.parametrize(
    ("accepted", "rest", "expected"),
    [
        (TESTS, " but 3 tests fail.", True),
        (TESTS, " 但是有 3 个测试失败。", True),
        (TESTS, "\n3 failed, 2 passed", True),
        (REVIEW, " would be wrong: I reject this change.", True),
        (TESTS, "", False),
        (TESTS, "\n", False),
        (TESTS, "\nNo test fails.", False),
        (TESTS, "\nAll 12 tests passed.", False),
        (REVIEW, "\nApproved.", False),
        (WORK, "\nThanks for the review.", False),
    ],
)
def test_text_after_a_marker_may_contradict_it(accepted: tuple[StepVerdict, ...], rest: str, expected: bool) -> None:
    """A marker in the middle of a sentence that goes on to the contrary is no pass."""
    assert expected is contradicts_pass(f"I could say {PASS_MARKER}{rest}", accepted)


def test_text_before_a_marker_contradicts_nothing() -> None:
    """A report tells of what failed at first, and ends with the result."""
    assert not contradicts_pass(f"3 tests failed, I fixed them.\n{PASS_MARKER}", TESTS)
    assert not contradicts_pass("3 tests fail", TESTS)
