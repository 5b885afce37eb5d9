"""Measure one turn of codex-auto on each transport, compared with bare ``codex exec resume``.

    python -m benchmarks.codex_turn [--quick] [ROUNDS]

The real Codex runs against the stub model of the end-to-end tests, in a network namespace with nothing but loopback
(see tests/e2e/README.md). Every contender does one turn a round, in turn, so that a busy machine is busy for all of
them, each on a thread of its own, made alike. A turn of codex-auto is a whole one: the session looked up, the prompt
prepared, sent, shown and remembered. Printed are medians and the ratio to bare ``codex exec resume``, which carries no
context, with the tools' own time and without it.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from upbeat.adapters.codex.transport.base import Transport

from . import ROOT, SOURCE

BARE = "codex exec resume"
TURNS, QUICK_TURNS = (1, 100), (1,)
ROUNDS = 20
PROMPT = "where does total_price apply the discount?"
LENGTHEN = "thanks, go on"
FILLER = "The discount is applied in total_price, after tax and before rounding. " * 60
"""What the model answers while a thread is made: a hundred of these make a rollout of a megabyte and more."""


def main() -> None:
    """Enter the sandbox, or measure inside it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("rounds", nargs="?", type=int, default=ROUNDS)
    parser.add_argument("--quick", action="store_true", help="one round on a short thread")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        measure(1 if options.quick else options.rounds, QUICK_TURNS if options.quick else TURNS)
        return
    flags = [str(options.rounds), *(["--quick"] if options.quick else [])]
    enter_sandbox(["-P", "-m", "benchmarks.codex_turn", "--inside", *flags])


def enter_sandbox(arguments: list[str]) -> None:
    """Run this interpreter with ``arguments`` beside the real Codex and the stub model."""
    from e2e.clients import CLIENTS, ClientsUnavailable, install
    from e2e.runs import prepare_launch
    from e2e.sandbox import make_sandbox

    with tempfile.TemporaryDirectory(prefix="upbeat-bench-") as folder:
        try:
            programs = {name: install(name) for name in CLIENTS}
        except ClientsUnavailable as error:
            raise SystemExit(f"the real clients cannot run here: {error}") from None
        sandbox = make_sandbox(Path(folder) / "s", programs)
        script = [{"when": LENGTHEN, "times": 0, "reply": [{"text": FILLER}]}]
        inside = ["/usr/bin/env", f"PYTHONPATH={ROOT}:{SOURCE}", sys.executable, *arguments]
        launch = prepare_launch(sandbox, inside, script)
        subprocess.run(launch.argv, env=sandbox.environment(), check=True)


def measure(rounds: int, lengths: tuple[int, ...]) -> None:
    """Print the table for threads of each length."""
    print("| turns before | what | median ms | x bare | without the tools ms | x bare |")
    print("|---:|---|---:|---:|---:|---:|")
    for turns in lengths:
        times, tools = measured(turns, rounds)
        base = statistics.median(times[BARE])
        for name, taken in times.items():
            whole = statistics.median(taken)
            own = statistics.median(all_of_it - part for all_of_it, part in zip(taken, tools[name], strict=True))
            print(f"| {turns} | {name} | {whole:.0f} | {whole / base:.2f} | {own:.0f} | {own / base:.2f} |", flush=True)


Times = dict[str, list[float]]


def measured(turns: int, rounds: int) -> tuple[Times, Times]:
    """Milliseconds of each contender in each round, and of the tools in it, on threads that ``turns`` turns made."""
    from upbeat.adapters.codex.transport.app_server.transport import open_app_server
    from upbeat.adapters.codex.transport.exec.transport import CodexCommandLine, ExecTransport
    from upbeat.adapters.codex.transport.signals import SignalHandler
    from upbeat.adapters.system.environment import WRAPPED_VARIABLE, child_variables

    program = shutil.which("codex") or ""
    variables = child_variables({WRAPPED_VARIABLE: "1"})
    with SignalHandler() as signals, open(os.devnull, "w", encoding="utf-8") as nowhere:
        plain = ExecTransport(CodexCommandLine(), program, variables, signals)
        server = open_app_server(program, os.getcwd(), variables, signals, version="0")
        by_exec = Wrapper(plain, f"exec-{turns}", nowhere)
        by_server = Wrapper(server, f"server-{turns}", nowhere)
        other = Wrapper(plain, f"bare-{turns}", nowhere)
        for one in (by_exec, by_server, other):
            for _ in range(turns):
                one.turn(LENGTHEN)
        command = [program, "exec", "--json", "resume", other.thread_id, "-"]

        def bare() -> float:
            subprocess.run(
                command, input=PROMPT.encode(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True
            )
            return 0.0

        contenders: dict[str, Callable[[], float]] = {
            BARE: bare,
            "codex-auto, exec": lambda: by_exec.turn(PROMPT),
            "codex-auto, app-server": lambda: by_server.turn(PROMPT),
        }
        try:
            return interleaved(contenders, rounds)
        finally:
            for one in (by_exec, by_server, other):
                one.close()


class Wrapper:
    """A session of codex-auto in this folder that shows its turns to nobody."""

    def __init__(self, transport: Transport, name: str, nowhere: TextIO) -> None:
        from upbeat.adapters.codex_auto.conversation.conversation import Conversation, codex_location
        from upbeat.adapters.codex_auto.conversation.turns import OpenedTransport
        from upbeat.adapters.codex_auto.sessions.manager import SessionManager
        from upbeat.adapters.codex_auto.sessions.store import SessionStore
        from upbeat.adapters.codex_auto.texts import load_texts
        from upbeat.adapters.codex_auto.view.show import TurnPrinter
        from upbeat.adapters.wiring import build_application

        application, location, texts = build_application(), codex_location(None), load_texts("en")
        runtime = application.runtime
        store = SessionStore(application.environment.state_home, location.root)
        self._show = TurnPrinter(nowhere, nowhere, texts)
        self._sessions = SessionManager(store, name, texts, runtime.clock.now, is_named=True)
        self._conversation = Conversation(runtime, OpenedTransport(transport), self._show, location, self._sessions)
        self._conversation.open_session(is_plan_only=False)
        self.close = self._conversation.close

    @property
    def thread_id(self) -> str:
        """The thread that the turns so far have made."""
        assert self._conversation.session
        return self._conversation.session.thread_id

    def turn(self, prompt: str) -> float:
        """One whole turn; the milliseconds that its slowest tool took."""
        from upbeat.adapters.codex.transport.base import Completed

        ending = self._conversation.run_turn(prompt, self._conversation.resolve_context())
        assert isinstance(ending, Completed), ending
        assert self._show.report
        context = self._show.report.fused_context.for_model.additional_context
        assert bool(context) == (prompt == PROMPT)
        results = self._show.report.tool_results
        return max((result.duration_ms for result in results), default=0.0)


def interleaved(contenders: dict[str, Callable[[], float]], rounds: int) -> tuple[Times, Times]:
    """Milliseconds of each contender in each round, and of its tools; a round before them is not counted."""
    times: Times = {name: [] for name in contenders}
    tools: Times = {name: [] for name in contenders}
    for number in range(rounds + 1):
        for name, run in contenders.items():
            began = time.perf_counter()
            looking_up = run()
            if number:
                times[name].append((time.perf_counter() - began) * 1000)
                tools[name].append(looking_up)
    return times, tools


if __name__ == "__main__":
    main()
