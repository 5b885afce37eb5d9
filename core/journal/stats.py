"""Statistics of injected context over records: by which part, how much, and how often what it named was used.

Invariant: pure and streaming; memory is bounded by the sessions that are open at a time. What an injection names
counts as used when the agent opens or edits one of those files before its user's next prompt but one, by a call that
came through. An occasion at which the context was held out counts the same files, so that the two can be compared.
"""

from __future__ import annotations

import math
import posixpath
import re
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

from upbeat.core.journal import record
from upbeat.core.journal.codec import original_length
from upbeat.core.journal.pass_rates import PassCounter, StageAttempts
from upbeat.core.json_fields import mapping_of, mappings_of, text_of, texts_of
from upbeat.core.shell.commands import parse_commands

SCHEMA_VERSION = "1.1"
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
class StageStats:
    """The steps of a stage of workflows: how many passed at the first attempt, and within three."""

    stage: str
    pass_at_1: Rate = field(default_factory=Rate)
    pass_at_3: Rate = field(default_factory=Rate)

    @classmethod
    def of(cls, stage: StageAttempts) -> StageStats:
        """Return the rates of counted attempts."""
        rates = (wilson_interval(count, stage.steps) for count in (stage.passed_at_once, stage.passed_in_time))
        return cls(stage.stage, *rates)


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
    stages: tuple[StageStats, ...] = ()
    schema_version: str = SCHEMA_VERSION


def stats_document(report: StatsReport) -> dict[str, Any]:
    """Return ``report`` as a JSON document."""
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
class _PartCounts:
    times: int = 0
    chars: int = 0
    drop_reasons: Counter[str] = field(default_factory=Counter)
    usage_counts: dict[bool, Counter[str]] = field(default_factory=lambda: {False: Counter(), True: Counter()})
    """By whether it was held out: ``named``, ``opened``, ``edited``."""
    calls_to_use: Counter[int] = field(default_factory=Counter)


class StatsCollector:
    """Counts over the bodies of records, which it takes in their order."""

    def __init__(self) -> None:
        self._tracked: OrderedDict[str, list[_TrackedInjection]] = OrderedDict()
        """Session -> its injections that are not settled yet."""
        self._session_hashes: set[int] = set()
        self._parts: defaultdict[str, _PartCounts] = defaultdict(_PartCounts)
        self._passes = PassCounter()
        self._turns = self._turns_with_context = 0
        self._first = self._last = ""

    def add(self, body: Mapping[str, Any]) -> None:
        """Count one record."""
        at, event_fields = text_of(body, "at"), mapping_of(body, "event_fields")
        self._first, self._last = self._first or at, at or self._last
        tracked = self._track_session(text_of(body, "session_id"))
        if body.get("event") == "PromptSubmitted" and text_of(event_fields, "origin") == "user":
            self._turns += 1
            self._turns_with_context += any(_injected_texts(body))
            for injection in tracked:
                injection.prompts += 1
            self._settle([injection for injection in tracked if injection.prompts >= PROMPTS_TO_SETTLE])
            tracked[:] = [injection for injection in tracked if injection.prompts < PROMPTS_TO_SETTLE]
        elif body.get("event") == "ToolFinished" and tracked:
            _mark_used(tracked, event_fields, text_of(body, "root"))
        self._count_injections(tracked, body)
        self._passes.add(body)

    def build_report(self, days: int, root: str = "", holdout_percent: int = 0) -> StatsReport:
        """Return what has been counted so far; ``holdout_percent`` is the present setting."""
        for tracked in self._tracked.values():
            self._settle(tracked)
            tracked.clear()
        parts = sorted(self._parts.items(), key=lambda pair: (-pair[1].chars, pair[0]))
        return StatsReport(
            days=days,
            root=root,
            sessions=len(self._session_hashes),
            turns=self._turns,
            turns_with_context=self._turns_with_context,
            first=self._first,
            last=self._last,
            sources=tuple(self._source_stats(name, part) for name, part in parts),
            holdout=self._holdout_summary(holdout_percent),
            stages=tuple(map(StageStats.of, self._passes.stages())),
        )

    def _track_session(self, session_id: str) -> list[_TrackedInjection]:
        """Return the tracked injections of a session; the session that was idle for longest may be settled."""
        if session_id:
            self._session_hashes.add(hash(session_id))
        tracked = self._tracked.setdefault(session_id, [])
        self._tracked.move_to_end(session_id)
        if len(self._tracked) > MAX_SESSIONS:
            self._settle(self._tracked.popitem(last=False)[1])
        return tracked

    def _count_injections(self, tracked: list[_TrackedInjection], body: Mapping[str, Any]) -> None:
        injected_chars = body.get("injected_chars")
        injected = list(_injected_texts(body))
        for name, text in injected:
            self._parts[name].times += 1
            is_alone = len(injected) == 1 and isinstance(injected_chars, int)
            self._parts[name].chars += int(injected_chars or 0) if is_alone else original_length(text)
        injecting_parts, held_out_parts = {name for name, _text in injected}, set[str]()
        explanations = [(text_of(part, "component"), part) for part in mappings_of(body, "explanations")]
        for name, explanation in explanations:
            if explanation.get("decision") == record.DROPPED:
                reasons = _DROP_REASON.findall(text_of(explanation, "reason"))
                if reasons:
                    self._parts[name].drop_reasons.update(reasons)
                if record.HELD_OUT in reasons:
                    held_out_parts.add(name)
        for name, explanation in explanations:
            if name in injecting_parts | held_out_parts and explanation.get("decision") != record.DROPPED:
                self._track(tracked, name, explanation, body, is_held_out=name not in injecting_parts)

    def _track(
        self,
        tracked: list[_TrackedInjection],
        part: str,
        explanation: Mapping[str, Any],
        body: Mapping[str, Any],
        *,
        is_held_out: bool,
    ) -> None:
        names = filter(None, texts_of(mapping_of(explanation, "inputs"), "names"))
        files = frozenset(posixpath.join(text_of(body, "root"), name).rstrip("/") for name in names) - {""}
        if files:
            call_id = text_of(mapping_of(body, "event_fields"), "call_id")
            tracked.append(_TrackedInjection(part, files, call_id, is_held_out))
            self._settle(tracked[:-MAX_TRACKED_INJECTIONS])
            del tracked[:-MAX_TRACKED_INJECTIONS]

    def _settle(self, injections: Iterable[_TrackedInjection]) -> None:
        """Count whether what the injections named was used."""
        for injection in injections:
            part = self._parts[injection.part]
            usage = part.usage_counts[injection.is_held_out]
            usage.update(["named"])
            if injection.used_after is not None:
                usage.update(["opened"])
                if not injection.is_held_out:
                    part.calls_to_use[injection.used_after] += 1
            if injection.is_edited:
                usage.update(["edited"])

    def _source_stats(self, name: str, part: _PartCounts) -> SourceStats:
        return SourceStats(
            part=name,
            times=part.times,
            chars=part.chars,
            chars_per_turn=round(part.chars / max(self._turns, 1), 1),
            chars_per_session=round(part.chars / max(len(self._session_hashes), 1), 1),
            dropped=DropCounts(
                *(
                    part.drop_reasons[why]
                    for why in (record.OVER_CAP, record.OVER_BUDGET, record.DUPLICATE, record.HELD_OUT)
                )
            ),
            opened=_compare(part.usage_counts, "opened"),
            edited=_compare(part.usage_counts, "edited"),
            calls_to_use=_counter_median(part.calls_to_use),
        )

    def _holdout_summary(self, holdout_percent: int) -> HoldoutSummary:
        sides: dict[bool, Counter[str]] = {False: Counter(), True: Counter()}
        for part in self._parts.values():
            for is_held_out, counts in part.usage_counts.items():
                sides[is_held_out].update(counts)
        is_on = holdout_percent > 0
        return HoldoutSummary(
            holdout_percent, _compare(sides, "opened", is_on=is_on), _compare(sides, "edited", is_on=is_on)
        )


def wilson_interval(count: int, occasions: int) -> Rate:
    """Return the share of ``count`` in ``occasions`` with Wilson's 95 percent interval; from 0 to 1 without any."""
    if not occasions:
        return Rate()
    share, square = count / occasions, Z_SCORE_95**2
    middle = share + square / (2 * occasions)
    spread = Z_SCORE_95 * math.sqrt(share * (1 - share) / occasions + square / (4 * occasions**2))
    whole = 1 + square / occasions
    low, high = max((middle - spread) / whole, 0.0), min((middle + spread) / whole, 1.0)
    return Rate(occasions, count, round(share, 4), round(low, 4), round(high, 4))


def _compare(sides: Mapping[bool, Mapping[str, int]], name: str, *, is_on: bool = False) -> HoldoutComparison:
    """Return the rate of ``name`` by whether the context was held out; ``is_on``: some is at present."""
    injected, held_out = (
        wilson_interval(sides[side].get(name, 0), sides[side].get("named", 0)) for side in (False, True)
    )
    if not held_out.occasions and not is_on:
        significance = Significance.NO_HOLDOUT
    elif min(injected.occasions, held_out.occasions) < MIN_OCCASIONS:
        significance = Significance.TOO_FEW
    elif injected.low <= held_out.high and held_out.low <= injected.high:
        significance = Significance.NOT_SIGNIFICANT
    else:
        significance = Significance.SIGNIFICANT
    return HoldoutComparison(injected, held_out, significance)


def _counter_median(counts: Counter[int]) -> float | None:
    """Return the median of numbers that are counted; None without any."""
    left = counts.total() / 2
    for number in sorted(counts):
        left -= counts[number]
        if left <= 0:
            return float(number)
    return None


def _injected_texts(body: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield (part, text) of the context that was injected."""
    for effect in mappings_of(body, "effects"):
        if effect.get("kind") == "inject_context":
            yield text_of(effect, "part"), text_of(effect, "text")


def _mark_used(tracked: list[_TrackedInjection], call: Mapping[str, Any], root: str) -> None:
    """Note which of the tracked injections a finished call has used."""
    kind, command, call_id = (text_of(call, name) for name in ("tool_kind", "command", "call_id"))
    if call.get("was_rejected") or call.get("was_interrupted") or (call.get("has_failed") and not command):
        return
    opened = set(texts_of(call, "paths")) if kind in _OPENS else set()
    edited = set(opened) if kind in _EDITS else set()
    names = (posixpath.basename(file) for injection in tracked for file in injection.files)
    if command and any(name in command for name in names):  # parsing a shell line takes time
        by_name, written = _files_in_command(command, root)
        opened |= by_name
        edited |= written
    for injection in tracked:
        if call_id and call_id == injection.call_id:
            continue
        injection.calls += 1
        if any(_is_within(path, injection.files) for path in opened):
            injection.used_after = injection.used_after or injection.calls
            injection.is_edited = injection.is_edited or any(_is_within(path, injection.files) for path in edited)


def _is_within(path: str, files: frozenset[str]) -> bool:
    """Whether ``path`` is one of ``files``, or lies in a folder that is."""
    return path in files or any(path.startswith(f"{file}/") for file in files)


def _files_in_command(command: str, root: str) -> tuple[set[str], set[str]]:
    """Return the files that a shell line names, and those of them that it writes.

    Relative names begin at the root, because the record does not have the working directory.
    """
    named: set[str] = set()
    written: set[str] = set()
    for item in parse_commands(command).items:
        folder = posixpath.join(root, "" if item.working_dir == "?" else item.working_dir)
        named |= {posixpath.normpath(posixpath.join(folder, word)) for word in item.words[1:] if "\n" not in word}
        targets = [to.target for to in item.redirects if to.is_overwrite or to.operator in _APPENDS]
        written |= {posixpath.normpath(posixpath.join(folder, target)) for target in targets if target}
    return named | written, written
