"""The messages between a program and its ``codex app-server``: JSON objects, one a line, no ``jsonrpc`` field.

Law: ``parse`` is total; what is no message is ``Noise``. Nothing is read or written here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Fields = Mapping[str, Any]

NO_SUCH_METHOD = -32601
"""What JSON-RPC says to a method that is not known."""


@dataclass(frozen=True, slots=True)
class Result:
    """The server has done what request ``number`` asked for."""

    number: int
    fields: Fields


@dataclass(frozen=True, slots=True)
class Refusal:
    """The server will not do what request ``number`` asked for."""

    number: int
    code: int
    text: str


@dataclass(frozen=True, slots=True)
class Request:
    """The server wants an answer, and waits for it."""

    number: int | str
    method: str
    fields: Fields


@dataclass(frozen=True, slots=True)
class Notification:
    """The server tells something."""

    method: str
    fields: Fields


@dataclass(frozen=True, slots=True)
class Noise:
    """A line that is no message."""

    what: str


Message = Result | Refusal | Request | Notification | Noise


def parse(line: bytes) -> Message:
    """The message in one line, without its end."""
    try:
        raw = json.loads(line.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return Noise("not JSON")
    if not isinstance(raw, dict):
        return Noise("not an object")
    method, number = raw.get("method"), raw.get("id")
    if isinstance(method, str):
        fields = _fields(raw.get("params"))
        if isinstance(number, int | str) and not isinstance(number, bool):
            return Request(number, method, fields)
        return Notification(method, fields)
    if not isinstance(number, int) or isinstance(number, bool):
        return Noise("neither a request nor an answer")
    if "error" in raw:
        error = _fields(raw["error"])
        code, text = error.get("code"), error.get("message")
        return Refusal(number, code if isinstance(code, int) else 0, text if isinstance(text, str) else "")
    return Result(number, _fields(raw.get("result")))


def request(number: int, method: str, fields: Fields) -> bytes:
    """The line that asks for something; the answer carries the same ``number``."""
    return _line({"id": number, "method": method, "params": fields})


def notification(method: str) -> bytes:
    """The line that tells something."""
    return _line({"method": method})


def answer(number: int | str, fields: Fields) -> bytes:
    """The line that answers request ``number`` of the server."""
    return _line({"id": number, "result": fields})


def refusal(number: int | str, text: str) -> bytes:
    """The line that says that nothing here can answer request ``number`` of the server."""
    return _line({"id": number, "error": {"code": NO_SUCH_METHOD, "message": text}})


def _line(message: Fields) -> bytes:
    return json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace") + b"\n"


def _fields(raw: object) -> Fields:
    return raw if isinstance(raw, dict) else {}
