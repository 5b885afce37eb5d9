"""What a client's codec leaves out of a decision."""

from __future__ import annotations

from upbeat.adapters.hooks.codec import UNSUPPORTED, HookCodec
from upbeat.core.contract.effect import Decision, Effect
from upbeat.core.contract.event import Event


def left_out_by(codec: HookCodec, event: Event, decision: Decision) -> tuple[Effect, ...]:
    """The effects that the client cannot carry out at ``event``."""
    short = codec.degradations(event, decision)
    return tuple(effect for effect, lacks in zip(decision.effects, short, strict=True) if lacks == UNSUPPORTED)
