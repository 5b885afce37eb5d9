"""Replay recorded events against a rule and count what it would have done, with the actual outcome of each call.

Invariant: pure and streaming; memory is bounded however long the history is. A call in several records counts once: an
id of sixteen characters or more is globally unique, a shorter one only within its session.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from upbeat.core.contract.effect import (
    ContinueTurn,
    Deny,
    Effect,
    PrependPrompt,
    RequestApproval,
    RewriteInput,
    RewriteOutput,
)
from upbeat.core.contract.event import (
    Call,
    Event,
    PromptSubmitted,
    SubagentRequested,
    SubagentReturned,
    ToolFinished,
    ToolStarting,
    UserQuestionRequested,
)
from upbeat.core.journal.codec import make_text_storable, truncate_with_mark
from upbeat.core.rules.match import evaluate_rule
from upbeat.core.rules.rule import MatchResult, Owner, Rule

SCHEMA_VERSION = "1.0"
MAX_EXAMPLES = 5
MAX_EXAMPLE_CHARS = 160
MAX_OPEN_CALLS = 10_000
"""Calls without an end; beyond that the oldest counts as unknown."""
MAX_KNOWN_CALLS = 1_000_000
"""Calls remembered so that none counts twice."""
_MIN_GLOBAL_ID_CHARS = 16
_STARTS = (ToolStarting, UserQuestionRequested, SubagentRequested)
_ENDS = (ToolFinished, SubagentReturned)


class CallStatus(StrEnum):
    """The outcome of a call."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    DENIED = "denied"
    """It did not run: the user, a rule or a hook denied it."""
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class RecordedEvent:
    """An event as a hook would have reported it. ``timestamp`` is UTC, ISO 8601; ``root`` is the repository."""

    event: Event
    timestamp: str
    root: str


@dataclass(frozen=True, slots=True)
class RecordedCallEnd:
    """The outcome of the call ``call_id`` of a session."""

    session_id: str
    call_id: str
    status: CallStatus


HistoryItem = RecordedEvent | RecordedCallEnd


class BacktestDecision(StrEnum):
    """What a rule would have done, the strongest first."""

    BLOCKED = "blocked"
    ASKED = "asked"
    CHANGED = "changed"
    """The call, or what the model reads of it."""
    CONTINUED = "continued"
    INFORMED = "informed"


_BY_EFFECT: Mapping[type[Effect], BacktestDecision] = {
    Deny: BacktestDecision.BLOCKED,
    RequestApproval: BacktestDecision.ASKED,
    RewriteInput: BacktestDecision.CHANGED,
    RewriteOutput: BacktestDecision.CHANGED,
    PrependPrompt: BacktestDecision.CHANGED,
    ContinueTurn: BacktestDecision.CONTINUED,
}
_STRENGTH = {decision: index for index, decision in enumerate(BacktestDecision)}


def strength_of(effects: Iterable[Effect]) -> int:
    """Return how strong the strongest of ``effects`` is; 0 without any."""
    decisions = (_BY_EFFECT.get(type(effect), BacktestDecision.INFORMED) for effect in effects)
    return max((len(_STRENGTH) - _STRENGTH[decision] for decision in decisions), default=0)


BacktestEvaluator = Callable[[Event, str, float], tuple[Effect, ...]]
"""Returns the effects of a rule for an event, in the repository ``root`` (real path), at a time in epoch seconds.

Raises ``RuleEvaluationError``. ``evaluations``, if it has that, is how often it evaluated the last event."""


class RuleEvaluationError(Exception):
    """The rule failed at one event; the replay continues."""


def rules_evaluator(rules: Iterable[Rule], language: str) -> BacktestEvaluator:
    """Return an evaluator of the rules of one file, as enabled rules of the user."""
    own = tuple(replace(rule, owner=Owner.USER, is_enabled=True) for rule in rules)

    def evaluate(event: Event, root: str, _at: float) -> tuple[Effect, ...]:
        outcomes = [evaluate_rule(rule, event, root, language=language) for rule in own]
        effects = tuple(outcome.effect for outcome in outcomes if outcome.effect)
        if not effects and any(outcome.match_result is MatchResult.UNKNOWN for outcome in outcomes):
            raise RuleEvaluationError("; ".join(outcome.reason for outcome in outcomes if outcome.reason))
        return effects

    return evaluate


@dataclass(frozen=True, slots=True)
class CallCounts:
    """Number of calls by outcome. Prompts and turn ends count in ``all`` only."""

    all: int = 0
    succeeded: int = 0
    failed: int = 0
    denied: int = 0
    unknown: int = 0


@dataclass(frozen=True, slots=True)
class BacktestExample:
    """One event. ``what`` is the command, the paths or the beginning of a text: redacted, on one line."""

    at: str
    project: str
    client: str
    what: str
    decided: BacktestDecision
    outcome: CallStatus | None = None


@dataclass(frozen=True, slots=True)
class LatencyStats:
    """Milliseconds that the rule takes for one event."""

    median: float = 0.0
    p95: float = 0.0


@dataclass(frozen=True, slots=True)
class BacktestReport:
    """``upbeat backtest --json``. ``stopped`` says why it is incomplete: ``time`` or ``interrupt``.

    ``errors`` counts the events at which the rule failed, ``unread`` the files that could not be read completely.
    """

    rule: str
    days: int
    sessions: int = 0
    calls: int = 0
    prompts: int = 0
    turn_ends: int = 0
    first: str = ""
    last: str = ""
    decided: Mapping[BacktestDecision, CallCounts] = field(default_factory=dict)
    examples: tuple[BacktestExample, ...] = ()
    milliseconds: LatencyStats = field(default_factory=LatencyStats)
    errors: int = 0
    files: int = 0
    unread: int = 0
    stopped: str = ""
    at_least: Mapping[BacktestDecision, CallCounts] | None = None
    """The counts with the best answers to what the past cannot tell; ``decided`` has the worst. None if both agree."""
    unknowns: tuple[str, ...] = ()
    """What the past cannot tell and what made a difference."""
    unrecorded: tuple[str, ...] = ()
    """The kinds of events that it handles and that this history does not have."""
    schema_version: str = SCHEMA_VERSION

    @property
    def false_blocks(self) -> int:
        """The calls that would have been blocked although they succeeded."""
        return self.decided.get(BacktestDecision.BLOCKED, CallCounts()).succeeded


def backtest_to_dict(report: BacktestReport) -> dict[str, Any]:
    """Return ``report`` as JSON values."""
    return {"schema_version": report.schema_version, **asdict(report)}


@dataclass(slots=True)
class _OpenCall:
    """A call without an end yet. ``decided`` is the strongest decision so far."""

    decided: BacktestDecision | None = None
    example: RecordedEvent | None = None


class Backtest:
    """Counts the items of a history as they are added. ``clock`` returns monotonic seconds."""

    def __init__(self, evaluator: BacktestEvaluator, clock: Callable[[], float]) -> None:
        self._evaluator = evaluator
        self._clock = clock
        self._sessions: set[int] = set()
        self._repeated_sessions: frozenset[int] = frozenset()
        self._known: set[int] = set()
        self._open: dict[int, _OpenCall] = {}
        self._counts = {decided: Counter[str]() for decided in BacktestDecision}
        self._examples: dict[int, list[BacktestExample]] = {}
        self._times = _LatencyHistogram()
        self._loaded: set[type[Event]] = set()
        """Event types evaluated so far: the first evaluation also loads modules and is not timed."""
        self.calls = self.prompts = self.turn_ends = self.errors = 0
        self._first = self._last = ""

    def skip_known_turns(self) -> None:
        """Ignore the turn events of the sessions so far: the next source repeats them."""
        self._repeated_sessions = frozenset(self._sessions)

    def add(self, item: HistoryItem) -> None:
        """Count one item."""
        if isinstance(item, RecordedCallEnd):
            self._end_call(_call_key(item.session_id, item.call_id), item.status)
            return
        event = item.event
        if isinstance(event, _STARTS):
            self._start_call(item, event.call)
        elif isinstance(event, _ENDS):
            self._finish_call(item, event.call)
        else:
            self._add_turn_event(item)

    def end_record(self) -> None:
        """Count the calls that have not ended in the record as unknown."""
        for key in list(self._open):
            self._end_call(key, CallStatus.UNKNOWN)

    def report(self, rule: str, days: int, files: int = 0, unread: int = 0, stopped: str = "") -> BacktestReport:
        """Return the counts so far."""
        self.end_record()
        decided = {decision: CallCounts(**counts) for decision, counts in self._counts.items() if counts["all"]}
        examples = [example for rank in sorted(self._examples) for example in self._examples[rank]]
        return BacktestReport(
            rule=rule,
            days=days,
            sessions=len(self._sessions),
            calls=self.calls,
            prompts=self.prompts,
            turn_ends=self.turn_ends,
            first=self._first,
            last=self._last,
            decided=decided,
            examples=tuple(examples[:MAX_EXAMPLES]),
            milliseconds=LatencyStats(self._times.quantile(0.5), self._times.quantile(0.95)),
            errors=self.errors,
            files=files,
            unread=unread,
            stopped=stopped,
        )

    def _start_call(self, recorded: RecordedEvent, call: Call) -> None:
        key = _call_key(recorded.event.source.session_id, call.id)
        if not self._count_call(key, recorded):
            return
        while len(self._open) >= MAX_OPEN_CALLS:
            self._end_call(next(iter(self._open)), CallStatus.UNKNOWN)
        self._open[key] = _OpenCall()
        self._update_decision(self._open[key], recorded)

    def _finish_call(self, recorded: RecordedEvent, call: Call) -> None:
        """Count the result of a call; one without a recorded start counts from here."""
        key = _call_key(recorded.event.source.session_id, call.id)
        open_call = self._open.get(key)
        if open_call is None:
            if not self._count_call(key, recorded):
                return
            open_call = self._open[key] = _OpenCall()
        if open_call.decided is not BacktestDecision.BLOCKED:
            self._update_decision(open_call, recorded)

    def _add_turn_event(self, recorded: RecordedEvent) -> None:
        if hash(recorded.event.source.session_id) in self._repeated_sessions:
            return
        self._count_session(recorded)
        if isinstance(recorded.event, PromptSubmitted):
            self.prompts += 1
        else:
            self.turn_ends += 1
        turn_event = _OpenCall()
        self._update_decision(turn_event, recorded)
        if turn_event.decided:
            self._counts[turn_event.decided]["all"] += 1
            self._add_example(turn_event, None)

    def _update_decision(self, open_call: _OpenCall, recorded: RecordedEvent) -> None:
        """Keep the rule's decision if it is stronger than the one so far."""
        decided = self._evaluate(recorded)
        if decided and (open_call.decided is None or _STRENGTH[decided] < _STRENGTH[open_call.decided]):
            open_call.decided, open_call.example = decided, recorded

    def _evaluate(self, recorded: RecordedEvent) -> BacktestDecision | None:
        event_type = type(recorded.event)
        started_at = self._clock()
        try:
            effects = self._evaluator(recorded.event, recorded.root, _seconds(recorded.timestamp))
        except RuleEvaluationError:
            self.errors += 1
            return None
        finally:
            if event_type in self._loaded:
                self._times.add((self._clock() - started_at) / getattr(self._evaluator, "evaluations", 1))
            self._loaded.add(event_type)
        decisions = (_BY_EFFECT.get(type(effect), BacktestDecision.INFORMED) for effect in effects)
        return min(decisions, key=_STRENGTH.__getitem__, default=None)

    def _end_call(self, key: int, status: CallStatus) -> None:
        open_call = self._open.pop(key, None)
        if open_call is not None and open_call.decided is not None:
            self._counts[open_call.decided].update(("all", status.value))
            self._add_example(open_call, status)

    def _add_example(self, open_call: _OpenCall, status: CallStatus | None) -> None:
        """Keep it as an example while its rank has room; false blocks rank first."""
        if open_call.example is None or open_call.decided is None:
            return
        is_interruption = open_call.decided in (BacktestDecision.BLOCKED, BacktestDecision.ASKED)
        is_false = is_interruption and status is CallStatus.SUCCEEDED
        rank = _STRENGTH[open_call.decided] - len(_STRENGTH) * is_false
        kept = self._examples.setdefault(rank, [])
        if len(kept) < MAX_EXAMPLES:
            example = _to_example(open_call.example, open_call.decided, status)
            if example.what not in (kept_example.what for kept_example in kept):
                kept.append(example)

    def _count_session(self, recorded: RecordedEvent) -> None:
        self._sessions.add(hash(recorded.event.source.session_id))
        if recorded.timestamp:
            self._first = min(self._first or recorded.timestamp, recorded.timestamp)
            self._last = max(self._last, recorded.timestamp)

    def _count_call(self, key: int, recorded: RecordedEvent) -> bool:
        """Count a call, and return whether it is new."""
        if key in self._known:
            return False
        if len(self._known) < MAX_KNOWN_CALLS:
            self._known.add(key)
        self._count_session(recorded)
        self.calls += 1
        return True


class _LatencyHistogram:
    """A histogram of durations with a relative error of four percent and bounded size."""

    _STEP = math.log(1.08)
    _MIN_SECONDS = 1e-7

    def __init__(self) -> None:
        self._buckets: Counter[int] = Counter()

    def add(self, seconds: float) -> None:
        self._buckets[round(math.log(max(seconds, self._MIN_SECONDS) / self._MIN_SECONDS) / self._STEP)] += 1

    def quantile(self, fraction: float) -> float:
        """Return the quantile in milliseconds; 0 without durations."""
        left = fraction * self._buckets.total()
        for bucket in sorted(self._buckets):
            left -= self._buckets[bucket]
            if left <= 0:
                return round(self._MIN_SECONDS * math.exp(bucket * self._STEP) * 1000, 4)
        return 0.0


def _call_key(session_id: str, call_id: str) -> int:
    return hash(call_id) if len(call_id) >= _MIN_GLOBAL_ID_CHARS else hash((session_id, call_id))


def _seconds(at: str) -> float:
    try:
        return datetime.fromisoformat(at).timestamp()
    except ValueError:
        return 0.0


def _to_example(recorded: RecordedEvent, decided: BacktestDecision, status: CallStatus | None) -> BacktestExample:
    project = recorded.root.rstrip("/").rpartition("/")[2] or recorded.root
    return BacktestExample(
        at=recorded.timestamp,
        project=_to_one_line(project),
        client=recorded.event.source.client.value,
        what=_to_one_line(_summarize(recorded.event)),
        decided=decided,
        outcome=status,
    )


def _summarize(event: Event) -> str:
    """Return the command, paths, input or text of the event."""
    call = getattr(event, "call", None)
    if not isinstance(call, Call):
        return str(getattr(event, "prompt", "") or getattr(event, "message", ""))
    command = str(getattr(event, "command", ""))
    summary = command or " ".join(call.paths) or " ".join(str(value) for value in call.input.values())
    return f"{call.tool}: {summary}"


def _to_one_line(text: str) -> str:
    """Return ``text`` redacted, truncated and on one line."""
    return truncate_with_mark(" ".join(make_text_storable(text).split()), MAX_EXAMPLE_CHARS)
