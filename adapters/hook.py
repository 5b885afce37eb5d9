"""One hook event, from a client's payload to that client's output. Law: it never raises and never breaks a client.

The command-hook route and the MCP route both come through ``answer``; the one broad ``except`` of hooks is here.
"""

from __future__ import annotations

import json
import traceback
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..core.contract.event import Origin, PromptSubmitted, TurnEnding
from ..core.errors import ClientError
from ..core.handle import handle
from ..core.journal.record import Record
from ..core.turn.report import timestamp
from .wiring import wire

if TYPE_CHECKING:
    from .wiring import Application

MAX_PAYLOAD = 32 * 1024 * 1024
MOST_LEVELS = 100
"""Of nesting in an answer: Codex's parser gives up at 128 and drops an answer that it cannot parse."""


def answer_bytes(client: str, payload: bytes, application: Application) -> bytes:
    """The output for a payload as it came on stdin; nothing when there is nothing to say."""
    if len(payload) > MAX_PAYLOAD:
        _log_unreadable(application, client, f"payload of {len(payload)} bytes; at most {MAX_PAYLOAD} are read")
        return b""
    try:
        fields = json.loads(payload.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        _log_unreadable(application, client, f"payload of {len(payload)} bytes is not JSON: {error}")
        return b""
    if not isinstance(fields, Mapping):
        _log_unreadable(application, client, f"payload is a {type(fields).__name__}, not an object")
        return b""
    output = answer(client, fields, application)
    return json.dumps(output).encode() if output else b""


def answer(client: str, fields: Mapping[str, Any], application: Application) -> dict[str, Any]:
    """The output for an event whose fields are ``fields``; empty when there is nothing to say."""
    try:
        codec = wire(client)
        event = codec.decode(fields)
        if application.environment.wrapped and isinstance(event, PromptSubmitted):
            event = replace(event, origin=Origin.WRAPPED)
        if application.environment.wrapped and isinstance(event, TurnEnding):
            return {}  # codex-auto decides itself whether its turn is the last one
        output: dict[str, Any] = codec.encode(event, handle(event, application.runtime, codec.CAP, codec.shortfalls))
        _check(output)
    except ClientError as error:
        _log_unreadable(application, client, str(error))
        return {}
    except Exception:  # the boundary of hooks: a fault of ours must not cost the user a turn
        _note(application, client, "could_not_evaluate", traceback=traceback.format_exc())
        return {}
    return output


def _check(output: Mapping[str, Any]) -> None:
    """Raises ``ClientError`` for an answer that would not arrive.

    Only a changed input or output of a tool can hold that: it has in it whatever the payload had. Python reads
    infinite numbers, half characters and nesting that no other parser takes.
    """
    try:
        json.dumps(output, allow_nan=False, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as error:
        raise ClientError(f"the answer would not be JSON: {error}") from None
    level: list[Any] = [output]
    for _ in range(MOST_LEVELS):
        level = [inner for one in level for inner in _inside(one)]
        if not level:
            return
    raise ClientError(f"the answer would be nested in more than {MOST_LEVELS} levels")


def _inside(value: object) -> Iterable[Any]:
    """The objects and lists that ``value`` holds."""
    values = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [one for one in values if isinstance(one, dict | list)]


def _log_unreadable(application: Application, client: str, problem: str) -> None:
    _note(application, client, "unreadable_payload", problem=problem)


def _note(application: Application, client: str, event: str, **about: str) -> None:
    """A record of something that is no event of a client."""
    now = timestamp(application.runtime.clock.now())
    with application.runtime.journal.transaction() as transaction:
        transaction.append(Record(now, event, client, about=about))
