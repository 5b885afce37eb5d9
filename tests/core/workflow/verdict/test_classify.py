"""The verdict of a message: markers, families, notes, and that nothing is too odd to be read."""

from __future__ import annotations

from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from upbeat.core.workflow.state import StepVerdict
from upbeat.core.workflow.verdict.classify import (
    ParsedVerdict,
    extract_failure_notes,
    parse_stage_verdicts,
    parse_verdict,
)

TESTS = (StepVerdict.PASS, StepVerdict.FAIL)
REVIEW = (StepVerdict.PASS, StepVerdict.REJECT)
RETRO = (StepVerdict.PASS, StepVerdict.ISSUES)
WORK = (StepVerdict.PASS,)

PASS_MARKER = '<!-- VERDICT: {"result": "PASS", "stage": "TEST:2", "call": "k7f2"} -->'

MARKERS = [
    pytest.param(PASS_MARKER, "pass", "k7f2", "TEST:2", id="whole"),
    pytest.param('<!--verdict:{"Result":"pass"}-->', "pass", "", "", id="case and spaces"),
    pytest.param('<!--   VERDICT :  { "result" : "Fail" }   -->', "fail", "", "", id="more spaces"),
    pytest.param("<!-- VERDICT: {'result': 'FAIL', 'call': 'k7f2'} -->", "fail", "k7f2", "", id="single quotes"),
    pytest.param("<!-- VERDICT: {result: PASS} -->", "pass", "", "", id="no quotes"),
    pytest.param('&lt;!-- VERDICT: {"result": "FAIL"} --&gt;', "fail", "", "", id="escaped"),
    pytest.param("<!-- VERDICT: PASS -->", "pass", "", "", id="only a word"),
    pytest.param('<!-- VERDICT: "FAIL" -->', "fail", "", "", id="a JSON string"),
    pytest.param('<!-- VERDICT: {"result": "PASS", "why": {"a": [1]}, "n": 3} -->', "pass", "", "", id="extra keys"),
    pytest.param('<!-- VERDICT: {"result": "PASS",} -->', "pass", "", "", id="trailing comma"),
    pytest.param('<!-- VERDICT:\n{"result":\n"PASS"}\n-->', "pass", "", "", id="several lines"),
    pytest.param(f"{PASS_MARKER}\nAs said:\n{PASS_MARKER}", "pass", "k7f2", "TEST:2", id="twice the same"),
    pytest.param(f"2 tests failed.\n{PASS_MARKER}", "pass", "k7f2", "TEST:2", id="outranks words"),
    pytest.param(f"```\n1 failed\n```\n{PASS_MARKER}", "pass", "k7f2", "TEST:2", id="after a fence"),
    pytest.param(f'It\'s 12" wide {PASS_MARKER} and 5" high', "pass", "k7f2", "TEST:2", id="inches are no quotes"),
    pytest.param(f"x {'y' * 300_000}\n{PASS_MARKER}", "pass", "k7f2", "TEST:2", id="at the end of much text"),
    pytest.param('<!-- VERDICT: {"result": "MAYBE"} -->', "unclear", "", "", id="unknown result"),
    pytest.param('<!-- VERDICT: {"result": "PASS|FAIL"} -->', "unclear", "", "", id="not filled in"),
    pytest.param("<!-- VERDICT: {} -->", "unclear", "", "", id="no result"),
    pytest.param("<!-- VERDICT: [1, 2] -->", "unclear", "", "", id="not an object"),
    pytest.param(
        '<!-- VERDICT: {"result": "PASS"} --><!-- VERDICT: {"result": "FAIL"} -->', "unclear", "", "", id="two"
    ),
]


@pytest.mark.parametrize(("message", "verdict", "call", "stage"), MARKERS)
def test_marker(message: str, verdict: str, call: str, stage: str) -> None:
    """A marker decides, however it is written, and tells its stage and call."""
    reading = parse_verdict(message, TESTS)

    assert (verdict, "marker", call, stage) == (reading.verdict, reading.source, reading.call_id, reading.step_key)


@pytest.mark.parametrize(
    "message",
    [
        pytest.param(f"```\n{PASS_MARKER}\n```", id="fence"),
        pytest.param(f"~~~html\n{PASS_MARKER}\n~~~", id="other fence"),
        pytest.param(f"```\n{PASS_MARKER}", id="fence without an end"),
        pytest.param(f"End with `{PASS_MARKER}` please", id="backticks"),
        pytest.param(f"> {PASS_MARKER}", id="quoted line"),
        pytest.param(f'The brief says "{PASS_MARKER}"', id="quotes"),
        pytest.param(f"模板是「{PASS_MARKER}」", id="Chinese quotes"),
        pytest.param("VERDICT: {}", id="no comment"),
    ],
)
def test_marker_that_is_shown_does_not_count(message: str) -> None:
    """A marker that is only shown is no verdict."""
    assert ParsedVerdict(StepVerdict.UNCLEAR) == parse_verdict(message, TESTS)


@pytest.mark.parametrize(
    ("accepted", "result", "verdict"),
    [
        (TESTS, "FAIL", StepVerdict.FAIL),
        (TESTS, "REJECT", StepVerdict.FAIL),
        (REVIEW, "REJECT", StepVerdict.REJECT),
        (REVIEW, "ISSUES", StepVerdict.REJECT),
        (REVIEW, "FAIL", StepVerdict.FAIL),
        (RETRO, "ISSUES", StepVerdict.ISSUES),
        (RETRO, "FAIL", StepVerdict.FAIL),
        (WORK, "FAIL", StepVerdict.FAIL),
        (WORK, "REJECT", StepVerdict.FAIL),
        (WORK, "PASS", StepVerdict.PASS),
        (REVIEW, "APPROVED", StepVerdict.PASS),
        ((), "FAIL", StepVerdict.FAIL),
    ],
)
def test_marker_fits_the_stage(accepted: tuple[StepVerdict, ...], result: str, verdict: StepVerdict) -> None:
    """FAIL is believed for every stage; another bad word becomes the stage's own."""
    assert verdict == parse_verdict(f'<!-- VERDICT: {{"result": "{result}"}} -->', accepted).verdict


def test_read_all_gives_one_for_each_stage() -> None:
    """read_all gives one reading for each stage that is named, contradictions as unclear."""
    message = "\n".join(
        f'<!-- VERDICT: {{"result": "{result}", "stage": "{stage}"}} -->'
        for result, stage in [("PASS", "DEV"), ("FAIL", "test"), ("FAIL", "TEST"), ("PASS", "QA"), ("FAIL", "QA")]
    )

    found = [
        (reading.step_key.upper(), reading.verdict)
        for reading in parse_stage_verdicts(message + "\n<!-- VERDICT: PASS -->")
    ]

    assert [("DEV", StepVerdict.PASS), ("TEST", StepVerdict.FAIL), ("QA", StepVerdict.UNCLEAR)] == found


def test_read_all_of_a_message_without_markers() -> None:
    """read_all says nothing for words."""
    assert () == parse_stage_verdicts("All tests pass.")


def test_two_stages_that_agree() -> None:
    """Markers of two stages with one result have that result, and name no stage."""
    message = '<!-- VERDICT: {"result":"PASS","stage":"QA"} -->\n<!-- VERDICT: {"result":"PASS","stage":"E2E"} -->'

    assert ParsedVerdict(StepVerdict.PASS, "marker", quote="PASS") == parse_verdict(message, TESTS)


def test_quote_is_the_sentence_that_decided() -> None:
    """The quote is the sentence that the verdict rests on."""
    reading = parse_verdict("I ran them. 11 tests pass, but `total` fails on line 3. See below.", TESTS)

    assert ParsedVerdict(StepVerdict.FAIL, "prose", quote="11 tests pass, but `total` fails on line 3.") == reading


NOTES = [
    pytest.param(
        "I ran the suite.\n12 tests in all. 2 tests failed. The cart is wrong because the tax is added twice.\n"
        f"Thanks.\n{PASS_MARKER}",
        "2 tests failed. The cart is wrong because the tax is added twice.",
        id="what and why",
    ),
    pytest.param("I looked at cart.py. Thanks.", "I looked at cart.py. Thanks.", id="nothing telling"),
    pytest.param("```\nE  AssertionError: 3 == 4\n```", "E AssertionError: 3 == 4", id="from a fence"),
    pytest.param("看了一遍。测试失败,因为总价为空。谢谢。", "测试失败,因为总价为空。", id="Chinese"),
    pytest.param("", "", id="empty"),
]


@pytest.mark.parametrize(("message", "expected"), NOTES)
def test_notes(message: str, expected: str) -> None:
    """Notes are the sentences that say what is wrong and why."""
    assert expected == extract_failure_notes(message)


def test_notes_are_cut_between_sentences() -> None:
    """Notes keep whole sentences, and cut the first one only when it is too long itself."""
    assert "The cart failed." == extract_failure_notes("The cart failed. The tax failed because of the lock.", 20)
    assert "The cart failed bec…" == extract_failure_notes("The cart failed because of the lock.", 20)


PIECES = (
    *("all tests pass", "2 tests failed", "测试失败", "如果", ". ", ", ", "\n", "```", "`", '"', "not ", "but "),
    *("<!-- VERDICT: ", '{"result": "PASS"}', " -->", "0 failed", "12 passed", "> ", "\0", "\ud800", "fixed ", "「"),
)
FRAGMENTS = st.lists(st.sampled_from(PIECES), max_size=12).map("".join)


@given(st.one_of(FRAGMENTS, st.text(max_size=200)), st.sampled_from([TESTS, REVIEW, RETRO, WORK, ()]))
def test_reads_whatever_there_is(message: str, accepted: tuple[StepVerdict, ...]) -> None:
    """Any text gets a verdict that the stage can have, the notes stay within their limit, and a fence says nothing."""
    reading = parse_verdict(message, accepted)

    assert reading.verdict in {*accepted, StepVerdict.PASS, StepVerdict.FAIL, StepVerdict.UNCLEAR}
    assert len(extract_failure_notes(message, 60)) <= 60
    if "`" not in message and accepted in (TESTS, REVIEW, RETRO):
        assert ParsedVerdict(StepVerdict.UNCLEAR) == parse_verdict(f"```\n{message}\n```", accepted)


HEAVY = [
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


@pytest.mark.parametrize("message", HEAVY, ids=lambda message: message[:12])
def test_much_text_is_read_in_time(message: str) -> None:
    """50 KB of anything are read in a second or two, however they repeat themselves."""
    start = process_time()
    parse_verdict(message, TESTS)
    parse_verdict(message, RETRO)
    extract_failure_notes(message)

    assert process_time() - start < 2
