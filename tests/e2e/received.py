"""Readers over what the stub model received: the conversation as the model saw it, whichever client sent it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .stubs import messages_api, responses_api

OPENING = "<upbeat-data id="
"""How a block of context begins that upbeat adds."""


@dataclass(frozen=True, slots=True)
class Said:
    """One text that the model was given: who said it, what kind of item carried it, and the words."""

    role: str
    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Request:
    """One request to the stub model."""

    number: int
    at: float
    method: str
    path: str
    api: str
    kind: str
    headers: dict[str, str]
    body: Any
    hung_up_at: float | None = None

    @property
    def from_subagent(self) -> bool:
        """Whether a subagent sent this, rather than the thread that the user talks to."""
        return "x-claude-code-agent-id" in self.headers or "x-openai-subagent" in self.headers

    def conversation(self) -> list[Said]:
        """Every text of the request in order, the system prompt and the tool definitions left out."""
        if self.api == "messages":
            return [said for message in self.body["messages"] for said in _said_in_message(message)]
        if self.api == "responses":
            return [_said_in_item(item) for item in self.body["input"]]
        return []

    def texts_with(self, marker: str) -> list[Said]:
        """The parts of the conversation that contain ``marker``."""
        return [said for said in self.conversation() if marker in said.text]

    def roles_with(self, marker: str) -> list[str]:
        """Who said what contains ``marker``."""
        return [said.role for said in self.texts_with(marker)]

    def injected(self) -> list[Said]:
        """The parts of the conversation that contain upbeat's context."""
        return self.texts_with(OPENING)

    def count(self, marker: str) -> int:
        """How often ``marker`` occurs in the conversation; several times in one text count."""
        return sum(said.text.count(marker) for said in self.conversation())


def read_requests(record: Path) -> list[Request]:
    """All requests of a record, in the order in which they came in."""
    lines = [json.loads(line) for line in record.read_text(encoding="utf-8").split("\n") if line]
    hung_up = {line["n"]: line["at"] for line in lines if line.get("hung_up")}
    return [_request(line, hung_up.get(line["n"])) for line in lines if not line.get("hung_up")]


def main_requests(requests: list[Request]) -> list[Request]:
    """The turns of the agent and its subagents, without titles, probes and counts."""
    return [request for request in requests if request.kind == "main"]


def _request(line: dict[str, Any], hung_up_at: float | None) -> Request:
    names = ("method", "path", "api", "kind", "headers", "body")
    return Request(number=line["n"], at=line["at"], hung_up_at=hung_up_at, **{name: line[name] for name in names})


def _said_in_message(message: dict[str, Any]) -> list[Said]:
    content = message["content"]
    if isinstance(content, str):
        return [Said(message["role"], "text", content)]
    said = []
    for block in content:
        if block["type"] == "text":
            said.append(Said(message["role"], "text", block["text"]))
        elif block["type"] == "tool_result":
            said.append(Said(message["role"], "tool_result", "\n".join(messages_api.block_texts([block]))))
        elif block["type"] == "tool_use":
            said.append(Said(message["role"], "tool_use", json.dumps(block["input"], ensure_ascii=False)))
    return said


def _said_in_item(item: dict[str, Any]) -> Said:
    kind = item.get("type", "message")
    if kind in ("function_call", "custom_tool_call"):
        return Said("assistant", kind, item.get("arguments", item.get("input", "")))
    role = item.get("role", "tool" if kind.endswith("_output") else "")
    return Said(role, kind, responses_api.item_text(item))
