"""Answer one hook event: from a client's payload to that client's output.

Invariant: it never raises and never breaks a client. Command hooks and MCP hooks both call ``answer_event``; the one
broad ``except`` of hooks is here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from upbeat.adapters.clients.registry import find_client
from upbeat.core.contract.arrival import Arrival, Route
from upbeat.core.contract.effect import NotifyUser
from upbeat.core.contract.event import AnswerLost, PromptOrigin, PromptSubmitted, TurnEnding
from upbeat.core.contract.timestamp import format_timestamp
from upbeat.core.engine.handle import handle_event
from upbeat.core.errors import ClientError
from upbeat.core.journal.record import Record
from upbeat.core.lazy_dataclass import replace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from upbeat.adapters.wiring import Application
    from upbeat.core.contract.event import Event

MAX_PAYLOAD_BYTES = 32 * 1024 * 1024
MAX_NESTING = 100
"""Codex's parser gives up at 128 levels and drops an output that it cannot parse."""


def answer_payload(client: str, payload: bytes, application: Application, arrival: Arrival | None = None) -> bytes:
    """Return the output for a payload; empty if there is nothing to output."""
    if len(payload) > MAX_PAYLOAD_BYTES:
        _record_unreadable(
            application, client, f"payload of {len(payload)} bytes; at most {MAX_PAYLOAD_BYTES} are read"
        )
        return b""
    try:
        fields = json.loads(payload.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        _record_unreadable(application, client, f"payload of {len(payload)} bytes is not JSON: {error}")
        return b""
    if not isinstance(fields, Mapping):
        _record_unreadable(application, client, f"payload is a {type(fields).__name__}, not an object")
        return b""
    output = answer_event(client, fields, application, arrival)
    return json.dumps(output).encode() if output else b""


def answer_event(
    client: str, fields: Mapping[str, Any], application: Application, arrival: Arrival | None = None
) -> dict[str, Any]:
    """Return the output for an event with the fields ``fields``; empty if there is nothing to output."""
    try:
        codec = find_client(client).codec()
        event = codec.decode(fields)
        if application.environment.is_wrapped and isinstance(event, PromptSubmitted):
            event = replace(event, origin=PromptOrigin.WRAPPED)
        if application.environment.is_wrapped and isinstance(event, TurnEnding):
            return {}  # codex-auto decides itself whether its turn is the last one
        pin = application.configuration_pin
        if pin and _renews_configuration(event, arrival):
            pin.renew()
        decision = handle_event(event, application.runtime, codec.cap, codec.degradations, arrival=arrival)
        if pin and isinstance(event, PromptSubmitted) and (notice := pin.take_notice(application.runtime.language)):
            decision = replace(decision, effects=(*decision.effects, NotifyUser(notice)))
        output: dict[str, Any] = codec.encode(event, decision)
        _check_serializable(output)
    except ClientError as error:
        _record_unreadable(application, client, str(error))
        return {}
    except Exception:  # the boundary of hooks: an error in upbeat must not cost the user a turn
        from traceback import format_exc

        _record_failure(application, client, "internal_error", traceback=format_exc())
        return {}
    return output


def _renews_configuration(event: Event, arrival: Arrival | None) -> bool:
    """Return whether the user is here: a prompt of theirs came over the server's connection, or nothing proves more."""
    if arrival is None or not arrival.sender:
        return True
    by_user = isinstance(event, PromptSubmitted) and event.origin in (PromptOrigin.USER, PromptOrigin.WRAPPED)
    return by_user and arrival.route is Route.SERVER


def arrival_of_hook(client: str, route: Route, descriptors: Sequence[int] = (0, 1), pid: int | None = None) -> Arrival:
    """Return how the input of a hook or a server arrived: of this process, or of ``pid`` with its ``descriptors``."""
    from upbeat.adapters.system.process.arrival import arrival_of

    try:
        shown = find_client(client)
    except ClientError:
        return Arrival(route)
    mark = "" if shown.marks_hooks else shown.shell_variable
    return arrival_of(route, (shown.cli_name,), pid=pid, descriptors=descriptors, mark=mark)


def record_lost_answer(client: str, fields: Mapping[str, Any], application: Application) -> None:
    """Record that the client did not wait for the answer to the hook with the fields ``fields``."""
    try:
        event = find_client(client).codec().decode(fields)
    except ClientError:
        return
    handle_event(AnswerLost(event.source, type(event).__name__), application.runtime)


def _check_serializable(output: Mapping[str, Any]) -> None:
    """Check that the client can parse ``output``.

    Only a changed input or output of a tool can fail, because it repeats the payload: Python reads infinite numbers,
    lone surrogates and nesting that no other parser accepts.

    Raises:
        ClientError: The client could not parse the output.
    """
    try:
        text = json.dumps(output, allow_nan=False, ensure_ascii=False)
        text.encode()
    except (ValueError, RecursionError) as error:
        raise ClientError(f"the output would not be JSON: {error}") from None
    if text.count("{") + text.count("[") <= MAX_NESTING:
        return
    level: list[Any] = [output]
    for _ in range(MAX_NESTING):
        values = [inner for outer in level for inner in (outer.values() if isinstance(outer, dict) else outer)]
        level = [inner for inner in values if isinstance(inner, dict | list)]
        if not level:
            return
    raise ClientError(f"the output would be nested more than {MAX_NESTING} levels deep")


def _record_unreadable(application: Application, client: str, problem: str) -> None:
    _record_failure(application, client, "invalid_payload", problem=problem)


def _record_failure(application: Application, client: str, event: str, **about: str) -> None:
    """Record a failure, which is no event of a client."""
    now = format_timestamp(application.runtime.clock.now())
    with application.runtime.journal.transaction() as transaction:
        transaction.append(Record(now, event, client, event_fields=about))
