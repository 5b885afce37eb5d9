"""A handoff is read from any message; what it leaves out is named; what is passed on fits."""

from __future__ import annotations

from textwrap import dedent
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from upbeat.core.workflow.handoff import SECTIONS, Handoff, parse_handoff

WHOLE = Handoff("c", "f", "- a.py", "q?")


@pytest.mark.parametrize(
    "text",
    [
        "## Context\nc\n## Findings\nf\n## Files Modified\n- a.py\n## Open Questions\nq?",
        "# Context\r\nc\r\n\r\n# Findings #\r\nf\r\n\r\n# Files Modified\r\n- a.py\r\n# Open Questions:\r\nq?\r\n",
        "**Context**\nc\n**Findings:**\nf\n**Files modified**:\n- a.py\n**Open Questions**\nq?",
        "**Context**: c\n\n- **Findings:** f\n__Files Modified__\n- a.py\n\n**Open questions**： q?\n",
        "### **Context**\nc\n### 2. Findings\nf\n###### Modified files\n- a.py\n### Questions\nq?",
        "## 背景\nc\n## 發現\nf\n## 修改的檔案\n- a.py\n## 未決問題\nq?",
        "## 一、背景\nc\n## 二、发现：\nf\n**修改的文件**\n- a.py\n**待确认**：q?",
        "## Open Questions\nq?\n## Files Modified\n- a.py\n## Findings\nf\n## Context\nc\n",
        "## Context\nc\n## Findings\nf\n## Files Modified\n- a.py\n## Open Questions\nq?\n<!-- VERDICT: PASS -->",
    ],
)
def test_sections(text: str) -> None:
    """Any level, bold, order, number and either language; comments for machines are not passed on."""
    assert (WHOLE, ()) == (parse_handoff(text), parse_handoff(text).missing_sections)


@pytest.mark.parametrize(
    ("text", "expected", "missing"),
    [
        ("", Handoff(), SECTIONS),
        ("All done.", Handoff(other_text="All done."), SECTIONS),
        ("The Context is clear.\nFindings", Handoff(other_text="The Context is clear.\nFindings"), SECTIONS),
        (
            "```\n## Context\n```\n**Note**\nx",
            Handoff(other_text="```\n## Context\n```\n**Note**\nx"),
            SECTIONS,
        ),
        ("```\n```x\n# Findings\n```", Handoff(other_text="```\n```x\n# Findings\n```"), SECTIONS),
        ("<!-- open\nfindings", Handoff(other_text="<!-- open\nfindings"), SECTIONS),
        (
            "Hello.\n# Handoff\n## Context\nc\n### More\nd\n```\n# Findings\n```\n## Summary\ns\n## Findings\n\n",
            Handoff(context="c\n### More\nd\n```\n# Findings\n```", other_text="Hello.\n# Handoff\n## Summary\ns"),
            ("Findings", "Files Modified", "Open Questions"),
        ),
        (
            "**Findings**\none\n**important**: two\n## Findings\nthree",
            Handoff(findings="one\n**important**: two\n\nthree"),
            ("Context", "Files Modified", "Open Questions"),
        ),
    ],
)
def test_what_is_missing(text: str, expected: Handoff, missing: tuple[str, ...]) -> None:
    """Only headings of sections head one; what is not there, or says nothing, is missing."""
    assert (expected, missing) == (parse_handoff(text), parse_handoff(text).missing_sections)


LONG = Handoff("c", "\n".join(f"finding {number}" for number in range(100)), "- a.py\n- b.py", "q?")


def test_a_cut_that_is_wide_enough() -> None:
    """What fits is passed on whole, in order, without what stands in no section."""
    assert "## Context\nc\n\n## Findings\nf\n\n## Files Modified\n- a.py\n\n## Open Questions\nq?" == Handoff(
        *("c", "f", "- a.py", "q?"), other_text="hello"
    ).truncate(200)


def test_a_cut_takes_from_the_longest() -> None:
    """The short sections are kept whole; the long one loses whole lines, and says how many."""
    assert dedent("""\
        ## Context
        c

        ## Findings
        finding 0
        finding 1
        finding 2
        … (lines left out: 97)

        ## Files Modified
        - a.py
        - b.py

        ## Open Questions
        q?""") == LONG.truncate(140)


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
def test_other_cuts(handoff: Handoff, limit: int, expected: str) -> None:
    """A message without sections is cut at its end, a line that is longer than all room inside of it."""
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
    """Any text is a handoff; no cut is longer than its limit, and a wide one loses no section."""
    handoff = parse_handoff(text)

    assert set(handoff.missing_sections) == {name for name, said in handoff.sections if not said}
    assert len(handoff.truncate(limit)) <= max(limit, 0)
    assert all(said in handoff.truncate(10_000) for _, said in handoff.sections)


def test_a_cut_is_a_handoff_again() -> None:
    """What is passed on has the same sections."""
    assert ((), "q?") == (
        parse_handoff(LONG.truncate(140)).missing_sections,
        parse_handoff(LONG.truncate(160)).open_questions,
    )


@pytest.mark.parametrize(
    "text", ["**" * 30_000, "#" * 60_000, "# " + " " * 60_000 + "x", "\n" * 60_000, "- " * 30_000 + "**x**"]
)
def test_time_grows_with_length(text: str) -> None:
    """A message that is made to take long is read at once."""
    start = process_time()
    parse_handoff(text).truncate(1000)

    assert process_time() - start < 5
