"""A clock that is wrong: before 1970, years ahead, back by a second; what is answered, stored and pruned then.

Invariant: the real hook path runs, in this process, and only its clock is another. Between two right times the clock is
wrong once, for a day at most: a clock that stays wrong cannot be told from the time.
"""

from __future__ import annotations

import json
import random
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
from .promise import Seen, none_counted

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
BAD = ("bad_answers", "not_answered", "lost", "duplicated", "out_of_order", "unreadable")


def journey(chance: random.Random) -> list[datetime]:
    """Return the times of events: right ones, some days apart, and between two of them perhaps a wrong one."""
    now, times = START, []
    for _ in range(EVENTS):
        now += timedelta(days=chance.choice((0.0, 0.0, chance.uniform(0, 1), chance.uniform(0, LONGEST_STEP))))
        times.append(now)
        if chance.random() < 0.5:
            near = now + timedelta(seconds=chance.choice((-1, -3600, -86400, 3600)))
            far = now + timedelta(days=chance.choice((-400, 400, -30000, 30000)))
            times.append(chance.choice((near, far, *WRONG)))
    return times


def travel(folder: Path, times: list[datetime]) -> Counter[str]:
    """Return what was wrong with one journey: answers, records, their order, what was pruned that is not old."""
    counts: Counter[str] = Counter(events=len(times))
    home, repository = folder / "home", folder / "repo"
    repository.mkdir(parents=True)
    application = build_application(read_environment({"HOME": str(home)}))
    for number, now in enumerate(times):
        with mock.patch.object(SystemClock, "now", lambda _self, now=now: now):
            output = answer_payload("claude-code", payload(("s-1", number), repository), application)
        counts["bad_answers"] += int(bool(output) and not isinstance(json.loads(output), dict))
    journal = open_journal(home / STATE)
    records = journal.records(last=10**6)
    ids = [record.body["event_fields"]["call_id"] for record in records if record.text_field("event") == "ToolFinished"]
    calls = [int(call_id.removeprefix("call-")) for call_id in ids]
    kept = {number for number, now in enumerate(times) if not is_old(now, times)}
    counts["lost"] = len(kept - set(calls))
    counts["pruned"] = len(times) - len(calls)
    counts["duplicated"] = len(calls) - len(set(calls))
    counts["out_of_order"] = int(calls != sorted(calls))
    counts["unreadable"] = int(not journal.verify().is_intact or bool(journal.health().problem))
    counts["not_answered"] = sum(record.text_field("event") == "internal_error" for record in records)
    return counts


def is_old(now: datetime, times: list[datetime]) -> bool:
    """Whether a record of that time may be pruned by the last right time."""
    last_right = max(time for time in times if START <= time < START + timedelta(days=EVENTS * LONGEST_STEP))
    return now < last_right - timedelta(days=Retention().max_days)


def set_clock_wrong(folder: Path, journeys: int) -> Iterator[Seen]:
    """Make ``journeys``, each another."""
    counts: Counter[str] = Counter()
    for seed in range(journeys):
        counts += travel(folder / str(seed), journey(random.Random(seed)))
    yield none_counted(
        "The clock is wrong for an event, by a second or by centuries, back or ahead: it is answered, stored once "
        "and in order, the journal can be read, and nothing is pruned that is not old",
        f"0 faults, {journeys} sequences of {EVENTS} correct and about {EVENTS // 2} incorrect timestamps",
        counts,
        BAD,
        f"{counts['events']:,} events, of which {counts['pruned']:,} were old and pruned",
    )
