"""Lines of ``codex exec`` become events; any other line becomes an ``UnrecognizedEvent``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from case_files import read_groups
from hypothesis import given
from hypothesis import strategies as st

from upbeat.adapters.codex.transport.base import Failed, FailureReason, UnrecognizedEvent
from upbeat.adapters.codex.transport.exec.events import decode, failure_from_exit

CASES = read_groups(Path(__file__).with_name("events_cases.tsv"))


def test_lines_become_events() -> None:
    """Each line has its event; an unknown one is named, and a field that is missing or of another type is empty."""
    deep = "[" * 100_000

    assert CASES["line"] == [(line, repr(decode(line.encode()))) for line, _ in CASES["line"]]
    assert UnrecognizedEvent("not JSON") == decode(deep.encode())


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(), lambda v: st.lists(v) | st.dictionaries(st.text(), v)
)
names = st.sampled_from(
    ["type", "item", "usage", "error", "changes", "thread_id", "message", "text", "status", "exit_code", "id", "tool"]
)
kinds = st.sampled_from(
    [
        *("thread.started", "turn.completed", "turn.failed", "error", "item.started", "item.completed"),
        *("agent_message", "command_execution", "file_change", "mcp_tool_call", "reasoning"),
    ]
)
nearly = st.recursive(kinds | json_values, lambda v: st.dictionaries(names, v) | st.lists(v, max_size=3), max_leaves=12)


@given(st.binary() | nearly.map(lambda value: json.dumps(value).encode()))
def test_decode_is_total(line: bytes) -> None:
    """Whatever the line is, there is an event for it."""
    assert decode(line) is not None


@given(st.integers(), st.text(), st.booleans())
def test_failure_from_exit_is_total(code: int, stderr: str, began: bool) -> None:
    """Whatever Codex leaves behind, there is a reason."""
    assert failure_from_exit(code, stderr, has_begun=began).reason in FailureReason


@pytest.mark.parametrize(("exit_code", "has_begun", "stderr", "reason", "text"), CASES["exit"])
def test_an_exit_without_an_ending(exit_code: str, has_begun: str, stderr: str, reason: str, text: str) -> None:
    """Standard error says why a turn did not begin; once it has begun, the same words may be output of a command."""
    failure = failure_from_exit(int(exit_code), stderr, has_begun=has_begun == "True")

    assert Failed(FailureReason(reason), text) == failure
