"""What a client's codec leaves out of a decision."""

from __future__ import annotations

from types import ModuleType

from upbeat.adapters.hook_output import LEFT_OUT
from upbeat.core.contract.effect import Decision, Effect
from upbeat.core.contract.event import Event


def left_out_by(codec: ModuleType, event: Event, decision: Decision) -> tuple[Effect, ...]:
    """The effects that the client cannot carry out at ``event``."""
    short = codec.shortfalls(event, decision)
    return tuple(effect for effect, lacks in zip(decision.effects, short, strict=True) if lacks == LEFT_OUT)
