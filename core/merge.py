"""Many voices, one decision: the precedence of effects.

::

    a call       Deny > Ask > RewriteInput                what is denied or asked about is not rewritten
                 Deny > PutBefore                         a person may say yes to what it was put before
    an ending    Stop > KeepGoing                         at most one of them: that of the first voice
    a result     RewriteOutput                            that of the first voice
    context      by rank, as far as the room goes         what has no room is left out whole, and recorded
    a person     everything                               equal texts once

Law: the same voices in any order make the same decision. Every text of it has been stripped: whatever a part says, and
whoever carries it out, nothing unseen goes through here to a model, a person or the journal.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from .contract.effect import (
    Ask,
    Deny,
    Effect,
    Inject,
    KeepGoing,
    PutBefore,
    Relabel,
    RewriteInput,
    RewriteOutput,
    Said,
    Stop,
)
from .turn.frame import harmless
from .turn.strip import strip
from .turn.truncate import Cap, measure

HELD_OUT = "held out"
NO_ROOM = "no room in the turn"
OVER_BUDGET = "the budget for injected text is spent"
DUPLICATE = "somebody was first"
"""Why an effect is left out, as records have it. Law: none holds a semicolon."""


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
    crowded_out: frozenset[str] = frozenset()
    """The parts whose context had no room."""


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
    why_not: str = ""
    lacks: str = ""
    """What of it is left out, where the rest goes in."""


_ONE_VOICE = (KeepGoing, RewriteOutput, Stop)
_OVERRULED_BY: dict[type[Effect], tuple[type[Effect], ...]] = {
    Ask: (Deny,),
    RewriteInput: (Deny, Ask),
    PutBefore: (Deny,),
    Relabel: (Deny,),
    KeepGoing: (Stop,),
}


def merge(voices: Iterable[Voice], room: Room) -> Merged:
    """One decision out of ``voices``."""
    heard = sorted(voices, key=_place)
    left = _Left(room.cap.limit, min(room.turn, room.session))
    present = {type(effect) for voice in heard for effect in _spoken(voice)}
    taken: set[object] = set()
    kept: list[_Kept] = []
    said: list[Said] = []
    crowded: set[str] = set()
    for voice in heard:
        verdicts = [_heard(voice, effect, room, left, present, taken) for effect in _spoken(voice)]
        kept += [one for one in verdicts if not one.why_not]
        crowded |= {one.part for one in verdicts if one.why_not in (NO_ROOM, OVER_BUDGET)}
        said += _told(voice, verdicts)
    effects, parts = tuple(one.effect for one in kept), tuple(one.part for one in kept)
    return Merged(effects, parts, tuple(said), left.spent, frozenset(crowded))


def _place(voice: Voice) -> tuple[object, ...]:
    """Where ``voice`` stands; two parts of one name by what they say, so that their order never counts."""
    words = tuple((type(effect).__name__, effect.text) for effect in voice.effects)
    return voice.rank, voice.part, words, tuple(said.configured_at for said in voice.said)


def _spoken(voice: Voice) -> tuple[Effect, ...]:
    """The effects that say anything."""
    return tuple(shown for effect in voice.effects if (shown := _visible(effect)).text.strip())


def _visible(effect: Effect) -> Effect:
    """``effect`` with a text that a terminal and a model can take; what a tool said opens and ends no frame of ours."""
    text = strip(effect.text)
    text = harmless(text) if isinstance(effect, RewriteOutput) else text
    return effect if text == effect.text else replace(effect, text=text)


def _heard(
    voice: Voice, effect: Effect, room: Room, left: _Left, present: set[type[Effect]], taken: set[object]
) -> _Kept:
    """The effect, and why it is left out if it is."""
    kind = type(effect)
    overruled = [over for over in _OVERRULED_BY.get(kind, ()) if over in present]
    key = (kind, "" if isinstance(effect, _ONE_VOICE) else effect.text)
    if overruled:
        return _Kept(voice.part, effect, f"overruled by {overruled[0].__name__}")
    if isinstance(effect, RewriteInput):
        return _rewritten(voice, effect, taken)
    if key in taken:
        return _Kept(voice.part, effect, DUPLICATE)
    if isinstance(effect, Inject) and (why := _no_room(voice, effect, room, left)):
        return _Kept(voice.part, effect, why)
    taken.add(key)
    return _Kept(voice.part, effect)


def _rewritten(voice: Voice, effect: RewriteInput, taken: set[object]) -> _Kept:
    """The fields that nobody has rewritten before."""
    fields = {name: new for name, new in effect.fields.items() if (RewriteInput, name) not in taken}
    if not fields:
        return _Kept(voice.part, effect, DUPLICATE)
    taken.update((RewriteInput, name) for name in fields)
    lost = ", ".join(sorted(effect.fields.keys() - fields.keys()))
    return _Kept(voice.part, replace(effect, fields=fields), lacks=f"{lost}: {DUPLICATE}" if lost else "")


def _no_room(voice: Voice, effect: Inject, room: Room, left: _Left) -> str:
    """Why the context cannot go in; takes its room otherwise."""
    if voice.is_withheld:
        return HELD_OUT
    size = measure(effect.text, room.cap.unit) + 1
    if size > left.cap:
        return NO_ROOM
    if voice.is_budgeted:
        if len(effect.text) > left.budget:
            return OVER_BUDGET
        left.budget -= len(effect.text)
        left.spent += len(effect.text)
    left.cap -= size
    return ""


def _told(voice: Voice, verdicts: Sequence[_Kept]) -> list[Said]:
    """What is recorded of a voice: its own words, and which of its effects were left out."""
    lost = [f"{type(one.effect).__name__}: {why}" for one in verdicts if (why := one.why_not or one.lacks)]
    if not lost:
        return list(voice.said)
    return [*voice.said, Said(voice.part, "left out", "; ".join(lost))]
