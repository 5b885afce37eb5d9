"""The verdict of prose, the phrase tables behind it, and test counts."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from case_files import read_cases, read_json_groups

from upbeat.core.package_data import load_toml
from upbeat.core.workflow.verdict import prose
from upbeat.core.workflow.verdict.classify import ParsedVerdict, StepVerdict, parse_verdict
from upbeat.core.workflow.verdict.prose import (
    ResultCount,
    _patterns,
    find_result_counts,
    normalize_for_matching,
)

GROUPS = read_json_groups(Path(__file__).with_name("cases.jsonl"))

PHRASES = load_toml(prose.__package__, "phrases.toml")
TABLES = [(name, "") for name, table in PHRASES.items() if isinstance(table, str)]
TABLES += [(name, key) for name in ("standalone", "positive", "negative") for key in PHRASES[name]]

STAGES = {
    "tests": (StepVerdict.PASS, StepVerdict.FAIL),
    "review": (StepVerdict.PASS, StepVerdict.REJECT),
    "retro": (StepVerdict.PASS, StepVerdict.ISSUES),
    "work": (StepVerdict.PASS,),
}
CASES = read_cases(Path(__file__).parent / "prose_cases.tsv")


@pytest.mark.parametrize(("stage", "expected", "message"), CASES)
def test_case(stage: str, expected: str, message: str) -> None:
    """Clear statements decide; negated, expected, past, conditional, quoted and partial ones never do."""
    parsed = parse_verdict(message, STAGES[stage])

    if expected.startswith("!"):
        assert parsed.verdict != expected[1:]
    else:
        assert ParsedVerdict(StepVerdict(expected)) == parsed


def test_most_cases_are_unclear() -> None:
    """Of the sentences that could decide, more must not decide than pass or fail."""
    outcomes = [expected for stage, expected, _message in CASES if stage != "work"]

    assert len(outcomes) > 120
    assert sum(expected == "unclear" or expected.startswith("!") for expected in outcomes) > len(outcomes) / 2


@pytest.mark.parametrize(("table", "key"), TABLES)
def test_patterns(table: str, key: str) -> None:
    """Each pattern compiles, matches no empty text, and is in lower case and simplified characters."""
    patterns = _patterns(table, key)
    bare = [re.sub(r"\\[A-Z]|[：，；！。]", "", pattern) for pattern in patterns]

    assert patterns
    assert [] == [pattern for pattern in patterns if re.compile(pattern).search("")]
    assert bare == [normalize_for_matching(pattern) for pattern in bare]


def test_fragments_are_filled_in() -> None:
    """No placeholder is left in a pattern."""
    assert [] == [text for table in TABLES for text in _patterns(*table) if re.search(r"\{[a-z]+\}", text)]


@pytest.mark.parametrize(("text", "expected"), GROUPS["count"])
def test_counts(text: str, expected: list[list[bool | None]]) -> None:
    """Each count is positive, negative or neither, and says whether it covers failures."""
    assert expected == [[count.is_positive, count.covers_all] for count in find_result_counts(text)]


def test_spans() -> None:
    """A count has the span of its text, and counts are in order."""
    text = "so 2 failed and 12 passed."
    first, second = find_result_counts(text)

    assert ResultCount(False, 3, 11) == first
    assert "12 passed" == text[second.start : second.end]
