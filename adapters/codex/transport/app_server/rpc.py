"""The messages between a client and ``codex app-server``: JSON objects, one per line, without a ``jsonrpc`` field.

``parse_rpc_message`` is total: a line that is no message is an ``InvalidMessage``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

JsonObject = Mapping[str, Any]

METHOD_NOT_FOUND = -32601
"""The JSON-RPC error code for an unknown method."""


@dataclass(frozen=True, slots=True)
class RpcResult:
    """The result of a request."""

    request_id: int
    fields: JsonObject


@dataclass(frozen=True, slots=True)
class RpcErrorResponse:
    """The error of a request."""

    request_id: int
    code: int
    text: str


@dataclass(frozen=True, slots=True)
class RpcRequest:
    """A request of the server, which waits for the response."""

    request_id: int | str
    method: str
    fields: JsonObject


@dataclass(frozen=True, slots=True)
class RpcNotification:
    """A notification of the server."""

    method: str
    fields: JsonObject


@dataclass(frozen=True, slots=True)
class InvalidMessage:
    """A line that is not a message."""

    problem: str


RpcMessage = RpcResult | RpcErrorResponse | RpcRequest | RpcNotification | InvalidMessage


def parse_rpc_message(line: bytes) -> RpcMessage:
    """Parse one line, without its end."""
    try:
        raw = json.loads(line.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return InvalidMessage("not JSON")
    if not isinstance(raw, dict):
        return InvalidMessage("not an object")
    method, number = raw.get("method"), raw.get("id")
    if isinstance(method, str):
        fields = _object_or_empty(raw.get("params"))
        if isinstance(number, int | str) and not isinstance(number, bool):
            return RpcRequest(number, method, fields)
        return RpcNotification(method, fields)
    if not isinstance(number, int) or isinstance(number, bool):
        return InvalidMessage("neither a request nor an answer")
    if "error" in raw:
        error = _object_or_empty(raw["error"])
        code, text = error.get("code"), error.get("message")
        return RpcErrorResponse(number, code if isinstance(code, int) else 0, text if isinstance(text, str) else "")
    return RpcResult(number, _object_or_empty(raw.get("result")))


def encode_request(request_id: int, method: str, fields: JsonObject) -> bytes:
    """Encode a request; its response has the same ``request_id``."""
    return _encode_line({"id": request_id, "method": method, "params": fields})


def encode_notification(method: str) -> bytes:
    """Encode a notification."""
    return _encode_line({"method": method})


def encode_response(request_id: int | str, fields: JsonObject) -> bytes:
    """Encode the response to a request of the server."""
    return _encode_line({"id": request_id, "result": fields})


def encode_error_response(request_id: int | str, text: str) -> bytes:
    """Encode the response to a request of the server that is not supported."""
    return _encode_line({"id": request_id, "error": {"code": METHOD_NOT_FOUND, "message": text}})


def _encode_line(message: JsonObject) -> bytes:
    return json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace") + b"\n"


def _object_or_empty(raw: object) -> JsonObject:
    return raw if isinstance(raw, dict) else {}
