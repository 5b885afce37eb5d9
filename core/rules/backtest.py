"""What a rule would have done in the past: each call once, with what really became of it.

Law: pure and streaming; memory is bounded however long the past is. A call that several records know counts once: an id
of sixteen characters or more is its provider's own and stands for one call anywhere, a shorter one within its session.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from ..contract.effect import (
    Ask,
    Deny,
    Effect,
    KeepGoing,
    PutBefore,
    RewriteInput,
    RewriteOutput,
)
from ..contract.event import (
    AskingUser,
    Call,
    Delegated,
    Delegating,
    Event,
    PromptSubmitted,
    ToolFinished,
    ToolStarting,
)
from ..errors import UserError
from ..journal.fit import cut, fit_text
from .history import Ended, Fate, Happened, Past

SCHEMA_VERSION = "1.0"
MAX_EXAMPLES = 5
MAX_EXAMPLE = 160
"""Characters of what an example shows."""
MAX_OPEN = 10_000
"""Calls that have begun and not ended; of more the oldest counts as one of which nobody knows what became of it."""
MAX_KNOWN = 1_000_000
"""Calls that are remembered so as not to count twice."""
_OF_ITS_PROVIDER = 16
_STARTS = (ToolStarting, AskingUser, Delegating)
_ENDS = (ToolFinished, Delegated)


class Decided(StrEnum):
    """What a rule would have done, from the strongest on."""

    BLOCKED = "blocked"
    ASKED = "asked"
    CHANGED = "changed"
    """The call, or what the model reads of it."""
    SENT_ON = "sent_on"
    TOLD = "told"


_BY_EFFECT: Mapping[type[Effect], Decided] = {
    Deny: Decided.BLOCKED,
    Ask: Decided.ASKED,
    RewriteInput: Decided.CHANGED,
    RewriteOutput: Decided.CHANGED,
    PutBefore: Decided.CHANGED,
    KeepGoing: Decided.SENT_ON,
}
_STRENGTH = {decided: place for place, decided in enumerate(Decided)}

Judge = Callable[[Event, str, float], tuple[Effect, ...]]
"""The effects of a rule at an event, in the repository ``root`` (real path), at a time (seconds since the epoch).

Raises RuleFailed, and NotPure where it cannot be judged without its past."""


class NotPure(UserError):
    """The rule or policy cannot be replayed, because what it says depends on more than the event."""


class RuleFailed(Exception):
    """The rule itself went wrong at one event; the rest of the past is still looked at."""


@dataclass(frozen=True, slots=True)
class Count:
    """How often, and what really became of those calls. Prompts and ends of turns are in ``all`` only."""

    all: int = 0
    succeeded: int = 0
    failed: int = 0
    denied: int = 0
    unknown: int = 0


@dataclass(frozen=True, slots=True)
class Example:
    """One occasion. ``what`` is the command, the paths or the beginning of a text: without secrets, on one line."""

    at: str
    project: str
    client: str
    what: str
    decided: Decided
    outcome: Fate | None = None


@dataclass(frozen=True, slots=True)
class Milliseconds:
    """How long the rule takes for one event."""

    median: float = 0.0
    p95: float = 0.0


@dataclass(frozen=True, slots=True)
class Report:
    """``upbeat backtest --json``. ``stopped`` says why not everything was looked at: ``time`` or ``interrupt``.

    ``errors`` counts the events at which the rule itself failed, ``unread`` the files that could not be read whole.
    """

    rule: str
    days: int
    sessions: int = 0
    calls: int = 0
    prompts: int = 0
    turn_ends: int = 0
    first: str = ""
    last: str = ""
    decided: Mapping[Decided, Count] = field(default_factory=dict)
    examples: tuple[Example, ...] = ()
    milliseconds: Milliseconds = field(default_factory=Milliseconds)
    errors: int = 0
    files: int = 0
    unread: int = 0
    stopped: str = ""
    schema_version: str = SCHEMA_VERSION

    @property
    def false_blocks(self) -> int:
        """Calls that would have been blocked and had succeeded."""
        return self.decided.get(Decided.BLOCKED, Count()).succeeded


def document(report: Report) -> dict[str, Any]:
    """``report`` as JSON has it."""
    return {"schema_version": report.schema_version, **asdict(report)}


@dataclass(slots=True)
class _Open:
    """A call that has begun. ``decided`` is the strongest of what the rule would have done so far."""

    decided: Decided | None = None
    example: Past | None = None


class Backtest:
    """Takes what happened, one thing after the other, and counts. ``clock`` gives seconds that never go backwards."""

    def __init__(self, judge: Judge, clock: Callable[[], float]) -> None:
        self._judge = judge
        self._clock = clock
        self._sessions: set[int] = set()
        self._told: frozenset[int] = frozenset()
        self._known: set[int] = set()
        self._open: dict[int, _Open] = {}
        self._counts = {decided: Counter[str]() for decided in Decided}
        self._examples: dict[int, list[Example]] = {}
        self._times = _Times()
        self._loaded: set[type[Event]] = set()
        """Kinds of events that were asked about: the first pays for what the rule loads, and is not timed."""
        self.calls = self.prompts = self.turn_ends = self.errors = 0
        self._first = self._last = ""

    def second_hand(self) -> None:
        """What comes now has the prompts and ends of turns of the sessions so far once more."""
        self._told = frozenset(self._sessions)

    def take(self, one: Happened) -> None:
        """Count one thing."""
        if isinstance(one, Ended):
            self._ended(_key(one.session_id, one.call_id), one.fate)
            return
        event = one.event
        if isinstance(event, _STARTS):
            self._started(one, event.call)
        elif isinstance(event, _ENDS):
            self._finished(one, event.call)
        else:
            self._happened(one)

    def close(self) -> None:
        """A record is over: of the calls that have not ended in it nobody knows what became."""
        for key in list(self._open):
            self._ended(key, Fate.UNKNOWN)

    def report(self, rule: str, days: int, files: int = 0, unread: int = 0, stopped: str = "") -> Report:
        """What has been counted so far."""
        self.close()
        counts = {decided: Count(**found) for decided, found in self._counts.items() if found["all"]}
        shown = [one for rank in sorted(self._examples) for one in self._examples[rank]][:MAX_EXAMPLES]
        return Report(
            rule=rule,
            days=days,
            sessions=len(self._sessions),
            calls=self.calls,
            prompts=self.prompts,
            turn_ends=self.turn_ends,
            first=self._first,
            last=self._last,
            decided=counts,
            examples=tuple(shown),
            milliseconds=Milliseconds(self._times.share(0.5), self._times.share(0.95)),
            errors=self.errors,
            files=files,
            unread=unread,
            stopped=stopped,
        )

    def _started(self, one: Past, call: Call) -> None:
        key = _key(one.event.source.session_id, call.id)
        if key in self._known:
            return
        self._remember(key)
        self._saw(one)
        self.calls += 1
        while len(self._open) >= MAX_OPEN:
            self._ended(next(iter(self._open)), Fate.UNKNOWN)
        self._open[key] = _Open()
        self._weigh(self._open[key], one)

    def _finished(self, one: Past, call: Call) -> None:
        """Its answer; a call whose beginning nobody has told counts from here on."""
        key = _key(one.event.source.session_id, call.id)
        found = self._open.get(key)
        if found is None:
            if key in self._known:
                return
            self._remember(key)
            self._saw(one)
            self.calls += 1
            found = self._open[key] = _Open()
        if found.decided is not Decided.BLOCKED:
            self._weigh(found, one)

    def _happened(self, one: Past) -> None:
        if hash(one.event.source.session_id) in self._told:
            return
        self._saw(one)
        if isinstance(one.event, PromptSubmitted):
            self.prompts += 1
        else:
            self.turn_ends += 1
        found = _Open()
        self._weigh(found, one)
        if found.decided:
            self._counts[found.decided]["all"] += 1
            self._show(found, None)

    def _weigh(self, found: _Open, one: Past) -> None:
        """What the rule says to the event, if that is more than it has said to the call before."""
        decided = self._decided(one)
        if decided and (found.decided is None or _STRENGTH[decided] < _STRENGTH[found.decided]):
            found.decided, found.example = decided, one

    def _decided(self, one: Past) -> Decided | None:
        at, kind = _seconds(one.at), type(one.event)
        began = self._clock()
        try:
            effects = self._judge(one.event, one.root, at)
        except RuleFailed:
            self.errors += 1
            return None
        finally:
            if kind in self._loaded:
                self._times.add(self._clock() - began)
            self._loaded.add(kind)
        found = [_BY_EFFECT.get(type(effect), Decided.TOLD) for effect in effects]
        return min(found, key=_STRENGTH.__getitem__) if found else None

    def _ended(self, key: int, fate: Fate) -> None:
        found = self._open.pop(key, None)
        if found is not None and found.decided is not None:
            self._counts[found.decided].update(("all", fate.value))
            self._show(found, fate)

    def _show(self, found: _Open, fate: Fate | None) -> None:
        """Keep it as an example while there are not enough of its rank: false alarms come first."""
        if found.example is None or found.decided is None:
            return
        is_false = found.decided in (Decided.BLOCKED, Decided.ASKED) and fate is Fate.SUCCEEDED
        rank = _STRENGTH[found.decided] - len(_STRENGTH) * is_false
        kept = self._examples.setdefault(rank, [])
        if len(kept) < MAX_EXAMPLES:
            example = _example(found.example, found.decided, fate)
            if example.what not in (one.what for one in kept):
                kept.append(example)

    def _saw(self, one: Past) -> None:
        self._sessions.add(hash(one.event.source.session_id))
        if one.at:
            self._first = min(self._first or one.at, one.at)
            self._last = max(self._last, one.at)

    def _remember(self, key: int) -> None:
        if len(self._known) < MAX_KNOWN:
            self._known.add(key)


class _Times:
    """Durations, each within four per cent, in a table that does not grow."""

    _STEP = math.log(1.08)
    _LEAST = 1e-7

    def __init__(self) -> None:
        self._found: Counter[int] = Counter()

    def add(self, seconds: float) -> None:
        self._found[round(math.log(max(seconds, self._LEAST) / self._LEAST) / self._STEP)] += 1

    def share(self, share: float) -> float:
        """Milliseconds that this share of all does not pass; 0 without any."""
        left = share * self._found.total()
        for place in sorted(self._found):
            left -= self._found[place]
            if left <= 0:
                return round(self._LEAST * math.exp(place * self._STEP) * 1000, 4)
        return 0.0


def _key(session_id: str, call_id: str) -> int:
    return hash(call_id) if len(call_id) >= _OF_ITS_PROVIDER else hash((session_id, call_id))


def _seconds(at: str) -> float:
    try:
        return datetime.fromisoformat(at).timestamp()
    except ValueError:
        return 0.0


def _example(one: Past, decided: Decided, fate: Fate | None) -> Example:
    project = one.root.rstrip("/").rpartition("/")[2] or one.root
    return Example(
        at=one.at,
        project=_shown(project),
        client=one.event.source.client.value,
        what=_shown(_what(one.event)),
        decided=decided,
        outcome=fate,
    )


def _what(event: Event) -> str:
    """What the event was about, as one recognises it."""
    call = getattr(event, "call", None)
    if not isinstance(call, Call):
        return str(getattr(event, "prompt", "") or getattr(event, "message", ""))
    command = str(getattr(event, "command", ""))
    told = command or " ".join(call.paths) or " ".join(str(value) for value in call.input.values())
    return f"{call.tool}: {told}"


def _shown(text: str) -> str:
    """``text`` without secrets and controls, on one line, short."""
    return cut(" ".join(fit_text(text).split()), MAX_EXAMPLE)
