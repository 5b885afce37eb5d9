"""Messages of the app-server: one line each, whatever is in it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from upbeat.adapters.codex.transport.app_server.connection import (
    InvalidMessage,
    RpcErrorResponse,
    RpcNotification,
    RpcRequest,
    RpcResult,
    encode_error_response,
    encode_notification,
    encode_request,
    encode_response,
    parse_rpc_message,
)

RECORDED = [
    ('{"id":1,"result":{"userAgent":"codex-auto/0.169.0"}}', RpcResult(1, {"userAgent": "codex-auto/0.169.0"})),
    (
        '{"error":{"code":-32600,"message":"no rollout found for thread id x"},"id":11}',
        RpcErrorResponse(11, -32600, "no rollout found for thread id x"),
    ),
    ('{"method":"thread/archived","params":{"threadId":"t"}}', RpcNotification("thread/archived", {"threadId": "t"})),
    (
        '{"method":"item/fileChange/requestApproval","id":0,"params":{"itemId":"c"}}',
        RpcRequest(0, "item/fileChange/requestApproval", {"itemId": "c"}),
    ),
]

ODD = [
    ("", InvalidMessage("not JSON")),
    ("thread panicked at 'x'", InvalidMessage("not JSON")),
    ("[" * 100_000, InvalidMessage("not JSON")),
    ("[1]", InvalidMessage("not an object")),
    ("{}", InvalidMessage("neither a request nor an answer")),
    ('{"id":true,"result":{}}', InvalidMessage("neither a request nor an answer")),
    ('{"id":"7","result":{}}', InvalidMessage("neither a request nor an answer")),
    ('{"id":7}', RpcResult(7, {})),
    ('{"id":7,"result":[1]}', RpcResult(7, {})),
    ('{"id":7,"error":"no"}', RpcErrorResponse(7, 0, "")),
    ('{"id":7,"error":{"code":"x","message":3}}', RpcErrorResponse(7, 0, "")),
    ('{"id":"a","method":"m"}', RpcRequest("a", "m", {})),
    ('{"id":null,"method":"m","params":3}', RpcNotification("m", {})),
]

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@pytest.mark.parametrize(("line", "message"), RECORDED)
def test_recorded_lines(line: str, message: object) -> None:
    """What 0.169.0 wrote is understood."""
    assert message == parse_rpc_message(line.encode())


@pytest.mark.parametrize(("line", "message"), ODD, ids=lambda value: str(value)[:30])
def test_odd_lines(line: str, message: object) -> None:
    """What is no message is noise; a field of the wrong type counts as absent."""
    assert message == parse_rpc_message(line.encode())


@given(st.binary())
def test_parse_is_total(line: bytes) -> None:
    """Any bytes are a message or noise."""
    assert isinstance(
        parse_rpc_message(line), RpcResult | RpcErrorResponse | RpcRequest | RpcNotification | InvalidMessage
    )


@given(st.integers(), st.text(st.characters(exclude_categories=["Cs"])), st.dictionaries(st.text(), JSON))
def test_a_message_is_one_line(number: int, method: str, fields: dict[str, object]) -> None:
    """Whatever a message carries, it is one line, and U+2028 does not end it."""
    for line in (
        encode_request(number, method, fields),
        encode_response(number, fields),
        encode_error_response(number, method),
        encode_notification(method),
    ):
        assert [b""] == line.split(b"\n")[1:]


@given(st.integers(), st.text(st.characters(exclude_categories=["Cs"])))
def test_what_is_sent_can_be_read(number: int, text: str) -> None:
    """A request, as the other side reads it, is what was meant."""
    assert RpcRequest(number, "turn/start", {"text": text}) == parse_rpc_message(
        encode_request(number, "turn/start", {"text": text})[:-1]
    )


def test_lone_surrogates_are_replaced() -> None:
    """What cannot be UTF-8 does not reach the server as such."""
    assert RpcResult(1, {"text": "a?"}) == parse_rpc_message(encode_response(1, {"text": "a\ud800"})[:-1])
