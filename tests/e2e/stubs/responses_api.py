"""The OpenAI Responses API as Codex uses it: ``POST /v1/responses`` (streamed or not)."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .script import Action, Kind
from .sse import Piece, Send, Wait, pause_of

PATH = "/v1/responses"

_ids = itertools.count(1)
_MAIN_THREADS = {"user", "subagent"}
_WORD = re.compile(r"\S+\s*|\s+")
_OWN_ITEMS = {"reasoning", "function_call", "custom_tool_call", "tool_search_call"}


def kind_of(headers: Mapping[str, str], body: dict[str, Any]) -> Kind:
    """``main`` for a turn of the user's thread or a subagent's; ``side`` for titles, reviews and summaries."""
    about = json.loads(headers.get("x-codex-turn-metadata") or "{}")
    is_turn = about.get("request_kind", "turn") == "turn"
    return "main" if is_turn and about.get("thread_source", "user") in _MAIN_THREADS else "side"


def newest(body: dict[str, Any]) -> str:
    """The text of everything after the model's last own item."""
    texts: list[str] = []
    for item in reversed(body.get("input", [])):
        if item.get("role") == "assistant" or item.get("type") in _OWN_ITEMS:
            break
        texts.append(item_text(item))
    return "\n".join(reversed(texts))


def all_texts(body: dict[str, Any]) -> str:
    """The texts of the whole conversation: the arguments of tool calls are not among them."""
    return "\n".join(item_text(item) for item in body.get("input", []))


def item_text(item: dict[str, Any]) -> str:
    """The text of one input item: a message's content, or a tool's output."""
    content = item.get("content", item.get("output", ""))
    if isinstance(content, str):
        return content
    return "\n".join(part.get("text", "") for part in content or [])


def tokens(body: dict[str, Any]) -> int:
    """A token count that grows with the request, as the clients' own bookkeeping expects."""
    return len(json.dumps(body)) // 4


def stream(body: dict[str, Any], reply: Sequence[Action]) -> Iterator[Piece]:
    """The events of a streamed answer."""
    response = _response(body)
    yield _event("response.created", response={**response, "status": "in_progress"})
    output: list[dict[str, Any]] = []
    for action in reply:
        if pause := pause_of(action):
            yield pause
        elif "failed" in action:
            error = {"code": action["failed"], "message": action.get("message", "the stub was told to fail")}
            yield _event("response.failed", response={**response, "status": "failed", "error": error})
            return
        else:
            item = _item(action)
            yield from _item_events(len(output), item, action.get("every", 0.0))
            output.append(item)
    yield _event("response.completed", response={**response, "status": "completed", "output": output})


def whole(body: dict[str, Any], reply: Sequence[Action]) -> dict[str, Any]:
    """The same answer as one object, for a request that did not ask for a stream."""
    output = [_item(action) for action in reply if action.keys() & {"text", "tool", "item"}]
    return {**_response(body), "status": "completed", "output": output}


def _item_events(position: int, item: dict[str, Any], every: float) -> Iterator[Piece]:
    begun = {**item, "status": "in_progress", **({"content": []} if every else {})}
    yield _event("response.output_item.added", output_index=position, item=begun)
    if item["type"] == "message":
        text = item["content"][0]["text"]
        place = {"item_id": item["id"], "output_index": position, "content_index": 0}
        for number, piece in enumerate(_WORD.findall(text) if every else [text]):
            if number:
                yield Wait(every)
            yield _event("response.output_text.delta", **place, delta=piece)
        yield _event("response.output_text.done", **place, text=text)
    yield _event("response.output_item.done", output_index=position, item=item)


def _item(action: Action) -> dict[str, Any]:
    number = next(_ids)
    if "item" in action:
        return {"id": f"item_{number}", "call_id": f"call_{number}", "status": "completed", **action["item"]}
    if "text" in action:
        content = [{"type": "output_text", "text": action["text"], "annotations": []}]
        return {
            "id": f"msg_{number}",
            "type": "message",
            "role": "assistant",
            "status": "completed",
            "content": content,
        }
    call = {"call_id": f"call_{number}", "name": action["tool"], "status": "completed"}
    if "namespace" in action:
        call["namespace"] = action["namespace"]
    if isinstance(action["input"], str):
        return {"id": f"ctc_{number}", "type": "custom_tool_call", "input": action["input"], **call}
    return {"id": f"fc_{number}", "type": "function_call", "arguments": json.dumps(action["input"]), **call}


def _response(body: dict[str, Any]) -> dict[str, Any]:
    count = tokens(body)
    usage = {
        "input_tokens": count,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": 10,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": count + 10,
    }
    return {
        "id": f"resp_{next(_ids)}",
        "object": "response",
        "model": body.get("model", "stub"),
        "output": [],
        "usage": usage,
    }


def _event(name: str, **data: Any) -> Send:
    return Send(name, {"type": name, **data})
