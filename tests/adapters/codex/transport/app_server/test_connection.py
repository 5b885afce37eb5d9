"""Messages to and from the app-server are one line each, whatever they contain."""

from __future__ import annotations

from pathlib import Path

from case_files import read_cases
from hypothesis import given
from hypothesis import strategies as st
from journal_values import JSON

from upbeat.adapters.codex.transport.app_server.connection import (
    InvalidMessage,
    RpcErrorResponse,
    RpcNotification,
    RpcRequest,
    RpcResult,
    encode_rpc_message,
    parse_rpc_message,
)

CASES = read_cases(Path(__file__).with_name("connection_cases.tsv"))


def test_lines_become_messages() -> None:
    """A line that is no message is an ``InvalidMessage``; a field of another type counts as missing."""
    assert CASES == [(line, repr(parse_rpc_message(line.encode()))) for line, _ in CASES]
    assert InvalidMessage("not JSON") == parse_rpc_message(b"[" * 100_000)


@given(st.binary())
def test_parse_is_total(line: bytes) -> None:
    """Any bytes are a message, valid or not."""
    assert isinstance(
        parse_rpc_message(line), RpcResult | RpcErrorResponse | RpcRequest | RpcNotification | InvalidMessage
    )


@given(st.dictionaries(st.text(), JSON))
def test_a_message_is_one_line(message: dict[str, object]) -> None:
    """Whatever a message carries, it is one line, and U+2028 does not end it."""
    assert [b""] == encode_rpc_message(message).split(b"\n")[1:]


@given(st.integers(), st.text(st.characters(exclude_categories=["Cs"])))
def test_an_encoded_request_can_be_parsed(number: int, text: str) -> None:
    """A request comes out of the parser unchanged."""
    line = encode_rpc_message({"id": number, "method": "turn/start", "params": {"text": text}})

    assert RpcRequest(number, "turn/start", {"text": text}) == parse_rpc_message(line[:-1])


def test_lone_surrogates_are_replaced() -> None:
    """Characters that UTF-8 cannot encode do not reach the server."""
    line = encode_rpc_message({"id": 1, "result": {"text": "a\ud800"}})

    assert RpcResult(1, {"text": "a?"}) == parse_rpc_message(line[:-1])
