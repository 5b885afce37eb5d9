"""One payload in, one answer out that arrives, or none and a record that says why."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from reliability.malformed import HANDED, STARTS

from upbeat.adapters.clients.registry import CLIENT_IDS
from upbeat.adapters.hook_entry import answer
from upbeat.adapters.hook_entry.answer import MAX_NESTING, answer_payload
from upbeat.adapters.system.environment import read_environment
from upbeat.adapters.wiring import Application, build_application

RAW = "@raw@"


@pytest.fixture
def application(tmp_path: Path) -> Application:
    return build_application(read_environment({"HOME": str(tmp_path)}))


def payload(cwd: Path, event: str, **fields: Any) -> bytes:
    return json.dumps({"session_id": "s", "cwd": str(cwd), "hook_event_name": event, **fields}).encode()


def handed(client: str, application: Application, cwd: Path, raw: str) -> bytes:
    """What is answered to the first call of a workflow's agent, whose input has ``raw`` in it: it is rewritten."""
    answer_payload(client, payload(cwd, "UserPromptSubmit", prompt=STARTS[client]), application)
    tool, arguments = HANDED[client]
    call = payload(cwd, "PreToolUse", tool_name=tool, tool_use_id="c", tool_input={**arguments, "x": RAW})
    return answer_payload(client, call.replace(f'"{RAW}"'.encode(), raw.encode()), application)


def last_record(application: Application) -> tuple[str, Any]:
    (entry,) = application.runtime.journal.records(last=1)
    return entry.body["event"], entry.body["event_fields"].get("problem", "")


@pytest.mark.parametrize("client", CLIENT_IDS)
@pytest.mark.parametrize("raw", ["1", '"仓 \\u0000"', "1" * 4000, '{"a": 1, "a": 2}', "[" * 90 + "]" * 90])
def test_a_changed_input_keeps_its_other_fields(
    application: Application, tmp_path: Path, client: str, raw: str
) -> None:
    """Every value of a tool's input beside the prompt is output as it was."""
    answer = json.loads(handed(client, application, tmp_path, raw))

    assert json.loads(raw) == answer["hookSpecificOutput"]["updatedInput"]["x"]


@pytest.mark.parametrize("client", CLIENT_IDS)
@pytest.mark.parametrize(
    ("raw", "problem"),
    [
        ("NaN", "the output would not be JSON: "),
        ("-Infinity", "the output would not be JSON: "),
        ("1e400", "the output would not be JSON: "),
        ('"\\ud800"', "the output would not be JSON: "),
        ("[" * 100 + "]" * 100, f"the output would be nested more than {MAX_NESTING} levels deep"),
    ],
    ids=lambda value: value[:10],
)
def test_an_output_that_no_client_can_parse_is_not_sent(
    application: Application, tmp_path: Path, client: str, raw: str, problem: str
) -> None:
    """There is no output, and the record says why: Python accepts more than JSON."""
    answer = handed(client, application, tmp_path, raw)
    event, recorded_problem = last_record(application)

    assert (b"", "invalid_payload", True) == (answer, event, recorded_problem.startswith(problem))


@pytest.mark.parametrize("client", CLIENT_IDS)
def test_a_lone_surrogate_does_not_prevent_a_denial(application: Application, tmp_path: Path, client: str) -> None:
    """A command that would be denied is denied also if it contains what no output can repeat."""
    call = payload(
        tmp_path, "PreToolUse", tool_name="Bash", tool_use_id="c", tool_input={"command": "rm -rf / \ud800/"}
    )
    answer = json.loads(answer_payload(client, call, application))

    assert "deny" == answer["hookSpecificOutput"]["permissionDecision"]


@pytest.mark.parametrize(
    ("stdin", "event"),
    [
        (b"", "invalid_payload"),
        (b"not JSON", "invalid_payload"),
        (b'{"torn": ', "invalid_payload"),
        (b"[]", "invalid_payload"),
        (b"\xff\xfe", "invalid_payload"),
        (b'{"a":' * 50_000, "invalid_payload"),
        (b"{}", "invalid_payload"),
        (b'{"hook_event_name": "UserPromptSubmit", "cwd": "/", "prompt": 5}', "invalid_payload"),
        (b'{"hook_event_name": "Tea", "cwd": "/", "x": 1}', "Tea"),
        (b'\xef\xbb\xbf{"hook_event_name": "Stop", "cwd": "/"}', "TurnEnding"),
        (b'{"hook_event_name": "UserPromptSubmit", "cwd": "/nowhere", "prompt": "hello \\ud800"}', "PromptSubmitted"),
        (b'{"hook_event_name": "UserPromptSubmit", "cwd": "/a\\u0000b", "prompt": "hello"}', "PromptSubmitted"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_every_payload_leaves_a_record(application: Application, stdin: bytes, event: str) -> None:
    """What is no payload, or no event that upbeat answers, gets no output and one record."""
    assert b"" == answer_payload("claude-code", stdin, application)
    assert [event] == [entry.body["event"] for entry in application.runtime.journal.records(last=9)]


def test_a_failure_of_upbeat_is_recorded(
    application: Application, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If the core fails, the client gets no output, and the journal the traceback."""

    def fail(*_args: object, **_named: object) -> None:
        raise RuntimeError("boom")

    monkeypatch.setattr(answer, "handle_event", fail)
    output = answer_payload("claude-code", payload(tmp_path, "UserPromptSubmit", prompt="hello"), application)
    [entry] = application.runtime.journal.records(last=9)

    assert (b"", "internal_error") == (output, entry.body["event"])
    assert "RuntimeError: boom" in entry.body["event_fields"]["traceback"]
