"""The screen of ``upbeat log``: one line per thing that happened, golden in both languages."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from journal_values import BARE, ENTRY, JSON
from wcwidth import wcswidth

from upbeat.core.journal.log_screen import entry_lines, log_lines
from upbeat.core.journal.record import JournalEntry
from upbeat.core.messages.layout import Screen, to_text

EXPECTED = Path(__file__).parent / "expected"
NOW = datetime(2026, 1, 2, 3, 9, tzinfo=UTC)


def entry(
    number: int, event: str, *effects: str, facts: tuple[dict[str, Any], ...] = (), **fields: Any
) -> JournalEntry:
    done = [{"kind": kind, "part": "turn", "text": "x" * 266} for kind in effects]
    session = "feedbeef-1" if number < 7 else "cafe-2"
    place = {"client": "claude-code", "session_id": session, "root": "/home/dev/shop", "at": "2026-01-02T03:04:05.678Z"}
    return JournalEntry(
        number, {**place, "event": event, "event_fields": fields, "effects": done, "facts": [*facts]}, "", ""
    )


ENTRIES = (
    entry(1, "SessionStarted"),
    entry(2, "PromptSubmitted", "inject_context", prompt="where does total_price apply the discount, and to what?"),
    entry(3, "ToolStarting", "deny", tool="Bash", command="rm -rf ~", call_id="a"),
    entry(4, "ToolStarting", tool="Bash", command="pytest -q", call_id="b"),
    entry(5, "ToolFinished", tool="Bash", command="pytest -q", call_id="b", exit_code=1),
    entry(6, "TurnEnding"),
    entry(
        7,
        "PromptSubmitted",
        "inject_context",
        facts=({"kind": "workflow_started", "run": {"workflow": "quick"}},),
        prompt="给正好 100 的购物车打折，并检查所有相关的测试是否仍然通过",
    ),
    entry(8, "SubagentRequested", "prepend_prompt", agent_type="upbeat:developer", prompt="do it", call_id="c"),
    entry(9, "SubagentReturned", facts=({"kind": "step_finished", "step_key": "DEV", "verdict": "fail"},)),
    entry(10, "TurnEnding", "continue_turn", facts=({"kind": "turn_continued"},)),
    entry(11, "TurnEnding", facts=({"kind": "workflow_ended", "status": "complete"},)),
)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_golden(language: str) -> None:
    """A summary, sessions as titles, and lines in words; a request that was run has one line, with its result."""
    expected = (EXPECTED / f"log_screen_{language}.txt").read_text(encoding="utf-8")

    assert expected == to_text(log_lines(ENTRIES, Screen(language, 80, NOW))) + "\n"


def test_no_title_within_a_session() -> None:
    """Lines that follow those of the same session have no title."""
    assert 1 == len(list(entry_lines([ENTRY], Screen(now=NOW), "s-1")))
    assert 3 == len(list(entry_lines([ENTRY], Screen(now=NOW), "other")))


def test_unknown_and_malformed_records() -> None:
    """A record of an unknown event, or with values of the wrong types, has a line as well."""
    malformed = JournalEntry(9, {"event": 5, "event_fields": 3, "effects": [3], "facts": "x", "at": 7}, "", "")
    text = to_text(log_lines([BARE, malformed], Screen(now=NOW)))

    assert "    8  4 min ago    · Tea" in text
    assert "    9  7            · 5" in text


@pytest.mark.parametrize(
    ("event", "fields", "line"),
    [
        ("internal_error", {"traceback": "Traceback:\n  x\nKeyError: 'a'\n"}, "✗ upbeat failed: KeyError: 'a'"),
        ("internal_error", {}, "✗ upbeat failed; the client went on without it"),
        ("invalid_payload", {"problem": "not JSON"}, "✗ the client sent what upbeat cannot read: not JSON"),
        ("hook_unanswered", {"hook": "Stop"}, "✗ a hook got no answer: Stop"),
    ],
)
def test_faults_of_upbeat_are_told(event: str, fields: dict[str, Any], line: str) -> None:
    """What went wrong in upbeat itself is said with its cause."""
    assert to_text(entry_lines([entry(1, event, **fields)], Screen(columns=100, now=NOW))).endswith(f"  {line}")


@given(st.dictionaries(st.sampled_from(["event", "event_fields", "effects", "facts", "at", "root"]), JSON), JSON)
def test_no_line_is_wider_than_the_screen(body: dict[str, Any], prompt: Any) -> None:
    """Whatever a record has, it takes one line, which fits."""
    entries = [JournalEntry(1, body, "", ""), entry(2, "PromptSubmitted", "inject_context", prompt=str(prompt))]
    for columns in (40, 80):
        lines = list(entry_lines(entries, Screen("en", columns, NOW)))
        assert [] == [line for line in lines if wcswidth(line.text) > columns or "\n" in line.text]


def test_a_part_says_that_it_is_one() -> None:
    """The figures above a part of the records are those of the part, and the screen says so."""
    text, whole = (to_text(log_lines(ENTRIES, Screen("en", 80, NOW), total)) for total in (99, len(ENTRIES)))

    assert f"These are the last {len(ENTRIES)} of 99 records; --last N shows more." in text
    assert "These are the last" not in whole
