"""Handoffs are parsed from any message, and cut to a limit."""

from __future__ import annotations

from pathlib import Path

import pytest
from case_files import read_json_groups
from hypothesis import given
from hypothesis import strategies as st

from upbeat.core.workflow.handoff import (
    MAX_HANDOFF_CHARS,
    Handoff,
    handoff_file_name,
    handoff_path,
    join_handoffs,
    parse_handoff,
)

CASES = read_json_groups(Path(__file__).with_name("handoff_cases.jsonl"))

WHOLE = Handoff("c", "f", "- a.py", "q?")


@pytest.mark.parametrize("text", [case for (case,) in CASES["whole"]])
def test_sections(text: str) -> None:
    """Sections may have any level, bold or numbered headings, any order and either language; comments are skipped."""
    assert (WHOLE, ()) == (parse_handoff(text), parse_handoff(text).missing_sections)


@pytest.mark.parametrize(("text", "fields", "missing"), CASES["missing"])
def test_missing_sections(text: str, fields: dict[str, str], missing: list[str]) -> None:
    """Only a heading begins a section; a section that is absent or empty is missing."""
    assert (Handoff(**fields), tuple(missing)) == (parse_handoff(text), parse_handoff(text).missing_sections)


LONG = Handoff("c", "\n".join(f"finding {number}" for number in range(100)), "- a.py\n- b.py", "q?")


def test_a_handoff_within_the_limit() -> None:
    """A handoff within the limit is complete and in order, without the text outside of its sections."""
    assert "## Context\nc\n\n## Findings\nf\n\n## Files Modified\n- a.py\n\n## Open Questions\nq?" == Handoff(
        *("c", "f", "- a.py", "q?"), other_text="hello"
    ).truncate(200)


def test_the_longest_section_is_cut() -> None:
    """Short sections are complete; the longest one loses whole lines, which are counted."""
    expected = Path(__file__).with_name("cut_handoff.md").read_text(encoding="utf-8")

    assert expected == LONG.truncate(140) + "\n"


@pytest.mark.parametrize(
    ("handoff", "limit", "expected"),
    [
        (Handoff(other_text="one\ntwo"), 7, "one\ntwo"),
        (Handoff(other_text="one\ntwo\n" + "x" * 50), 40, "one\ntwo\n… (lines left out: 1)"),
        (Handoff(other_text="one\ntwo\n" + "x" * 50), 29, "one\ntwo\n… (lines left out: 1)"),
        (Handoff(other_text="one\ntwo\n" + "x" * 50), 28, "one\n… (lines left out: 2)"),
        (Handoff(other_text="x" * 50), 10, "x" * 9 + "…"),
        (Handoff(), 10, ""),
        (LONG, 0, ""),
        (LONG, -5, ""),
    ],
)
def test_cuts_without_sections(handoff: Handoff, limit: int, expected: str) -> None:
    """A message without sections is cut after a line, or inside of one that is longer than the limit."""
    assert expected == handoff.truncate(limit)


_lines = st.sampled_from(
    [
        *("## Context", "**Findings**: x", "### 發現", "# Other", "```", "~~~~", "text", "", "- item", "**bold**"),
        *("Files Modified", "<!-- x -->", "#### Open Questions", "x" * 70),
    ]
) | st.text(max_size=8)
_messages = st.lists(_lines, max_size=20).map("\n".join) | st.text()


@given(_messages, st.integers(-5, 400))
def test_any_message(text: str, limit: int) -> None:
    """Any text is a handoff; a cut never exceeds its limit, and a wide one loses no section."""
    handoff = parse_handoff(text)

    assert set(handoff.missing_sections) == {name for name, text_of in handoff.sections if not text_of}
    assert len(handoff.truncate(limit)) <= max(limit, 0)
    assert all(section in handoff.truncate(10_000) for _, section in handoff.sections)


def test_a_cut_handoff_has_its_sections() -> None:
    """A cut handoff is parsed into the same sections."""
    assert ((), "q?") == (
        parse_handoff(LONG.truncate(140)).missing_sections,
        parse_handoff(LONG.truncate(160)).open_questions,
    )


def test_the_files_of_handoffs() -> None:
    """Each step has a file of its own in the folder of its run."""
    assert "/state/r1/TEST-2.md" == handoff_path("/state", "r1", "TEST:2")
    assert "DEV-1.md" == handoff_file_name("DEV#1")


def test_handoffs_of_several_calls_are_joined() -> None:
    """Each keeps its share of the limit; one alone is unchanged."""
    joined = join_handoffs(["a" * 1000, "", "b" * 1000])

    assert len(joined) <= MAX_HANDOFF_CHARS
    assert ("aaa", "bbb") == (joined[:3], joined[-4:-1])
    assert ("one", "") == (join_handoffs(["one"]), join_handoffs([]))
