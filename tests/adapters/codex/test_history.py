"""The past in Codex's rollouts: recorded ones, and forms of other versions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from journal_values import JSON

from upbeat.adapters.codex.history import CodexHistory
from upbeat.core.contract.event import PromptSubmitted, ToolFinished, ToolKind, ToolStarting, TurnEnding
from upbeat.core.rules.recorded_events import CallStatus, HistoryItem, RecordedCallEnd, RecordedEvent

HOME = Path(__file__).parents[2] / "recorded" / "codex"
AT = "2026-11-22T04:00:05.000Z"


def told(path: Path) -> list[HistoryItem]:
    return list(CodexHistory(HOME).read_events(str(path), ""))


def fates(happened: list[HistoryItem]) -> dict[str, CallStatus]:
    return {one.call_id: one.status for one in happened if isinstance(one, RecordedCallEnd)}


def written(folder: Path, *payloads: dict[str, Any], thread: str = "s") -> Path:
    """A rollout with these payloads: those of the model's items, and of events where they say so."""
    kinds = ("item_completed", "exec_command_end", "patch_apply_end", "user_message")
    lines = [
        {"timestamp": AT, "type": "event_msg" if one["type"] in kinds else "response_item", "payload": one}
        for one in payloads
    ]
    meta = {"id": thread, "session_id": "s", "cwd": "/home/dev/shop"}
    head = {"timestamp": AT, "type": "session_meta", "payload": meta}
    path = folder / "rollout-x.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in [head, *lines]), encoding="utf-8")
    return path


def recorded() -> Path:
    [one] = CodexHistory(HOME).recordings(0)
    return Path(one.path)


def test_a_thread_is_told_as_its_hooks_would_have() -> None:
    """Prompt, calls under the names that hooks have for them, answers of those that ran, the end of the turn."""
    events = [one.event for one in told(recorded()) if isinstance(one, RecordedEvent)]
    calls = [(event.call.tool, event.call.kind) for event in events if isinstance(event, ToolStarting)]

    assert [
        ("Bash", ToolKind.SHELL),
        ("Bash", ToolKind.SHELL),
        ("apply_patch", ToolKind.WRITE),
        ("apply_patch", ToolKind.EDIT),
        ("update_plan", ToolKind.TASK_LIST),
        ("Bash", ToolKind.SHELL),
    ] == calls
    assert [PromptSubmitted, ToolStarting, ToolFinished] == [type(event) for event in events[:3]]
    assert (TurnEnding, "Stub answer 7.") == (type(events[-1]), events[-1].message)  # type: ignore[union-attr]
    assert {"/home/dev/shop/new.txt", "/home/dev/shop/nope.txt"} == {
        path for event in events if isinstance(event, ToolStarting) for path in event.call.paths
    }


def test_what_became_of_calls() -> None:
    """By exit code and status; a patch that does not fit and a tool that is none failed, an escalation was denied."""
    assert {
        "call_2": CallStatus.SUCCEEDED,
        "call_4": CallStatus.FAILED,
        "call_6": CallStatus.SUCCEEDED,
        "call_8": CallStatus.FAILED,
        "call_10": CallStatus.FAILED,
        "call_12": CallStatus.DENIED,
    } == fates(told(recorded()))


SHELL = {"type": "function_call", "call_id": "c", "name": "exec_command", "arguments": '{"cmd": "make"}'}
PATCH = {"type": "custom_tool_call", "call_id": "c", "name": "apply_patch", "input": "*** Begin Patch"}


def answer(output: Any) -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": "c", "output": output}


OTHER_FORMS = {
    "an exit code in JSON": ((SHELL, answer('{"output": "x", "metadata": {"exit_code": 2}}')), CallStatus.FAILED),
    "an exit code in words": ((SHELL, answer("Exit code: 0\nOutput:\nx")), CallStatus.SUCCEEDED),
    "one that still runs": ((SHELL, answer("Process running with session ID 7\nOutput:\n")), CallStatus.UNKNOWN),
    "a user who declined": ((SHELL, answer("exec command rejected by user")), CallStatus.DENIED),
    "a user who declined a patch": ((PATCH, answer("patch rejected by user")), CallStatus.DENIED),
    "a hook that denied": (
        (SHELL, answer("Command blocked by PreToolUse hook: no. Command: make")),
        CallStatus.DENIED,
    ),
    "a word of an older version": (
        (SHELL, {"type": "exec_command_end", "call_id": "c", "exit_code": 1}, answer("x")),
        CallStatus.FAILED,
    ),
    "a declined item": (
        (
            SHELL,
            {"type": "item_completed", "item": {"type": "CommandExecution", "id": "c", "status": "declined"}},
            answer("x"),
        ),
        CallStatus.DENIED,
    ),
    "an answer that tells of its success": ((SHELL, answer({"content": "x", "success": False})), CallStatus.FAILED),
    "a text with an exit code far inside": ((SHELL, answer("y" * 500 + "Exit code: 1")), CallStatus.UNKNOWN),
}


@pytest.mark.parametrize(("payloads", "expected"), OTHER_FORMS.values(), ids=OTHER_FORMS)
def test_other_forms_of_ends(tmp_path: Path, payloads: tuple[dict[str, Any], ...], expected: CallStatus) -> None:
    """What became of a call in the forms of several versions."""
    assert {"c": expected} == fates(told(written(tmp_path, *payloads)))


CALLS = {
    "a list": ({"name": "shell", "arguments": '{"command": ["bash", "-lc", "make all"]}'}, ("Bash", "make all")),
    "words": ({"name": "shell", "arguments": '{"command": ["make", "a b"]}'}, ("Bash", "make 'a b'")),
    "a line": ({"name": "shell_command", "arguments": '{"command": "make"}'}, ("Bash", "make")),
    "a server's tool": ({"name": "search", "namespace": "mcp__docs", "arguments": "{}"}, ("mcp__docs__search", "")),
}


@pytest.mark.parametrize(("payload", "expected"), CALLS.values(), ids=CALLS)
def test_names_of_calls(tmp_path: Path, payload: dict[str, Any], expected: tuple[str, str]) -> None:
    """A call has the name and the command that its hook is told."""
    path = written(tmp_path, {"type": "function_call", "call_id": "c", **payload})
    [event] = [one.event for one in told(path) if isinstance(one, RecordedEvent)]

    assert isinstance(event, ToolStarting)
    assert expected == (event.call.tool, event.command)


def test_calls_that_code_of_the_model_makes_have_only_their_item(tmp_path: Path) -> None:
    """A command and a change of a file that have no item of the model's are told by how they ended."""
    command = {"type": "CommandExecution", "id": "exec-1", "command": ["/bin/bash", "-lc", "false"], "status": "failed"}
    change = {
        "type": "FileChange",
        "id": "exec-2",
        "changes": {"/r/a": {"type": "add", "content": "x\n"}},
        "status": "completed",
    }
    path = written(tmp_path, *({"type": "item_completed", "item": item} for item in (command, change)))
    happened = told(path)
    starts = [one.event for one in happened if isinstance(one, RecordedEvent) and isinstance(one.event, ToolStarting)]

    assert {"exec-1": CallStatus.FAILED, "exec-2": CallStatus.SUCCEEDED} == fates(happened)
    assert ["false", ""] == [event.command for event in starts]
    assert [(), ("/r/a",)] == [event.call.paths for event in starts]
    assert "x" == starts[1].call.edits[0].new_text


def test_a_prompt_that_two_kinds_of_lines_tell_is_one(tmp_path: Path) -> None:
    """Versions between the two ways of telling a prompt have both."""
    item = {"type": "UserMessage", "id": "u", "content": [{"type": "text", "text": "go"}]}
    path = written(tmp_path, {"type": "item_completed", "item": item}, {"type": "user_message", "message": "go"})

    assert ["go"] == [one.event.prompt for one in told(path) if isinstance(one, RecordedEvent)]  # type: ignore[union-attr]


def test_a_subagent_has_its_sessions_name(tmp_path: Path) -> None:
    """A rollout whose thread is not its session is an agent's, and what it was told is no prompt."""
    happened = told(written(tmp_path, {"type": "user_message", "message": "go"}, SHELL, thread="t"))

    assert [("s", "t")] == [
        (one.event.source.session_id, one.event.source.agent_id) for one in happened if isinstance(one, RecordedEvent)
    ]


def test_nothing_in_a_rollout_makes_reading_fail(tmp_path: Path) -> None:
    """Whatever stands in the fields that are read."""
    names = st.sampled_from(
        ["function_call", "custom_tool_call", "function_call_output", "item_completed", "user_message"]
    )

    @given(names, st.sampled_from(["call_id", "name", "arguments", "input", "output", "item", "message"]), JSON)
    def check(kind: str, name: str, value: object) -> None:
        told(written(tmp_path, SHELL, {"type": kind, "call_id": "c", "name": "shell", name: value}))
        told(
            written(
                tmp_path, {"type": "item_completed", "item": {"type": "FileChange", "id": "exec-1", "changes": value}}
            )
        )
        told(
            written(
                tmp_path,
                {"type": "item_completed", "item": {"type": "CommandExecution", "id": "exec-1", "command": value}},
            )
        )

    check()
