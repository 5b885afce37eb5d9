"""Tools and programs that do not end, one after the other; says what it saw, one JSON object a run.

    python -m reliability.hanging_runs FOLDER NUMBER …

Run by ``tools_that_hang``.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from fakes.context import HERE
from fakes.odd_programs import HOWS, write
from fakes.provider import FakeProvider

from upbeat.adapters.system.clock import SystemClock
from upbeat.adapters.system.git import commands
from upbeat.adapters.system.tool_runner import ThreadRunner
from upbeat.adapters.system.workspace import side_effects
from upbeat.core.contract.finding import ToolOutput
from upbeat.core.contract.report import PlannedTool
from upbeat.core.engine.ports import Cancellation
from upbeat.core.policy.side_effects import KillTmuxSessions, TmuxSession

from .bare_wait import BareWait
from .orphans import Memory, adopt, left_over

LIMIT = 0.3
"""Seconds that each of them gets."""
TOOLS = ("t1", "t2", "t3")
ANSWER = ToolOutput("said")


def sleeps(_cancelled: Cancellation) -> object:
    time.sleep(3)
    return ANSWER


def is_busy(_cancelled: Cancellation) -> object:
    end = time.monotonic() + 3
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
        threading.Thread(target=time.sleep, args=(3,), daemon=True).start()
    time.sleep(3)
    return ANSWER


def asks_git(folder: Path, cancelled: Cancellation) -> object:
    """As the embedded tools do: with more time than the tool itself has."""
    commands.run_git(str(folder.parent / "repo"), ("status",), cancelled, timeout_seconds=5)
    return ANSWER


def all_tools(folder: Path, behaviour: Callable[[Cancellation], object]) -> None:
    """Three tools of a turn at the same time, by the turn's own runner."""
    clock = SystemClock()
    tools = tuple(PlannedTool(tool=name, tier=1, reason="r", args={}, timeout_ms=5000) for name in TOOLS)
    runner = ThreadRunner(FakeProvider(dict.fromkeys(TOOLS, behaviour)), clock)
    runs = runner.run(tools, HERE, clock.monotonic() + LIMIT, 3)
    assert 3 == len(runs)


def one_git(folder: Path) -> None:
    assert commands.run_git(str(folder.parent / "repo"), ("status",), timeout_seconds=LIMIT) is None


def sessions(_folder: Path) -> None:
    """The list of tmux's sessions at the end of one."""
    side_effects.MAX_SECONDS = LIMIT
    side_effects.perform_side_effect(KillTmuxSessions((TmuxSession("work", 0, 1),)), "/nowhere")


Run = Callable[[Path], None]
KINDS: dict[str, tuple[str, Run]] = {
    f"a tool that {name.__name__.replace('_', ' ')}": ("hangs", partial(all_tools, behaviour=name))
    for name in (sleeps, is_busy, is_a_little_late, raises_late, starts_threads)
}
KINDS |= {f"a git that {how}": (how, one_git) for how in HOWS}
KINDS |= {f"a tool whose git {how}": (how, lambda folder: all_tools(folder, partial(asks_git, folder))) for how in HOWS}
KINDS |= {f"a tmux that {how}": (how, sessions) for how in HOWS}


def main(folder: Path, numbers: list[int]) -> None:
    can_adopt, memory, bare, names = adopt(), Memory(), BareWait(), list(KINDS)
    for number in numbers:
        name = names[number % len(names)]
        how, run = KINDS[name]
        place = folder / str(number)
        for program in ("git", "tmux"):
            write(place, program, how)
        os.environ["PATH"] = f"{place}:/usr/bin:/bin"
        memory.begin()
        threads = threading.active_count()
        started = time.monotonic()
        run(place)
        ended = time.monotonic()
        print(
            json.dumps(
                {
                    "how": name,
                    "over": (ended - started - LIMIT) * 1000,
                    "bare": bare.late(started, ended) * 1000,
                    "megabytes": memory.most(),
                    "left": len(left_over(bare.pid)),
                    "adopts": can_adopt,
                }
            ),
            flush=True,
        )
        while threading.active_count() > threads:  # those that stay busy would take the processor from the next
            time.sleep(0.01)
    bare.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), list(map(int, sys.argv[2:])))
