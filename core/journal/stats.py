"""What was put before models, by which part, and how often what it named was used: counted over records.

Law: pure and streaming; memory is bounded by the sessions that are open at a time. What an injection names counts as
used when the agent opens or edits one of those files before its user's next prompt but one, by a call that came
through. An occasion at which the context was held out counts the same files, so that the two can be compared.
"""

from __future__ import annotations

import math
import posixpath
import re
from collections import Counter, OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

from ..merge import DUPLICATE, HELD_OUT, NO_ROOM, OVER_BUDGET
from ..shell.commands import commands
from .fit import whole_length

SCHEMA_VERSION = "1.0"
LEAST = 30
"""Occasions on either side below which nothing is said about a difference."""
CONFIDENCE = 1.959964
"""Standard deviations that a 95 per cent interval spans to either side."""
PROMPTS = 2
"""Prompts of the user after which an injection counts as used or not."""
MAX_SESSIONS = 2000
MAX_WATCHED = 60
"""Injections of one session that are watched at a time."""

_EDITS = frozenset({"edit", "write"})
_OPENS = frozenset({"read", "search", *_EDITS})
_APPENDS = frozenset({">>", "&>>"})
_LEFT_OUT = "left out"
_WHY_NOT = re.compile(r"Inject: ([^;]+)")


class Verdict(StrEnum):
    """What can be said of the difference between with and without."""

    OFF = "off"
    """Nothing was held out."""
    TOO_FEW = "too_few"
    CHANCE = "chance"
    """The intervals overlap: it may be chance."""
    DIFFERENT = "different"


@dataclass(frozen=True, slots=True)
class Rate:
    """How many of ``occasions`` had it. ``low`` and ``high`` are the ends of Wilson's 95 per cent interval, 0 to 1."""

    occasions: int = 0
    count: int = 0
    share: float = 0.0
    low: float = 0.0
    high: float = 1.0


@dataclass(frozen=True, slots=True)
class Comparison:
    """The same rate where the context went in and where it was held out, and what can be said of the difference."""

    injected: Rate = field(default_factory=Rate)
    held_out: Rate = field(default_factory=Rate)
    verdict: Verdict = Verdict.OFF


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Injections that did not go in: for want of room or budget, said by another part already, held out."""

    no_room: int = 0
    over_budget: int = 0
    duplicate: int = 0
    held_out: int = 0


@dataclass(frozen=True, slots=True)
class Injector:
    """One part that puts context before models. Characters are those that went in.

    ``opened`` and ``edited``: of the occasions at which it named files, those at which one was opened (or edited), or
    edited. ``calls_to_use`` is the median number of calls until then, where it went in.
    """

    part: str
    times: int = 0
    chars: int = 0
    chars_per_turn: float = 0.0
    chars_per_session: float = 0.0
    left_out: LeftOut = field(default_factory=LeftOut)
    opened: Comparison = field(default_factory=Comparison)
    edited: Comparison = field(default_factory=Comparison)
    calls_to_use: float | None = None


@dataclass(frozen=True, slots=True)
class HoldOut:
    """With and without, over all parts. ``per_cent`` is the present setting."""

    per_cent: int = 0
    opened: Comparison = field(default_factory=Comparison)
    edited: Comparison = field(default_factory=Comparison)


@dataclass(frozen=True, slots=True)
class Report:
    """``upbeat stats --json``. ``turns`` counts prompts of users; ``root`` is empty for all repositories."""

    days: int
    root: str = ""
    sessions: int = 0
    turns: int = 0
    turns_with_context: int = 0
    first: str = ""
    last: str = ""
    injectors: tuple[Injector, ...] = ()
    hold_out: HoldOut = field(default_factory=HoldOut)
    schema_version: str = SCHEMA_VERSION


def document(report: Report) -> dict[str, Any]:
    """``report`` as JSON has it."""
    return {"schema_version": report.schema_version, **asdict(report)}


@dataclass(slots=True)
class _Watched:
    """An injection that names files, until it is known whether they are used. ``files`` are absolute."""

    part: str
    files: frozenset[str]
    call_id: str
    """The call that it went with, which uses nothing of it."""
    is_held_out: bool
    prompts: int = 0
    calls: int = 0
    used_after: int | None = None
    is_edited: bool = False


@dataclass(slots=True)
class _Session:
    watched: list[_Watched] = field(default_factory=list)


@dataclass(slots=True)
class _Part:
    times: int = 0
    chars: int = 0
    why_not: Counter[str] = field(default_factory=Counter)
    used: dict[bool, Counter[str]] = field(default_factory=lambda: {False: Counter(), True: Counter()})
    """By whether it was held out: ``named``, ``opened``, ``edited``."""
    calls: Counter[int] = field(default_factory=Counter)


class Stats:
    """Takes the bodies of records, in their order, and counts."""

    def __init__(self) -> None:
        self._sessions: OrderedDict[str, _Session] = OrderedDict()
        self._known: set[int] = set()
        self._parts: dict[str, _Part] = {}
        self._turns = self._turns_with_context = 0
        self._first = self._last = ""

    def take(self, body: Mapping[str, Any]) -> None:
        """Count one record."""
        at = _text(body, "at")
        self._first, self._last = self._first or at, at or self._last
        session = self._session(_text(body, "session_id"))
        is_prompt = body.get("event") == "PromptSubmitted" and _text(_mapping(body, "about"), "origin") == "user"
        if is_prompt:
            self._turns += 1
            self._turns_with_context += any(_injected(body))
            self._next_prompt(session)
        elif body.get("event") == "ToolFinished" and session.watched:
            _called(session, _mapping(body, "about"), _text(body, "root"))
        self._injections(session, body)

    def report(self, days: int, root: str = "", per_cent: int = 0) -> Report:
        """What has been counted so far; ``per_cent`` is how much is held out at present."""
        for session in self._sessions.values():
            for one in session.watched:
                self._settle(one)
            session.watched.clear()
        parts = sorted(self._parts.items(), key=lambda pair: (-pair[1].chars, pair[0]))
        injectors = tuple(self._injector(name, part) for name, part in parts)
        return Report(
            days=days,
            root=root,
            sessions=len(self._known),
            turns=self._turns,
            turns_with_context=self._turns_with_context,
            first=self._first,
            last=self._last,
            injectors=injectors,
            hold_out=self._hold_out(per_cent),
        )

    def _session(self, session_id: str) -> _Session:
        if session_id:
            self._known.add(hash(session_id))
        found = self._sessions.setdefault(session_id, _Session())
        self._sessions.move_to_end(session_id)
        if len(self._sessions) > MAX_SESSIONS:
            _, oldest = self._sessions.popitem(last=False)
            for one in oldest.watched:
                self._settle(one)
        return found

    def _next_prompt(self, session: _Session) -> None:
        for one in session.watched:
            one.prompts += 1
            if one.prompts >= PROMPTS:
                self._settle(one)
        session.watched = [one for one in session.watched if one.prompts < PROMPTS]

    def _injections(self, session: _Session, body: Mapping[str, Any]) -> None:
        whole = body.get("injected_chars")
        found = list(_injected(body))
        for part, text in found:
            counted = self._part(part)
            counted.times += 1
            is_alone = len(found) == 1 and isinstance(whole, int)
            counted.chars += int(whole or 0) if is_alone else whole_length(text)
        parts = {part for part, _text_of in found}
        held: set[str] = set()
        for said in _mappings(body, "said"):
            if said.get("decided") == _LEFT_OUT:
                why = _WHY_NOT.findall(_text(said, "because"))
                if why:
                    self._part(_text(said, "part")).why_not.update(why)
                if HELD_OUT in why:
                    held.add(_text(said, "part"))
        for said in _mappings(body, "said"):
            part = _text(said, "part")
            if (part in parts or part in held) and said.get("decided") != _LEFT_OUT:
                self._watch(session, part, said, body, is_held_out=part not in parts)

    def _watch(
        self, session: _Session, part: str, said: Mapping[str, Any], body: Mapping[str, Any], *, is_held_out: bool
    ) -> None:
        names = filter(None, _texts(_mapping(said, "looked_at"), "names"))
        files = frozenset(posixpath.join(_text(body, "root"), name).rstrip("/") for name in names) - {""}
        if not files:
            return
        session.watched.append(_Watched(part, files, _text(_mapping(body, "about"), "call_id"), is_held_out))
        while len(session.watched) > MAX_WATCHED:
            self._settle(session.watched.pop(0))

    def _settle(self, one: _Watched) -> None:
        part = self._part(one.part)
        found = part.used[one.is_held_out]
        found.update(["named"])
        if one.used_after is not None:
            found.update(["opened"])
            if not one.is_held_out:
                part.calls[one.used_after] += 1
        if one.is_edited:
            found.update(["edited"])

    def _part(self, name: str) -> _Part:
        return self._parts.setdefault(name, _Part())

    def _injector(self, name: str, part: _Part) -> Injector:
        why = part.why_not
        return Injector(
            part=name,
            times=part.times,
            chars=part.chars,
            chars_per_turn=round(part.chars / max(self._turns, 1), 1),
            chars_per_session=round(part.chars / max(len(self._known), 1), 1),
            left_out=LeftOut(why[NO_ROOM], why[OVER_BUDGET], why[DUPLICATE], why[HELD_OUT]),
            opened=_compared(part.used, "opened"),
            edited=_compared(part.used, "edited"),
            calls_to_use=_median(part.calls),
        )

    def _hold_out(self, per_cent: int) -> HoldOut:
        sides: dict[bool, Counter[str]] = {False: Counter(), True: Counter()}
        for part in self._parts.values():
            for is_held_out, found in part.used.items():
                sides[is_held_out].update(found)
        is_on = per_cent > 0
        return HoldOut(per_cent, _compared(sides, "opened", is_on=is_on), _compared(sides, "edited", is_on=is_on))


def wilson(count: int, occasions: int) -> Rate:
    """The share of ``count`` in ``occasions`` with Wilson's 95 per cent interval; from 0 to 1 without any."""
    if not occasions:
        return Rate()
    share, square = count / occasions, CONFIDENCE**2
    middle = share + square / (2 * occasions)
    spread = CONFIDENCE * math.sqrt(share * (1 - share) / occasions + square / (4 * occasions**2))
    whole = 1 + square / occasions
    low, high = max((middle - spread) / whole, 0.0), min((middle + spread) / whole, 1.0)
    return Rate(occasions, count, round(share, 4), round(low, 4), round(high, 4))


def _compared(sides: Mapping[bool, Mapping[str, int]], name: str, *, is_on: bool = False) -> Comparison:
    """The rate of ``name`` by whether the context was held out; ``is_on``: some is at present."""
    went_in, held_out = (wilson(sides[side].get(name, 0), sides[side].get("named", 0)) for side in (False, True))
    return Comparison(went_in, held_out, _verdict(went_in, held_out, is_on=is_on))


def _verdict(went_in: Rate, held_out: Rate, *, is_on: bool) -> Verdict:
    if not held_out.occasions and not is_on:
        return Verdict.OFF
    if min(went_in.occasions, held_out.occasions) < LEAST:
        return Verdict.TOO_FEW
    overlap = went_in.low <= held_out.high and held_out.low <= went_in.high
    return Verdict.CHANCE if overlap else Verdict.DIFFERENT


def _median(found: Counter[int]) -> float | None:
    """The median of numbers that are counted; None without any."""
    left = found.total() / 2
    for number in sorted(found):
        left -= found[number]
        if left <= 0:
            return float(number)
    return None


def _injected(body: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """(part, text) of the context that went in."""
    for effect in _mappings(body, "effects"):
        if effect.get("kind") == "inject":
            yield _text(effect, "part"), _text(effect, "text")


def _called(session: _Session, about: Mapping[str, Any], root: str) -> None:
    """Which of what is watched a call has used."""
    act, command, call_id = (_text(about, name) for name in ("act", "command", "call_id"))
    if about.get("refused") or about.get("interrupted") or (about.get("failed") and not command):
        return
    opened = set(_texts(about, "paths")) if act in _OPENS else set()
    edited = set(opened) if act in _EDITS else set()
    if command and _mentions(command, session.watched):
        by_name, written = _files_of_line(command, root)
        opened |= by_name
        edited |= written
    for one in session.watched:
        if call_id and call_id == one.call_id:
            continue
        one.calls += 1
        if any(_is_one(path, one.files) for path in opened):
            one.used_after = one.calls if one.used_after is None else one.used_after
            one.is_edited = one.is_edited or any(_is_one(path, one.files) for path in edited)


def _is_one(path: str, files: frozenset[str]) -> bool:
    """Whether ``path`` is one of ``files``, or lies in a folder that is."""
    return path in files or any(path.startswith(f"{file}/") for file in files)


def _mentions(command: str, watched: list[_Watched]) -> bool:
    """Whether it is worth while to take a shell line apart."""
    return any(posixpath.basename(file) in command for one in watched for file in one.files)


def _files_of_line(line: str, root: str) -> tuple[set[str], set[str]]:
    """The files that a shell line names, and those of them that it writes: clients without a tool to read use these.

    Relative names begin at the root: where else the shell may stand the record does not tell.
    """
    named: set[str] = set()
    written: set[str] = set()
    for one in commands(line).items:
        folder = posixpath.join(root, "" if one.folder == "?" else one.folder)
        named |= {posixpath.normpath(posixpath.join(folder, word)) for word in one.words[1:] if "\n" not in word}
        targets = [to.target for to in one.redirects if to.writes or to.operator in _APPENDS]
        written |= {posixpath.normpath(posixpath.join(folder, target)) for target in targets if target}
    return named | written, written


def _mapping(values: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = values.get(name)
    return value if isinstance(value, Mapping) else {}


def _mappings(values: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    value = values.get(name)
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []


def _texts(values: Mapping[str, Any], name: str) -> list[str]:
    value = values.get(name)
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []


def _text(values: Mapping[str, Any], name: str) -> str:
    value = values.get(name)
    return value if isinstance(value, str) else ""
