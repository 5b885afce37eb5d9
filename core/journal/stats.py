"""What was put before models, by which part, and how often what it named was used: counted over records.

Invariant: pure and streaming; memory is bounded by the sessions that are open at a time. What an injection names
counts as used when the agent opens or edits one of those files before its user's next prompt but one, by a call that
came through. An occasion at which the context was held out counts the same files, so that the two can be compared.
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

from upbeat.core.journal.fit import original_length
from upbeat.core.journal.record import DROPPED, DUPLICATE, HELD_OUT, OVER_BUDGET, OVER_CAP
from upbeat.core.shell.commands import parse_commands

SCHEMA_VERSION = "1.0"
MIN_OCCASIONS = 30
"""Occasions on either side below which nothing is said about a difference."""
Z_SCORE_95 = 1.959964
"""Standard deviations that a 95 percent interval spans to either side."""
PROMPTS_TO_SETTLE = 2
"""Prompts of the user after which an injection counts as used or not."""
MAX_SESSIONS = 2000
MAX_TRACKED_INJECTIONS = 60
"""Injections of one session that are watched at a time."""

_EDITS = frozenset({"edit", "write"})
_OPENS = frozenset({"read", "search", *_EDITS})
_APPENDS = frozenset({">>", "&>>"})
_DROP_REASON = re.compile(r"InjectContext: ([^;]+)")


class Significance(StrEnum):
    """What can be said of the difference between with and without."""

    NO_HOLDOUT = "no_holdout"
    """Nothing was held out."""
    TOO_FEW = "too_few"
    NOT_SIGNIFICANT = "not_significant"
    """The intervals overlap: it may be chance."""
    SIGNIFICANT = "significant"


@dataclass(frozen=True, slots=True)
class Rate:
    """How many of ``occasions`` had it. ``low`` and ``high`` are the ends of Wilson's 95 percent interval, 0 to 1."""

    occasions: int = 0
    count: int = 0
    share: float = 0.0
    low: float = 0.0
    high: float = 1.0


@dataclass(frozen=True, slots=True)
class HoldoutComparison:
    """The same rate where the context went in and where it was held out, and what can be said of the difference."""

    injected: Rate = field(default_factory=Rate)
    held_out: Rate = field(default_factory=Rate)
    verdict: Significance = Significance.NO_HOLDOUT


@dataclass(frozen=True, slots=True)
class DropCounts:
    """Injections that did not go in: for want of room or budget, said by another part already, held out."""

    no_room: int = 0
    over_budget: int = 0
    duplicate: int = 0
    held_out: int = 0


@dataclass(frozen=True, slots=True)
class SourceStats:
    """One part that puts context before models. Characters are those that went in.

    ``opened`` and ``edited``: of the occasions at which it named files, those at which one was opened (or edited), or
    edited. ``calls_to_use`` is the median number of calls until then, where it went in.
    """

    part: str
    times: int = 0
    chars: int = 0
    chars_per_turn: float = 0.0
    chars_per_session: float = 0.0
    dropped: DropCounts = field(default_factory=DropCounts)
    opened: HoldoutComparison = field(default_factory=HoldoutComparison)
    edited: HoldoutComparison = field(default_factory=HoldoutComparison)
    calls_to_use: float | None = None


@dataclass(frozen=True, slots=True)
class HoldoutSummary:
    """With and without, over all parts. ``holdout_percent`` is the present setting."""

    holdout_percent: int = 0
    opened: HoldoutComparison = field(default_factory=HoldoutComparison)
    edited: HoldoutComparison = field(default_factory=HoldoutComparison)


@dataclass(frozen=True, slots=True)
class StatsReport:
    """``upbeat stats --json``. ``turns`` counts prompts of users; ``root`` is empty for all repositories."""

    days: int
    root: str = ""
    sessions: int = 0
    turns: int = 0
    turns_with_context: int = 0
    first: str = ""
    last: str = ""
    sources: tuple[SourceStats, ...] = ()
    holdout: HoldoutSummary = field(default_factory=HoldoutSummary)
    schema_version: str = SCHEMA_VERSION


def stats_document(report: StatsReport) -> dict[str, Any]:
    """``report`` as JSON has it."""
    return {"schema_version": report.schema_version, **asdict(report)}


@dataclass(slots=True)
class _TrackedInjection:
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
class _SessionTracker:
    tracked: list[_TrackedInjection] = field(default_factory=list)


@dataclass(slots=True)
class _PartCounts:
    times: int = 0
    chars: int = 0
    drop_reasons: Counter[str] = field(default_factory=Counter)
    usage_counts: dict[bool, Counter[str]] = field(default_factory=lambda: {False: Counter(), True: Counter()})
    """By whether it was held out: ``named``, ``opened``, ``edited``."""
    calls_to_use: Counter[int] = field(default_factory=Counter)


class StatsCollector:
    """Takes the bodies of records, in their order, and counts."""

    def __init__(self) -> None:
        self._sessions: OrderedDict[str, _SessionTracker] = OrderedDict()
        self._known: set[int] = set()
        self._parts: dict[str, _PartCounts] = {}
        self._turns = self._turns_with_context = 0
        self._first = self._last = ""

    def add(self, body: Mapping[str, Any]) -> None:
        """Count one record."""
        at = _text(body, "at")
        self._first, self._last = self._first or at, at or self._last
        session = self._session_tracker(_text(body, "session_id"))
        is_prompt = body.get("event") == "PromptSubmitted" and _text(_mapping(body, "event_fields"), "origin") == "user"
        if is_prompt:
            self._turns += 1
            self._turns_with_context += any(_injected_texts(body))
            self._settle_on_prompt(session)
        elif body.get("event") == "ToolFinished" and session.tracked:
            _mark_used(session, _mapping(body, "event_fields"), _text(body, "root"))
        self._count_injections(session, body)

    def build_report(self, days: int, root: str = "", holdout_percent: int = 0) -> StatsReport:
        """What has been counted so far; ``holdout_percent`` is how much is held out at present."""
        for session in self._sessions.values():
            for one in session.tracked:
                self._settle(one)
            session.tracked.clear()
        parts = sorted(self._parts.items(), key=lambda pair: (-pair[1].chars, pair[0]))
        sources = tuple(self._source_stats(name, part) for name, part in parts)
        return StatsReport(
            days=days,
            root=root,
            sessions=len(self._known),
            turns=self._turns,
            turns_with_context=self._turns_with_context,
            first=self._first,
            last=self._last,
            sources=sources,
            holdout=self._holdout_summary(holdout_percent),
        )

    def _session_tracker(self, session_id: str) -> _SessionTracker:
        if session_id:
            self._known.add(hash(session_id))
        found = self._sessions.setdefault(session_id, _SessionTracker())
        self._sessions.move_to_end(session_id)
        if len(self._sessions) > MAX_SESSIONS:
            _, oldest = self._sessions.popitem(last=False)
            for one in oldest.tracked:
                self._settle(one)
        return found

    def _settle_on_prompt(self, session: _SessionTracker) -> None:
        for one in session.tracked:
            one.prompts += 1
            if one.prompts >= PROMPTS_TO_SETTLE:
                self._settle(one)
        session.tracked = [one for one in session.tracked if one.prompts < PROMPTS_TO_SETTLE]

    def _count_injections(self, session: _SessionTracker, body: Mapping[str, Any]) -> None:
        whole = body.get("injected_chars")
        found = list(_injected_texts(body))
        for part, text in found:
            counted = self._counts_of(part)
            counted.times += 1
            is_alone = len(found) == 1 and isinstance(whole, int)
            counted.chars += int(whole or 0) if is_alone else original_length(text)
        parts = {part for part, _text_of in found}
        held: set[str] = set()
        for said in _mappings(body, "explanations"):
            if said.get("decision") == DROPPED:
                why = _DROP_REASON.findall(_text(said, "reason"))
                if why:
                    self._counts_of(_text(said, "component")).drop_reasons.update(why)
                if HELD_OUT in why:
                    held.add(_text(said, "component"))
        for said in _mappings(body, "explanations"):
            part = _text(said, "component")
            if (part in parts or part in held) and said.get("decision") != DROPPED:
                self._track(session, part, said, body, is_held_out=part not in parts)

    def _track(
        self,
        session: _SessionTracker,
        part: str,
        explanation: Mapping[str, Any],
        body: Mapping[str, Any],
        *,
        is_held_out: bool,
    ) -> None:
        names = filter(None, _texts(_mapping(explanation, "inputs"), "names"))
        files = frozenset(posixpath.join(_text(body, "root"), name).rstrip("/") for name in names) - {""}
        if not files:
            return
        session.tracked.append(
            _TrackedInjection(part, files, _text(_mapping(body, "event_fields"), "call_id"), is_held_out)
        )
        while len(session.tracked) > MAX_TRACKED_INJECTIONS:
            self._settle(session.tracked.pop(0))

    def _settle(self, injection: _TrackedInjection) -> None:
        part = self._counts_of(injection.part)
        found = part.usage_counts[injection.is_held_out]
        found.update(["named"])
        if injection.used_after is not None:
            found.update(["opened"])
            if not injection.is_held_out:
                part.calls_to_use[injection.used_after] += 1
        if injection.is_edited:
            found.update(["edited"])

    def _counts_of(self, name: str) -> _PartCounts:
        return self._parts.setdefault(name, _PartCounts())

    def _source_stats(self, name: str, part: _PartCounts) -> SourceStats:
        why = part.drop_reasons
        return SourceStats(
            part=name,
            times=part.times,
            chars=part.chars,
            chars_per_turn=round(part.chars / max(self._turns, 1), 1),
            chars_per_session=round(part.chars / max(len(self._known), 1), 1),
            dropped=DropCounts(why[OVER_CAP], why[OVER_BUDGET], why[DUPLICATE], why[HELD_OUT]),
            opened=_compare(part.usage_counts, "opened"),
            edited=_compare(part.usage_counts, "edited"),
            calls_to_use=_counter_median(part.calls_to_use),
        )

    def _holdout_summary(self, holdout_percent: int) -> HoldoutSummary:
        sides: dict[bool, Counter[str]] = {False: Counter(), True: Counter()}
        for part in self._parts.values():
            for is_held_out, found in part.usage_counts.items():
                sides[is_held_out].update(found)
        is_on = holdout_percent > 0
        return HoldoutSummary(
            holdout_percent, _compare(sides, "opened", is_on=is_on), _compare(sides, "edited", is_on=is_on)
        )


def wilson_interval(count: int, occasions: int) -> Rate:
    """The share of ``count`` in ``occasions`` with Wilson's 95 percent interval; from 0 to 1 without any."""
    if not occasions:
        return Rate()
    share, square = count / occasions, Z_SCORE_95**2
    middle = share + square / (2 * occasions)
    spread = Z_SCORE_95 * math.sqrt(share * (1 - share) / occasions + square / (4 * occasions**2))
    whole = 1 + square / occasions
    low, high = max((middle - spread) / whole, 0.0), min((middle + spread) / whole, 1.0)
    return Rate(occasions, count, round(share, 4), round(low, 4), round(high, 4))


def _compare(sides: Mapping[bool, Mapping[str, int]], name: str, *, is_on: bool = False) -> HoldoutComparison:
    """The rate of ``name`` by whether the context was held out; ``is_on``: some is at present."""
    went_in, held_out = (
        wilson_interval(sides[side].get(name, 0), sides[side].get("named", 0)) for side in (False, True)
    )
    return HoldoutComparison(went_in, held_out, _significance(went_in, held_out, is_on=is_on))


def _significance(injected: Rate, held_out: Rate, *, is_on: bool) -> Significance:
    if not held_out.occasions and not is_on:
        return Significance.NO_HOLDOUT
    if min(injected.occasions, held_out.occasions) < MIN_OCCASIONS:
        return Significance.TOO_FEW
    overlap = injected.low <= held_out.high and held_out.low <= injected.high
    return Significance.NOT_SIGNIFICANT if overlap else Significance.SIGNIFICANT


def _counter_median(counts: Counter[int]) -> float | None:
    """The median of numbers that are counted; None without any."""
    left = counts.total() / 2
    for number in sorted(counts):
        left -= counts[number]
        if left <= 0:
            return float(number)
    return None


def _injected_texts(body: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """(part, text) of the context that went in."""
    for effect in _mappings(body, "effects"):
        if effect.get("kind") == "inject_context":
            yield _text(effect, "part"), _text(effect, "text")


def _mark_used(session: _SessionTracker, about: Mapping[str, Any], root: str) -> None:
    """Which of what is watched a call has used."""
    act, command, call_id = (_text(about, name) for name in ("tool_kind", "command", "call_id"))
    if about.get("was_rejected") or about.get("was_interrupted") or (about.get("has_failed") and not command):
        return
    opened = set(_texts(about, "paths")) if act in _OPENS else set()
    edited = set(opened) if act in _EDITS else set()
    if command and _may_use_shell(command, session.tracked):
        by_name, written = _files_in_command(command, root)
        opened |= by_name
        edited |= written
    for one in session.tracked:
        if call_id and call_id == one.call_id:
            continue
        one.calls += 1
        if any(_is_within(path, one.files) for path in opened):
            one.used_after = one.calls if one.used_after is None else one.used_after
            one.is_edited = one.is_edited or any(_is_within(path, one.files) for path in edited)


def _is_within(path: str, files: frozenset[str]) -> bool:
    """Whether ``path`` is one of ``files``, or lies in a folder that is."""
    return path in files or any(path.startswith(f"{file}/") for file in files)


def _may_use_shell(command: str, tracked: list[_TrackedInjection]) -> bool:
    """Whether it is worth while to take a shell line apart."""
    return any(posixpath.basename(file) in command for one in tracked for file in one.files)


def _files_in_command(command: str, root: str) -> tuple[set[str], set[str]]:
    """The files that a shell line names, and those of them that it writes: clients without a tool to read use these.

    Relative names begin at the root: where else the shell may stand the record does not tell.
    """
    named: set[str] = set()
    written: set[str] = set()
    for one in parse_commands(command).items:
        folder = posixpath.join(root, "" if one.working_dir == "?" else one.working_dir)
        named |= {posixpath.normpath(posixpath.join(folder, word)) for word in one.words[1:] if "\n" not in word}
        targets = [to.target for to in one.redirects if to.is_overwrite or to.operator in _APPENDS]
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
