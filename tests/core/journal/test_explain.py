"""A record explained: whole texts and whole documents, in both languages."""

from __future__ import annotations

from journal_values import BARE, ENTRY

from upbeat.core.journal.entry import (
    JournalEntry,
)
from upbeat.core.journal.explain import explanation_document, format_explanation
from upbeat.core.journal.overview import (
    entry_line,
)
from upbeat.core.messages.catalogue import LANGUAGES, load_messages

EN, ZH = (load_messages("journal", language) for language in LANGUAGES)


def test_why() -> None:
    """Who said what, on what grounds, from which file, effects, how long it took."""
    expected = """\
record 7: TurnEnding at 2026-01-02T03:04:05.678Z, claude-code
  session s-1
  in /repo
event fields: stop_hook_active=false
turn: run_id=r, tools=["ci_search:ok"]
facts: workflow_started

loop: continue_turn
  reason: PLAN is not done
  inputs: step=PLAN, n=1
  configured at /home/auto-tools.toml:3
  took 1.2 ms

effects:
  continue_turn, 15 characters
  | go on
  | with PLAN
total: 3.2 ms, 0 characters injected"""

    assert expected == format_explanation(ENTRY, EN)


def test_why_without_anybody() -> None:
    """Where nobody said anything, that is what is said."""
    assert """\
record 8: Tea at 2026-01-02T03:04:05.678Z, -

no component made a decision

no effects
total: 0 ms, 0 characters injected""" == format_explanation(BARE, EN)


def test_why_in_chinese() -> None:
    """The same is told in Chinese."""
    assert """\
记录 8：Tea，2026-01-02T03:04:05.678Z，-

没有组件做出决定

没有效果
共 0 毫秒，注入 0 个字符""" == format_explanation(BARE, ZH)


def test_the_document_of_why() -> None:
    """The document has all of it, with its version."""
    assert {
        "schema_version": "1.0",
        "record": {
            "seq": 7,
            "at": "2026-01-02T03:04:05.678Z",
            "event": "TurnEnding",
            "client": "claude-code",
            "session_id": "s-1",
            "agent_id": "",
            "root": "/repo",
            "duration_ms": 3.2,
            "injected_chars": 0,
            "event_fields": {"stop_hook_active": False},
            "turn": {"run_id": "r", "tools": ["ci_search:ok"]},
        },
        "explanations": [
            {
                "component": "loop",
                "decision": "continue_turn",
                "reason": "PLAN is not done",
                "inputs": {"step": "PLAN", "n": 1},
                "config_location": "/home/auto-tools.toml:3",
                "duration_ms": 1.25,
            }
        ],
        "effects": [{"kind": "continue_turn", "text": "go on\nwith PLAN", "characters": 15}],
        "facts": ["workflow_started"],
    } == explanation_document(ENTRY)


def test_a_spoilt_record_is_still_explained() -> None:
    """A record in a form that nobody writes does not break its explanation."""
    spoilt = JournalEntry(
        9, {"event": 5, "explanations": "x", "effects": [3], "duration_ms": "y", "event_fields": [1]}, "", ""
    )

    assert "record 9: 5 at , -\nevent fields: [1]\n" in format_explanation(spoilt, EN)
    assert "     9  -            -         5                   y ms" == entry_line(spoilt)
