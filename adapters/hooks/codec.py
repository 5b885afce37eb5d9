"""A client's codec for the shared hook format: what differs between clients is data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from upbeat.adapters.hooks import event_format, output_format
from upbeat.adapters.hooks.event_format import Dialect, Payload
from upbeat.adapters.hooks.output_format import Capabilities, OutputSpec
from upbeat.core.contract.effect import Decision
from upbeat.core.contract.event import Call, Event

if TYPE_CHECKING:
    from upbeat.core.sanitize.truncate import TextLimit


@dataclass(frozen=True, slots=True, eq=False)
class HookCodec:
    """Implements ``clients.client.Codec``."""

    cap: TextLimit
    dialect: Dialect
    spec: OutputSpec

    @property
    def capabilities(self) -> Capabilities:
        return self.spec.capabilities

    def decode(self, payload: Payload) -> Event:
        return event_format.decode(payload, self.dialect)

    def encode(self, event: Event, decision: Decision) -> dict[str, Any]:
        return output_format.encode(event, decision, self.spec)

    def degradations(self, event: Event, decision: Decision) -> tuple[str, ...]:
        return output_format.degradations(event, decision, self.spec)

    def describe_call(self, call: Call, cwd: str) -> Call:
        return self.dialect.describe_call(call, cwd)
