"""Lines become messages, or nothing; what needs no tool is answered in both eras."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from case_files import read_json_groups
from hypothesis import given
from hypothesis import strategies as st

from upbeat.adapters.mcp_server import protocol
from upbeat.adapters.mcp_server.protocol import (
    INSTRUCTIONS,
    START_WORKFLOW_TOOL,
    TOOL_DEFINITIONS,
    ServerManifest,
    build_error,
    build_response,
    is_stateless,
    params_of,
    parse_message,
    static_result,
    tool_result,
)
from upbeat.core.turn.plan import TOOL_TIMEOUTS_MS

CASES = read_json_groups(Path(__file__).with_name("protocol_cases.jsonl"))
OFFER = ServerManifest("9.9")
MODERN = {"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}}
SERVER = {"name": "upbeat", "version": "9.9"}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b'{"id": 1}', {"id": 1}),
        (b'\xef\xbb\xbf{"id": 1}\r\n', {"id": 1}),
        (b'{"a": "\xe4\xbb\x93"}', {"a": "仓"}),
        (b"", None),
        (b"[]", None),
        (b'[{"id": 1}]', None),
        (b"5", None),
        (b"null", None),
        (b"{", None),
        (b'{"a": "\xff"}', None),
        (b"[" * 100_000, None),
        (b'{"a": ' + b"9" * 5000 + b"}", None),
    ],
    ids=lambda value: str(value)[:20],
)
def test_parse(line: bytes, message: object) -> None:
    """One JSON object a line; everything else is no message, and no exception."""
    assert message == parse_message(line)


@pytest.mark.parametrize(("message", "expected"), CASES["request"])
def test_is_request(message: dict[str, Any], expected: bool) -> None:
    """Only a text or a whole number is an id, and only a text a method: nothing else can be repeated in an answer."""
    assert expected is protocol.is_answerable(message)


@given(st.binary())
def test_parse_takes_anything(line: bytes) -> None:
    """No bytes raise."""
    parse_message(line)


@pytest.mark.parametrize(("asked", "version"), CASES["initialize"], ids=str)
def test_initialize(asked: object, version: str) -> None:
    """The handshake settles on the client's version where it is known, else on the newest with a handshake."""
    message = {"method": "initialize", "params": {"protocolVersion": asked}}

    assert {
        "protocolVersion": version,
        "capabilities": {"tools": {}},
        "serverInfo": SERVER,
        "instructions": INSTRUCTIONS,
    } == static_result(message, OFFER)


def test_discover() -> None:
    """Without a handshake the server reports its versions and itself."""
    assert {
        "resultType": "complete",
        "supportedVersions": ["2026-07-28"],
        "capabilities": {"tools": {}},
        "instructions": INSTRUCTIONS,
        "_meta": {"io.modelcontextprotocol/serverInfo": SERVER},
        "ttlMs": 0,
        "cacheScope": "private",
    } == static_result({"method": "server/discover", "params": MODERN}, OFFER)


@pytest.mark.parametrize(
    ("method", "given", "answer"),
    [
        ("tools/list", None, {"tools": list(TOOL_DEFINITIONS)}),
        (
            "tools/list",
            MODERN,
            {"resultType": "complete", "tools": list(TOOL_DEFINITIONS), "ttlMs": 0, "cacheScope": "private"},
        ),
        ("ping", None, {}),
        ("ping", MODERN, {"resultType": "complete"}),
        ("tools/call", None, None),
        ("resources/list", None, None),
        (5, None, None),
        ([], None, None),
    ],
    ids=str,
)
def test_other_methods(method: object, given: object, answer: object) -> None:
    """What needs no tool is answered at once, in the era of the question; the rest is not answered here."""
    assert answer == static_result({"method": method, "params": given}, OFFER)


def test_an_empty_offer() -> None:
    """A server that has nothing for a model lists nothing and gives no instructions."""
    nothing = ServerManifest("9.9", "", ())
    answers = [static_result({"method": m}, nothing) or {} for m in ("initialize", "server/discover", "tools/list")]

    assert [False, False] == ["instructions" in answer for answer in answers[:2]]
    assert {"tools": []} == answers[2]


def test_results_and_errors() -> None:
    """Answers carry the id of their question, whatever it is."""
    assert {"jsonrpc": "2.0", "id": "a", "result": {"x": 1}} == build_response({"id": "a"}, {"x": 1})
    assert {"jsonrpc": "2.0", "id": 0, "error": {"code": -32601, "message": "m"}} == build_error(
        {"id": 0}, protocol.METHOD_NOT_FOUND, "m"
    )
    assert {"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "m"}} == build_error(
        None, protocol.PARSE_ERROR, "m"
    )
    assert {"content": [{"type": "text", "text": "t"}], "isError": True} == tool_result({}, "t", is_error=True)
    assert {"resultType": "complete", "content": [{"type": "text", "text": "t"}], "isError": False} == tool_result(
        {"params": MODERN}, "t", is_error=False
    )


@pytest.mark.parametrize(
    "value", [None, 5, "x", [], {"_meta": 5}, {"_meta": {}}, {"_meta": {"io.modelcontextprotocol/protocolVersion": []}}]
)
def test_odd_parameters(value: Any) -> None:
    """Parameters of any shape are no exception and no new era."""
    assert not is_stateless({"params": value})
    assert (value if isinstance(value, dict) else {}) == params_of({"params": value})


def test_the_hook_is_not_offered() -> None:
    """No model sees the hook tool."""
    assert [*TOOL_TIMEOUTS_MS, "workflow", "start_workflow"] == [tool["name"] for tool in TOOL_DEFINITIONS]


def test_only_starting_a_workflow_changes_something() -> None:
    """The tool that starts one is neither read-only nor idempotent; all others are both."""
    annotations = {tool["name"]: tool["annotations"] for tool in TOOL_DEFINITIONS}
    workflow = annotations.pop(START_WORKFLOW_TOOL)

    assert (False, False, False) == tuple(
        workflow[hint] for hint in ("readOnlyHint", "idempotentHint", "destructiveHint")
    )
    assert all(hints["readOnlyHint"] and hints["idempotentHint"] for hints in annotations.values())
    assert not any(hints["openWorldHint"] for hints in (workflow, *annotations.values()))
