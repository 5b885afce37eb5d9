"""The verdict of prose, and the phrase tables behind it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from case_files import read_cases

from upbeat.core.package_data import load_toml
from upbeat.core.workflow.verdict import prose
from upbeat.core.workflow.verdict.classify import ParsedVerdict, StepVerdict, parse_verdict
from upbeat.core.workflow.verdict.prose import _patterns, normalize_for_matching, sentence_at

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
    elif expected == "unclear":
        assert ParsedVerdict(StepVerdict.UNCLEAR) == parsed
    else:
        assert (expected, "prose") == (parsed.verdict, parsed.source)
        assert stage != "work" or bool(parsed.quote) is (expected == "fail")


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
    assert [] == [one for table in TABLES for one in _patterns(*table) if re.search(r"\{[a-z]+\}", one)]


@pytest.mark.parametrize(
    ("offset", "sentence"), [(0, "One is fine."), (13, "Two failed!"), (27, "Three")], ids=["first", "second", "last"]
)
def test_sentence_at(offset: int, sentence: str) -> None:
    """The sentence around an offset, without the space around it."""
    assert sentence == sentence_at("One is fine. Two failed! \n Three", offset)
