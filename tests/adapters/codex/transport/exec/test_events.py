"""Lines of ``codex exec`` become events; any other line becomes an ``UnrecognizedEvent``."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from upbeat.adapters.codex.transport.base import (
    CommandFinished,
    Completed,
    Failed,
    FailureReason,
    FileDiff,
    FilesChanged,
    ItemStarted,
    Message,
    Reasoning,
    Reconnecting,
    ThreadStarted,
    TokenUsage,
    ToolCall,
    TurnStarted,
    UnrecognizedEvent,
    WarningIssued,
)
from upbeat.adapters.codex.transport.exec.events import decode, failure_from_exit

RECORDED = [
    (
        '{"type":"thread.started","thread_id":"01a1fbb9-4f32-7d63-9e7f-2b9d3fbd401a"}',
        ThreadStarted("01a1fbb9-4f32-7d63-9e7f-2b9d3fbd401a"),
    ),
    ('{"type":"turn.started"}', TurnStarted()),
    (
        '{"type":"item.completed","item":{"id":"item_0","type":"reasoning","text":"thinking about it"}}',
        Reasoning("thinking about it"),
    ),
    (
        (
            '{"type":"item.started","item":{"id":"item_1","type":"command_execution","command":"sh -c \'echo hi\'",'
            '"aggregated_output":"","exit_code":null,"status":"in_progress"}}'
        ),
        ItemStarted("item_1", "sh -c 'echo hi'"),
    ),
    (
        (
            '{"type":"item.completed","item":{"id":"item_1","type":"command_execution","command":"ls",'
            '"aggregated_output":"hi\\n","exit_code":3,"status":"failed"}}'
        ),
        CommandFinished("item_1", "ls", "hi\n", 3),
    ),
    (
        (
            '{"type":"item.completed","item":{"id":"item_2","type":"file_change","changes":'
            '[{"path":"/p/a.txt","kind":"add"}],"status":"completed"}}'
        ),
        FilesChanged("item_2", (FileDiff("add", "/p/a.txt"),)),
    ),
    (
        '{"type":"item.completed","item":{"id":"item_3","type":"agent_message","text":"final answer"}}',
        Message("final answer"),
    ),
    (
        (
            '{"type":"item.completed","item":{"id":"item_4","type":"mcp_tool_call","server":"mem","tool":"save",'
            '"arguments":{},"result":null,"error":{"message":"needs approval"},"status":"failed"}}'
        ),
        ToolCall("item_4", "mem.save", "needs approval"),
    ),
    (
        '{"type":"item.started","item":{"id":"item_4","type":"mcp_tool_call","server":"mem","tool":"save"}}',
        ItemStarted("item_4", "mem.save"),
    ),
    (
        '{"type":"item.completed","item":{"id":"item_5","type":"collab_tool_call","tool":"spawn_agent","status":"failed"}}',
        ToolCall("item_5", "spawn_agent", "failed"),
    ),
    (
        '{"type":"item.completed","item":{"id":"i","type":"error","message":"unknown model"}}',
        WarningIssued("unknown model"),
    ),
    ('{"type":"error","message":"Reconnecting... 1/5"}', Reconnecting("Reconnecting... 1/5")),
    (
        '{"type":"turn.failed","error":{"message":"Quota exceeded."}}',
        Failed(FailureReason.TURN_FAILED, "Quota exceeded."),
    ),
    (
        (
            '{"type":"turn.completed","usage":{"input_tokens":400,"cached_input_tokens":160,"cache_write_input_tokens":0,'
            '"output_tokens":80,"reasoning_output_tokens":20}}'
        ),
        Completed(TokenUsage(400, 160, 80)),
    ),
]


@pytest.mark.parametrize(("line", "event"), RECORDED)
def test_recorded_lines_are_understood(line: str, event: object) -> None:
    """Each kind of line that Codex was seen to write has its event."""
    assert event == decode(line.encode())


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("", "not JSON"),
        ("{", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("[1]", "not an object"),
        ("{}", "no type"),
        ('{"type":7}', "no type"),
        ('{"type":"turn.paused"}', "turn.paused"),
        ('{"type":"item.updated","item":{}}', "item.updated"),
        ('{"type":"item.completed"}', "item without type"),
        ('{"type":"item.completed","item":{"type":"todo_list","items":[]}}', "item todo_list"),
    ],
)
def test_other_lines_are_unknown(line: str, what: str) -> None:
    """What a newer Codex says, or a broken one, is passed over and named."""
    assert UnrecognizedEvent(what) == decode(line.encode())


@pytest.mark.parametrize(
    ("line", "event"),
    [
        ('{"type":"turn.completed"}', Completed(TokenUsage())),
        ('{"type":"turn.completed","usage":{"input_tokens":-1,"output_tokens":true}}', Completed(TokenUsage())),
        ('{"type":"thread.started","thread_id":null}', ThreadStarted("")),
        ('{"type":"turn.failed","error":"text"}', Failed(FailureReason.TURN_FAILED)),
        (
            '{"type":"item.completed","item":{"type":"file_change","changes":[7,{}]}}',
            FilesChanged("", (FileDiff("", ""),)),
        ),
        (
            '{"type":"item.completed","item":{"type":"command_execution","exit_code":true}}',
            CommandFinished("", "", "", None),
        ),
    ],
)
def test_missing_fields_are_empty(line: str, event: object) -> None:
    """A field that is missing or of another type is an empty value, not an error."""
    assert event == decode(line.encode())


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
def test_diagnose_is_total(code: int, stderr: str, began: bool) -> None:
    """Whatever Codex leaves behind, there is a reason."""
    assert failure_from_exit(code, stderr, has_begun=began).reason in FailureReason


NO_ROLLOUT = "Error: thread/resume: thread/resume failed: no rollout found for thread id 01a1 (code -32600)"
WRITER = "Error: thread/resume: thread/resume failed: thread 01a1 already has an active writer (code -32600)"
ARCHIVED = "session x is archived. Run codex unarchive x"
CONFIG = "Error loading config.toml:\nf:1:9: bad"
LOG = "2026-11-21T01:39:04.387660Z ERROR codex_core::session: thread 01a1 already has an active writer"


@pytest.mark.parametrize(
    ("code", "stderr", "began", "failed"),
    [
        (1, NO_ROLLOUT, False, Failed(FailureReason.NO_ROLLOUT, NO_ROLLOUT)),
        (1, f"{LOG}\n{WRITER}\n", False, Failed(FailureReason.ACTIVE_WRITER, WRITER)),
        (1, ARCHIVED, False, Failed(FailureReason.ARCHIVED, ARCHIVED)),
        (1, CONFIG, False, Failed(FailureReason.CODEX_CONFIG, CONFIG)),
        (
            2,
            "error: unexpected argument '-Z'",
            False,
            Failed(FailureReason.INVALID_FLAG, "error: unexpected argument '-Z'"),
        ),
        (1, "Reading prompt from stdin...\n", True, Failed(FailureReason.EXITED_MID_TURN, "exit code 1")),
        (
            101,
            "thread 'main' panicked",
            True,
            Failed(FailureReason.EXITED_MID_TURN, "exit code 101\nthread 'main' panicked"),
        ),
        (-9, "", True, Failed(FailureReason.EXITED_MID_TURN, "exit code -9")),
    ],
)
def test_a_refusal_is_told_from_a_break(code: int, stderr: str, began: bool, failed: Failed) -> None:
    """Codex's words on standard error say why it did not begin, or how it broke off."""
    assert failed == failure_from_exit(code, stderr, has_begun=began)


@pytest.mark.parametrize("stderr", [NO_ROLLOUT, WRITER])
def test_words_of_a_running_turn_are_no_refusal(stderr: str) -> None:
    """Once a turn has begun the same words may be a command's output; the prompt may have been read."""
    assert FailureReason.EXITED_MID_TURN is failure_from_exit(1, stderr, has_begun=True).reason
