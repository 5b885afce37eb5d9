"""The Anthropic Messages API as Claude Code uses it: ``POST /v1/messages`` (streamed or not) and ``…/count_tokens``."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .script import Action, Kind
from .sse import Piece, Send, pause_of

PATH = "/v1/messages"

_ids = itertools.count(1)


def kind_of(_headers: Mapping[str, str], body: dict[str, Any]) -> Kind:
    """``main`` for a request that offers tools; titles, probes and summaries offer none."""
    return "main" if body.get("tools") else "side"


def newest(body: dict[str, Any]) -> str:
    """The text of everything after the model's last own message."""
    texts: list[str] = []
    for message in reversed(body.get("messages", [])):
        if message["role"] == "assistant":
            break
        texts.extend(reversed(list(block_texts(message["content"]))))
    return "\n".join(reversed(texts))


def all_texts(body: dict[str, Any]) -> str:
    """The texts of the whole conversation: the arguments of tool calls and the system prompt are not among them."""
    return "\n".join(text for message in body.get("messages", []) for text in block_texts(message["content"]))


def block_texts(content: str | list[dict[str, Any]]) -> Iterator[str]:
    """Each text of a message's content, those inside tool results included."""
    if isinstance(content, str):
        yield content
        return
    for block in content:
        if block.get("type") == "text":
            yield block["text"]
        elif block.get("type") == "tool_result":
            yield from block_texts(block.get("content") or "")


def tokens(body: dict[str, Any]) -> int:
    """A token count that grows with the request, as the clients' own bookkeeping expects."""
    return len(json.dumps(body)) // 4


def stream(body: dict[str, Any], reply: Sequence[Action]) -> Iterator[Piece]:
    """The events of a streamed answer."""
    start = _message(body, content=[], stop_reason=None)
    yield Send("message_start", {"type": "message_start", "message": start})
    position = -1
    for action in reply:
        if pause := pause_of(action):
            yield pause
        else:
            position += 1
            yield from _block(position, action)
    delta = {"stop_reason": _stop_reason(reply), "stop_sequence": None}
    yield Send("message_delta", {"type": "message_delta", "delta": delta, "usage": {"output_tokens": 10}})
    yield Send("message_stop", {"type": "message_stop"})


def whole(body: dict[str, Any], reply: Sequence[Action]) -> dict[str, Any]:
    """The same answer as one object, for a request that did not ask for a stream."""
    content = [_content(action) for action in reply if "text" in action or "tool" in action]
    return _message(body, content=content, stop_reason=_stop_reason(reply))


def _block(position: int, action: Action) -> Iterator[Send]:
    block = _content(action)
    if block["type"] == "text":
        empty, delta = {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
    else:
        empty = {**block, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
    for event, extra in (
        ("content_block_start", {"content_block": empty}),
        ("content_block_delta", {"delta": delta}),
        ("content_block_stop", {}),
    ):
        yield Send(event, {"type": event, "index": position, **extra})


def _content(action: Action) -> dict[str, Any]:
    if "text" in action:
        return {"type": "text", "text": action["text"]}
    return {"type": "tool_use", "id": f"toolu_stub{next(_ids)}", "name": action["tool"], "input": action["input"]}


def _stop_reason(reply: Sequence[Action]) -> str:
    return "tool_use" if any("tool" in action for action in reply) else "end_turn"


def _message(body: dict[str, Any], *, content: list[dict[str, Any]], stop_reason: str | None) -> dict[str, Any]:
    return {
        "id": f"msg_stub{next(_ids)}",
        "type": "message",
        "role": "assistant",
        "model": body.get("model", "stub"),
        "content": content,
        "stop_reason": stop_reason,
        "stop_sequence": None,
        "usage": {"input_tokens": tokens(body), "output_tokens": 10},
    }
