"""Many voices, one decision: the precedence of effects.

::

    a call       Deny > Ask > RewriteInput, PutBefore     what is denied is not rewritten
    an ending    Stop > KeepGoing                         at most one of them: that of the first voice
    a result     RewriteOutput                            that of the first voice
    context      by rank, as far as the room goes         what has no room is left out whole, and recorded
    a person     everything                               equal texts once

Law: the same voices in any order make the same decision.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from .contract.effect import (
    Ask,
    Deny,
    Effect,
    Inject,
    KeepGoing,
    PutBefore,
    RewriteInput,
    RewriteOutput,
    Said,
    Stop,
)
from .turn.truncate import Cap, measure


@dataclass(frozen=True, slots=True)
class Voice:
    """What one part proposes. Of two voices the one with the lower ``rank`` is heard first, then by name.

    ``is_budgeted``: its context counts against what policies and rules may inject.
    """

    part: str
    effects: tuple[Effect, ...]
    rank: int = 50
    said: tuple[Said, ...] = ()
    is_budgeted: bool = True
    is_withheld: bool = False
    """Its context is left out to see what difference it makes (``inject.hold_out``)."""


@dataclass(frozen=True, slots=True)
class Room:
    """How much context goes in: all of it (the client's cap), and what policies and rules may still inject."""

    cap: Cap
    turn: int = 10**9
    session: int = 10**9


@dataclass(frozen=True, slots=True)
class Merged:
    """The effects in order, with the part that each comes from; what was said; characters that were spent."""

    effects: tuple[Effect, ...] = ()
    parts: tuple[str, ...] = ()
    said: tuple[Said, ...] = ()
    spent: int = 0


@dataclass(slots=True)
class _Left:
    """What is left of the room while voices are heard."""

    cap: int
    budget: int
    spent: int = 0


@dataclass(frozen=True, slots=True)
class _Kept:
    part: str
    effect: Effect
    why_not: str = field(default="")


_ONE_VOICE = (KeepGoing, RewriteOutput, Stop)
_OVERRULED_BY: dict[type[Effect], tuple[type[Effect], ...]] = {
    Ask: (Deny,),
    RewriteInput: (Deny,),
    PutBefore: (Deny,),
    KeepGoing: (Stop,),
}


def merge(voices: Iterable[Voice], room: Room) -> Merged:
    """One decision out of ``voices``."""
    heard = sorted(voices, key=lambda voice: (voice.rank, voice.part))
    left = _Left(room.cap.limit, min(room.turn, room.session))
    present = {type(effect) for voice in heard for effect in voice.effects if effect.text}
    taken: set[object] = set()
    kept: list[_Kept] = []
    said: list[Said] = []
    for voice in heard:
        verdicts = [_heard(voice, effect, room, left, present, taken) for effect in voice.effects if effect.text]
        kept += [one for one in verdicts if not one.why_not]
        said += _told(voice, verdicts)
    return Merged(tuple(one.effect for one in kept), tuple(one.part for one in kept), tuple(said), left.spent)


def _heard(
    voice: Voice, effect: Effect, room: Room, left: _Left, present: set[type[Effect]], taken: set[object]
) -> _Kept:
    """The effect, and why it is left out if it is."""
    kind = type(effect)
    overruled = [over for over in _OVERRULED_BY.get(kind, ()) if over in present]
    key = (kind, "" if isinstance(effect, _ONE_VOICE) else effect.text)
    if overruled:
        return _Kept(voice.part, effect, f"overruled by {overruled[0].__name__}")
    if key in taken:
        return _Kept(voice.part, effect, "somebody was first")
    if isinstance(effect, RewriteInput):
        effect = replace(effect, fields={name: new for name, new in effect.fields.items() if name not in taken})
        if not effect.fields:
            return _Kept(voice.part, effect, "somebody was first")
        taken.update(effect.fields)
    if isinstance(effect, Inject) and (why := _no_room(voice, effect, room, left)):
        return _Kept(voice.part, effect, why)
    taken.add(key)
    return _Kept(voice.part, effect)


def _no_room(voice: Voice, effect: Inject, room: Room, left: _Left) -> str:
    """Why the context cannot go in; takes its room otherwise."""
    if voice.is_withheld:
        return "held out"
    size = measure(effect.text, room.cap.unit) + 1
    if size > left.cap:
        return "no room in the turn"
    if voice.is_budgeted:
        if len(effect.text) > left.budget:
            return "the budget for injected text is spent"
        left.budget -= len(effect.text)
        left.spent += len(effect.text)
    left.cap -= size
    return ""


def _told(voice: Voice, verdicts: Sequence[_Kept]) -> list[Said]:
    """What is recorded of a voice: its own words, and which of its effects were left out."""
    lost = [f"{type(one.effect).__name__}: {one.why_not}" for one in verdicts if one.why_not]
    if not lost:
        return list(voice.said)
    return [*voice.said, Said(voice.part, "left out", "; ".join(lost))]
