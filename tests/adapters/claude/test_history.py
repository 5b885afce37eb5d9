"""The past in Claude Code's transcripts: recorded ones, and broken ones."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from journal_values import JSON

from upbeat.adapters.claude.history import ClaudeHistory
from upbeat.core.contract.event import (
    PromptSubmitted,
    SubagentRequested,
    SubagentReturned,
    ToolFinished,
    ToolStarting,
    TurnEnding,
)
from upbeat.core.rules.backtest import HistoryItem, RecordedCallEnd, RecordedEvent

HOME = Path(__file__).parents[2] / "recorded" / "claude-code"


def told(path: str, since: str = "") -> list[HistoryItem]:
    return list(ClaudeHistory(HOME).read_events(path, since))


def transcript(session: str) -> str:
    [found] = (HOME / "projects" / "-home-dev-shop").glob(f"**/{session}*.jsonl")
    return str(found)


def test_a_session_is_read_as_its_hooks_would_have_reported_it() -> None:
    """Prompt, calls with their kinds, results and the end of the turn come in order."""
    happened = told(transcript("e6ffe2b4"))
    events = [one.event for one in happened if isinstance(one, RecordedEvent)]

    assert {
        PromptSubmitted: 1,
        ToolStarting: 6,
        ToolFinished: 3,
        SubagentRequested: 1,
        SubagentReturned: 1,
        TurnEnding: 1,
    } == Counter(map(type, events))
    assert "BEGIN work" == events[0].prompt  # type: ignore[union-attr]
    assert ("Bash", "ls", "s") == (events[1].call.tool, events[1].command, "s")  # type: ignore[union-attr]
    assert ["/home/dev/shop/shop/cart.py"] == [
        path for event in events if isinstance(event, ToolFinished) for path in event.call.paths if "cart" in path
    ]


@pytest.mark.parametrize(
    ("session", "expected"),
    [
        ("e6ffe2b4", "succeeded denied denied succeeded denied succeeded succeeded"),
        ("2f3e882e", "failed denied"),
        ("c973405c", "denied denied succeeded failed"),
        ("101c8c89", "denied denied succeeded failed"),
    ],
    ids=["2.1.329", "its user said no", "a hook and a rule said no, 2.1.197", "a hook and a rule said no, 2.1.329"],
)
def test_how_calls_ended(session: str, expected: str) -> None:
    """A tool's error is a failure, and a call that was not allowed is denied, in both versions."""
    assert expected.split() == [item.status for item in told(transcript(session)) if isinstance(item, RecordedCallEnd)]


def test_a_subagents_calls_belong_to_its_session() -> None:
    """They have the subagent's id; its instructions are no prompt."""
    happened = told(transcript("agent-a4f5b08fce26d0480"))
    sources = {
        (one.event.source.session_id[:8], one.event.source.agent_id)
        for one in happened
        if isinstance(one, RecordedEvent)
    }

    assert {("e6ffe2b4", "a4f5b08fce26d0480")} == sources
    assert [ToolStarting, ToolFinished] == [type(one.event) for one in happened if isinstance(one, RecordedEvent)]


def test_older_lines_are_left_out() -> None:
    """No item is from before the given time."""
    assert [] == told(transcript("e6ffe2b4"), since="2026-11-23")


def test_transcripts_of_sessions_and_subagents_are_listed(tmp_path: Path) -> None:
    """Other files are not, and no link is followed."""
    shutil.copytree(HOME / "projects", tmp_path / "projects")
    project = tmp_path / "projects" / "-home-dev-shop"
    (project / "notes.md").write_text("x")
    (project / "link.jsonl").symlink_to(transcript("e6ffe2b4"))
    (project / "memory").mkdir()
    (project / "memory" / "deep.jsonl").write_text("{}")

    assert 5 == len(ClaudeHistory(tmp_path).recordings(0))
    assert [] == ClaudeHistory(tmp_path).recordings(4e9)
    assert [] == ClaudeHistory(tmp_path / "nowhere").recordings(0)


def test_nothing_in_a_transcript_makes_reading_fail(tmp_path: Path) -> None:
    """Lines of other kinds, partial lines and unexpected values are skipped."""
    lines = Path(transcript("e6ffe2b4")).read_bytes().splitlines()
    path = tmp_path / "s.jsonl"

    @given(st.lists(st.sampled_from(lines), max_size=6), JSON, st.integers(0, 400))
    def check(known: list[bytes], content: object, cut: int) -> None:
        odd = [
            {"type": kind, "timestamp": "2026-11-22T04:00:00Z", "message": message}
            for kind in ("user", "assistant")
            for message in (
                content,
                {"content": content},
                {"content": [{"type": "tool_use", "id": "x", "name": "Bash", "input": content}]},
                {"content": [{"type": "tool_result", "tool_use_id": "x", "content": content}]},
            )
        ]
        path.write_bytes(b"\n".join([*known, *(json.dumps(one).encode() for one in odd), lines[1][:cut]]) + b"\n")
        told(str(path))

    check()
