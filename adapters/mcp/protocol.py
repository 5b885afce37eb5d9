"""MCP over stdio as far as this server speaks it: one JSON-RPC message a line, both protocol eras.

Up to 2025-11-25 a client opens with ``initialize``; from 2026-07-28 on it sends ``server/discover`` and puts the
version into the ``_meta`` of each request. Source: the specification, and the official SDK as the test.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .tools import HANDSHAKE_VERSIONS, INSTRUCTIONS, LISTED, SERVER_NAME, STATELESS_VERSIONS

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603

_VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
_CAPABILITIES: dict[str, Any] = {"tools": {}}

Message = Mapping[str, Any]


def parse(line: bytes) -> Message | None:
    """The message in ``line``; None when there is none."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return message if isinstance(message, dict) else None


def is_request(message: Message) -> bool:
    """Whether ``message`` can be answered: its method is a name, and its id one that MCP knows."""
    number, method = message.get("id"), message.get("method")
    return isinstance(method, str) and isinstance(number, str | int) and not isinstance(number, bool)


@dataclass(frozen=True, slots=True)
class Offer:
    """What the server has for a model. Nothing of it is needed by hooks."""

    version: str
    instructions: str = INSTRUCTIONS
    tools: tuple[dict[str, Any], ...] = LISTED


def answer_at_once(message: Message, offer: Offer) -> dict[str, Any] | None:
    """The result of a method that needs nothing but ``offer``; None for every other method."""
    match message.get("method"):
        case "initialize":
            return _initialized(params(message), offer)
        case "server/discover":
            discovered = {"supportedVersions": list(STATELESS_VERSIONS), "capabilities": _CAPABILITIES}
            about = {"_meta": {"io.modelcontextprotocol/serverInfo": _server_info(offer)}}
            return _stateless(discovered) | _instructions(offer) | about | _cacheable()
        case "ping":
            return _for_era(message, {})
        case "tools/list":
            listed: dict[str, Any] = {"tools": list(offer.tools)}
            return _for_era(message, listed | _cacheable() if is_stateless(message) else listed)
        case _:
            return None


def tool_result(message: Message, text: str, *, is_error: bool) -> dict[str, Any]:
    """The result of a ``tools/call``."""
    from ...core.turn.strip import strip  # nobody needs it to say hello

    content = {"content": [{"type": "text", "text": strip(text)}], "isError": is_error}
    return _for_era(message, content)


def response(message: Message, result: dict[str, Any]) -> dict[str, Any]:
    """``result`` as the answer to ``message``."""
    return {"jsonrpc": "2.0", "id": message.get("id"), "result": result}


def error(message: Message | None, code: int, text: str) -> dict[str, Any]:
    """A JSON-RPC error as the answer to ``message``, or to something that was none."""
    from ...core.turn.strip import strip

    number = message.get("id") if message else None
    return {"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": " ".join(strip(text).split())}}


def params(message: Message) -> Mapping[str, Any]:
    """The parameters of ``message``; empty when it has none."""
    found = message.get("params")
    return found if isinstance(found, dict) else {}


def is_stateless(message: Message) -> bool:
    """Whether the message belongs to the era without a handshake."""
    meta = params(message).get("_meta")
    return isinstance(meta, dict) and meta.get(_VERSION_KEY) in STATELESS_VERSIONS


def _initialized(asked: Mapping[str, Any], offer: Offer) -> dict[str, Any]:
    wanted = asked.get("protocolVersion")
    return {
        "protocolVersion": wanted if wanted in HANDSHAKE_VERSIONS else HANDSHAKE_VERSIONS[0],
        "capabilities": _CAPABILITIES,
        "serverInfo": _server_info(offer),
    } | _instructions(offer)


def _instructions(offer: Offer) -> dict[str, str]:
    return {"instructions": offer.instructions} if offer.instructions else {}


def _server_info(offer: Offer) -> dict[str, str]:
    return {"name": SERVER_NAME, "version": offer.version}


def _for_era(message: Message, result: dict[str, Any]) -> dict[str, Any]:
    return _stateless(result) if is_stateless(message) else result


def _stateless(result: dict[str, Any]) -> dict[str, Any]:
    return {"resultType": "complete"} | result


def _cacheable() -> dict[str, Any]:
    return {"ttlMs": 0, "cacheScope": "private"}
