"""Past sessions in Codex's rollouts: recorded ones, and the forms of other versions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from case_files import read_groups
from hypothesis import given
from hypothesis import strategies as st
from journal_values import JSON

from upbeat.adapters.codex.history import CodexHistory
from upbeat.core.contract.event import PromptSubmitted, ToolFinished, ToolKind, ToolStarting, TurnEnding
from upbeat.core.rules.backtest import CallStatus, HistoryItem, RecordedCallEnd, RecordedEvent

HOME = Path(__file__).parents[2] / "recorded" / "codex"
CASES = read_groups(Path(__file__).with_name("history_cases.tsv"))
AT = "2026-11-22T04:00:05.000Z"


def read_items(path: Path) -> list[HistoryItem]:
    return list(CodexHistory(HOME).read_events(str(path), ""))


def fates(happened: list[HistoryItem]) -> dict[str, CallStatus]:
    return {item.call_id: item.status for item in happened if isinstance(item, RecordedCallEnd)}


def written(folder: Path, *payloads: dict[str, Any], thread: str = "s") -> Path:
    """A rollout with these payloads: those of the model's items, and of events where they say so."""
    kinds = ("item_completed", "exec_command_end", "patch_apply_end", "user_message")
    lines = [
        {"timestamp": AT, "type": "event_msg" if item["type"] in kinds else "response_item", "payload": item}
        for item in payloads
    ]
    meta = {"id": thread, "session_id": "s", "cwd": "/home/dev/shop"}
    head = {"timestamp": AT, "type": "session_meta", "payload": meta}
    path = folder / "rollout-x.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in [head, *lines]), encoding="utf-8")
    return path


def recorded() -> Path:
    [item] = CodexHistory(HOME).recordings(0)
    return Path(item.path)


def test_a_rollout_has_the_events_that_hooks_would_have_reported() -> None:
    """A rollout has the prompt, the calls with their names in hooks, their outputs, and the end of the turn."""
    events = [item.event for item in read_items(recorded()) if isinstance(item, RecordedEvent)]
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


def test_the_status_of_calls() -> None:
    """Exit codes and statuses decide; an escalation that was not allowed was denied."""
    assert {
        "call_2": CallStatus.SUCCEEDED,
        "call_4": CallStatus.FAILED,
        "call_6": CallStatus.SUCCEEDED,
        "call_8": CallStatus.FAILED,
        "call_10": CallStatus.FAILED,
        "call_12": CallStatus.DENIED,
    } == fates(read_items(recorded()))


SHELL = {"type": "function_call", "call_id": "c", "name": "exec_command", "arguments": '{"cmd": "make"}'}


@pytest.mark.parametrize(("form", "status", "payloads"), [(row[0], row[1], row[2:]) for row in CASES["ending"]])
def test_other_forms_of_ends(tmp_path: Path, form: str, status: str, payloads: tuple[str, ...]) -> None:
    """The end of a call is understood in the forms of several versions."""
    path = written(tmp_path, *map(json.loads, payloads))

    assert {"c": CallStatus(status)} == fates(read_items(path))


@pytest.mark.parametrize(("payload", "tool", "command"), CASES["call"])
def test_names_of_calls(tmp_path: Path, payload: str, tool: str, command: str) -> None:
    """A call has the name and the command that its hook reports."""
    path = written(tmp_path, {"type": "function_call", "call_id": "c", **json.loads(payload)})
    [event] = [item.event for item in read_items(path) if isinstance(item, RecordedEvent)]

    assert isinstance(event, ToolStarting)
    assert (tool, command) == (event.call.tool, event.command)


def test_calls_of_scripts_have_only_their_item(tmp_path: Path) -> None:
    """A command and a file change without an item of the model are read from the item that ends them."""
    command = {"type": "CommandExecution", "id": "exec-1", "command": ["/bin/bash", "-lc", "false"], "status": "failed"}
    change = {
        "type": "FileChange",
        "id": "exec-2",
        "changes": {"/r/a": {"type": "add", "content": "x\n"}},
        "status": "completed",
    }
    path = written(tmp_path, *({"type": "item_completed", "item": item} for item in (command, change)))
    happened = read_items(path)
    starts = [
        item.event for item in happened if isinstance(item, RecordedEvent) and isinstance(item.event, ToolStarting)
    ]

    assert {"exec-1": CallStatus.FAILED, "exec-2": CallStatus.SUCCEEDED} == fates(happened)
    assert ["false", ""] == [event.command for event in starts]
    assert [(), ("/r/a",)] == [event.call.paths for event in starts]
    assert "x" == starts[1].call.edits[0].new_text


def test_a_prompt_in_two_kinds_of_lines_counts_once(tmp_path: Path) -> None:
    """Some versions record each prompt in two kinds of lines."""
    item = {"type": "UserMessage", "id": "u", "content": [{"type": "text", "text": "go"}]}
    path = written(tmp_path, {"type": "item_completed", "item": item}, {"type": "user_message", "message": "go"})

    assert ["go"] == [item.event.prompt for item in read_items(path) if isinstance(item, RecordedEvent)]  # type: ignore[union-attr]


def test_a_subagent_belongs_to_its_session(tmp_path: Path) -> None:
    """A rollout whose thread is not its session is a subagent's, and its task is not a prompt."""
    happened = read_items(written(tmp_path, {"type": "user_message", "message": "go"}, SHELL, thread="t"))

    assert [("s", "t")] == [
        (item.event.source.session_id, item.event.source.agent_id)
        for item in happened
        if isinstance(item, RecordedEvent)
    ]


def test_no_content_makes_reading_fail(tmp_path: Path) -> None:
    """Fields of any type are read without an error."""
    names = st.sampled_from(
        ["function_call", "custom_tool_call", "function_call_output", "item_completed", "user_message"]
    )

    @given(names, st.sampled_from(["call_id", "name", "arguments", "input", "output", "item", "message"]), JSON)
    def check(kind: str, name: str, value: object) -> None:
        read_items(written(tmp_path, SHELL, {"type": kind, "call_id": "c", "name": "shell", name: value}))
        read_items(
            written(
                tmp_path, {"type": "item_completed", "item": {"type": "FileChange", "id": "exec-1", "changes": value}}
            )
        )
        read_items(
            written(
                tmp_path,
                {"type": "item_completed", "item": {"type": "CommandExecution", "id": "exec-1", "command": value}},
            )
        )

    check()
