"""A clock that is wrong: before 1970, years ahead, back by a second; what is answered, stored and pruned then.

Invariant: the real hook path runs, in this process, and only its clock is another. Between two right times the clock is
wrong once, for a day at most: a clock that stays wrong cannot be told from the time.
"""

from __future__ import annotations

import json
import random
import tempfile
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from unittest import mock

from upbeat.adapters.hook_entry.answer import answer_payload
from upbeat.adapters.system.clock import SystemClock
from upbeat.adapters.system.environment import read_environment
from upbeat.adapters.wiring import build_application
from upbeat.core.journal.record import Retention

from .lost_hooks import STATE, payload
from .lost_victims import open_journal
from .promise import Seen

START = datetime(2026, 1, 2, 3, 4, 5, 678000, tzinfo=UTC)
WRONG = (
    datetime(1969, 12, 31, 23, 59, 59, tzinfo=UTC),
    datetime(1970, 1, 1, tzinfo=UTC),
    datetime(1901, 12, 13, 20, 45, 52, tzinfo=UTC),
    datetime(2038, 1, 19, 3, 14, 8, tzinfo=UTC),
    datetime(2106, 2, 7, 6, 28, 16, tzinfo=UTC),
    datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC),
    datetime(1, 1, 1, tzinfo=UTC),
)
EVENTS = 12
LONGEST_STEP = 40.0
"""Days between two right times; less than records are kept."""


def journey(chance: random.Random) -> list[datetime]:
    """Times of events: right ones, some days apart, and between two of them perhaps a wrong one."""
    now, times = START, []
    for _ in range(EVENTS):
        now += timedelta(days=chance.choice((0.0, 0.0, chance.uniform(0, 1), chance.uniform(0, LONGEST_STEP))))
        times.append(now)
        if chance.random() < 0.5:
            near = now + timedelta(seconds=chance.choice((-1, -3600, -86400, 3600)))
            far = now + timedelta(days=chance.choice((-400, 400, -30000, 30000)))
            times.append(chance.choice((near, far, *WRONG)))
    return times


def lived(times: list[datetime]) -> Counter[str]:
    """What was wrong with one journey: answers, records, their order, what was pruned that is not old."""
    figures: Counter[str] = Counter(events=len(times))
    with tempfile.TemporaryDirectory(prefix="upbeat-lost-") as name:
        home, folder = Path(name, "home"), Path(name, "repo")
        folder.mkdir()
        application = build_application(read_environment({"HOME": str(home)}))
        for number, now in enumerate(times):
            with mock.patch.object(SystemClock, "now", lambda _self, now=now: now):
                output = answer_payload("claude-code", payload("s-1", number, folder), application)
            figures["bad_answers"] += int(bool(output) and not isinstance(json.loads(output), dict))
        journal = open_journal(home / STATE)
        records = journal.records(last=10**6)
        calls = [
            entry.body["event_fields"].get("call_id")
            for entry in records
            if entry.text_field("event") == "ToolFinished"
        ]
        wanted = [f"call-{number}" for number, now in enumerate(times) if not is_old(now, times)]
        figures["lost"] += len(set(wanted) - set(calls))
        figures["pruned"] += len(times) - len(calls)
        figures["doubled"] += len(calls) - len(set(calls))
        figures["out_of_order"] += int(calls != sorted(calls, key=lambda call: int(call.removeprefix("call-"))))
        figures["unreadable"] += int(not journal.verify().is_intact or bool(journal.health().problem))
        figures["not_answered"] += sum(entry.text_field("event") == "internal_error" for entry in records)
    return figures


def is_old(now: datetime, times: list[datetime]) -> bool:
    """Whether a record of that time may be pruned by the last right time."""
    last_right = max(one for one in times if START <= one < START + timedelta(days=EVENTS * LONGEST_STEP))
    return now < last_right - timedelta(days=Retention().max_days)


BAD = ("bad_answers", "not_answered", "lost", "doubled", "out_of_order", "unreadable")


def look(full: bool) -> Iterator[Seen]:
    """Many journeys, each another."""
    journeys = 300 if full else 4
    figures: Counter[str] = Counter()
    for seed in range(journeys):
        figures += lived(journey(random.Random(seed)))
    faults = ", ".join(f"{figures[fault]} {fault.replace('_', ' ')}" for fault in BAD)
    yield Seen(
        "The clock is wrong for an event, by a second or by centuries, back or ahead: it is answered, stored once "
        "and in order, the journal can be read, and nothing is pruned that is not old",
        f"0 faults, {journeys} journeys of {EVENTS} right times and about half as many wrong ones",
        f"{faults}; {figures['events']:,} events, of which {figures['pruned']:,} were old and pruned",
        not any(figures[fault] for fault in BAD),
    )
