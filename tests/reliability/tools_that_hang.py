"""A tool, or a program that is started for one, may hang, fork and flood: a turn gets its answer in its time."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from fakes.context import HERE
from fakes.odd_programs import HOWS, write
from fakes.provider import FakeProvider
from repositories import make_repository

from upbeat.adapters.system.clock import SystemClock
from upbeat.adapters.system.git import commands
from upbeat.adapters.system.tool_runner import ThreadRunner
from upbeat.adapters.system.workspace import side_effects
from upbeat.core.contract.finding import ToolOutput
from upbeat.core.contract.report import PlannedTool
from upbeat.core.engine.ports import Cancellation
from upbeat.core.policy.definition import KillTmuxSessions, TmuxSession

from .machine import BareWait, Memory, adopt, in_time, left_over
from .promise import Scenario, Seen
from .workers import shared

PART = "Tools that hang"
LIMIT = 0.3
"""Seconds that each of them gets."""
BUSY_SECONDS = 1.5
"""How long a tool goes on that does not look whether it should stop."""
MOST_MEGABYTES = 300
TOOLS = ("t1", "t2", "t3")
ANSWER = ToolOutput("said")


def sleeps(_cancelled: Cancellation) -> object:
    time.sleep(BUSY_SECONDS)
    return ANSWER


def is_busy(_cancelled: Cancellation) -> object:
    end = time.monotonic() + BUSY_SECONDS
    while time.monotonic() < end:
        sum(range(1000))
    return ANSWER


def is_a_little_late(_cancelled: Cancellation) -> object:
    time.sleep(LIMIT + 0.05)
    return ANSWER


def raises_late(_cancelled: Cancellation) -> object:
    time.sleep(LIMIT)
    raise MemoryError


def starts_threads(_cancelled: Cancellation) -> object:
    for _ in range(50):
        threading.Thread(target=time.sleep, args=(BUSY_SECONDS,), daemon=True).start()
    time.sleep(BUSY_SECONDS)
    return ANSWER


def asks_git(repository: str, cancelled: Cancellation) -> object:
    """As the embedded tools do: with more time than the tool itself has."""
    commands.run_git(repository, ("status",), cancelled, timeout_seconds=5)
    return ANSWER


def run_tools(behavior: Callable[[Cancellation], object]) -> None:
    """Run three tools of a turn at the same time, by the turn's own runner."""
    clock = SystemClock()
    tools = tuple(PlannedTool(tool=name, tier=1, reason="r", args={}, timeout_ms=5000) for name in TOOLS)
    runner = ThreadRunner(FakeProvider(dict.fromkeys(TOOLS, behavior)), clock)
    assert 3 == len(runner.run(tools, HERE, clock.monotonic() + LIMIT, 3))


def run_git(repository: str) -> None:
    assert commands.run_git(repository, ("status",), timeout_seconds=LIMIT) is None


def list_sessions(_repository: str) -> None:
    """List tmux's sessions, as at the end of one."""
    side_effects.MAX_SECONDS = LIMIT
    side_effects.perform_side_effect(KillTmuxSessions((TmuxSession("work", 0, 1),)), "/nowhere")


KINDS: dict[str, tuple[str, Callable[[str], None]]] = {
    f"a tool that {tool.__name__.replace('_', ' ')}": ("hangs", lambda _repository, tool=tool: run_tools(tool))  # type: ignore[misc]
    for tool in (sleeps, is_busy, is_a_little_late, raises_late, starts_threads)
}
KINDS |= {f"a git that {how}": (how, run_git) for how in HOWS}
KINDS |= {f"a tool whose git {how}": (how, lambda repository: run_tools(partial(asks_git, repository))) for how in HOWS}
KINDS |= {f"a tmux that {how}": (how, list_sessions) for how in HOWS}


def runs(folder: str, numbers: list[int]) -> Iterator[dict[str, Any]]:
    """Let one kind after the other hang, in a process of its own; yield what was seen of each."""
    can_adopt, memory, bare = adopt(), Memory(), BareWait()
    for number in numbers:
        name = list(KINDS)[number % len(KINDS)]
        how, run = KINDS[name]
        for program in ("git", "tmux"):
            write(Path(folder, str(number)), program, how)
        os.environ["PATH"] = f"{folder}/{number}:/usr/bin:/bin"
        memory.begin()
        threads, started = threading.active_count(), time.monotonic()
        run(f"{folder}/repo")
        ended = time.monotonic()
        yield {
            "how": name,
            "over": (ended - started - LIMIT) * 1000,
            "bare": bare.late(started, ended),
            "megabytes": memory.most(),
            "left": left_over(bare.pid),
            "adopts": can_adopt,
        }
        while threading.active_count() > threads:  # those that stay busy would take the processor from the next
            time.sleep(0.01)
    bare.close()


def try_tools(folder: Path, count: int) -> Iterator[Seen]:
    """Let ``count`` tools and programs hang, a kind after the other."""
    make_repository(folder / "repo")
    seen = shared(runs, folder, range(count))
    yield in_time(
        "A tool that hangs, ignores SIGTERM, forks or floods its output is stopped at its time limit "
        f"({LIMIT * 1000:.0f} ms here)",
        [(run["over"], run["bare"], run["how"]) for run in seen],
        count - len(seen),
        f"runs of {len(KINDS)} kinds",
    )
    left = sum(run["left"] for run in seen)
    yield Seen(
        "No process that a tool started is left: in a group of its own, as a daemon, ignoring SIGTERM",
        "0 processes",
        f"{left} after {len(seen):,} runs",
        left == 0 and all(run["adopts"] for run in seen),
    )
    most = max(run["megabytes"] for run in seen)
    yield Seen(
        "What a program floods us with is not kept",
        f"at most {MOST_MEGABYTES} MB in the whole process",
        f"{most} MB at most",
        most <= MOST_MEGABYTES,
    )


SCENARIOS = (Scenario(try_tools, len(KINDS), 1000),)
