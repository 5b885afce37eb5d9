"""Measure warm turns in one process, as multiples of a fixed loop of about 13 ms that runs between them.

Wall time is divided by the loop's wall time, processor time by its processor time: on a busy machine only the latter
says something.

    python -m benchmarks.warm_turn --cases CASES.jsonl --state FOLDER [--queries N] [--pause SECONDS]
        [--against CHECKOUT=FOLDER] [--quick] ROOT ...

Each ROOT is a repository (``benchmarks.index --scratch`` assembles them); FOLDER keeps its index, which is built if it
is missing. A tree is checked for changes once a second: with ``--pause 1`` every long prompt pays for that.
``--against`` names another checkout, with its own index, whose turns alternate with those of this one.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[1]
SMALL_TALK = "thanks, that is all for today"
LOOPS = 350_000
"""Rounds of the loop: about 13 ms on the machine of the README's figures."""

MIN_CHARS = 200
"""Length of a long prompt."""


def spin() -> tuple[float, float]:
    """Return the milliseconds of the fixed loop: wall and processor time."""
    cpu, wall = time.process_time(), time.perf_counter()
    total = 0
    for number in range(LOOPS):
        total += number & 7
    return (time.perf_counter() - wall) * 1000, (time.process_time() - cpu) * 1000


class Checkout:
    """A process that prepares turns with the code of one checkout."""

    def __init__(self, checkout: Path, state: Path, root: Path) -> None:
        env = os.environ | {"HOME": str(state / "home"), "PYTHONPATH": str(checkout / "src")}
        env.pop("XDG_STATE_HOME", None)
        command = [sys.executable, "-P", __file__, "--worker", str(root)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env)

    def run(self, prompt: str) -> dict[str, float]:
        """Prepare a turn; return its milliseconds (wall and processor time), those of the loop, and its characters."""
        assert self._process.stdin
        assert self._process.stdout
        print(json.dumps(prompt), file=self._process.stdin, flush=True)
        return dict(json.loads(self._process.stdout.readline()))

    def close(self) -> None:
        """End the process."""
        self._process.communicate()


def work(root: str) -> None:
    """Answer prompts on standard input with measurements, with the code that this process imports."""
    from upbeat.adapters.system.environment import read_environment
    from upbeat.adapters.wiring import build_application
    from upbeat.core.contract.event import ClientName, EventSource
    from upbeat.core.engine.pipeline import TurnRequest, prepare_turn

    application = build_application(read_environment(), is_long_lived=True)
    assert application.index_manager
    if application.index_manager.index_state(root).state != "ready":
        application.index_manager.build(root)
    source = EventSource(ClientName.CLAUDE_CODE, root)
    for line in sys.stdin:
        request = TurnRequest(source, json.loads(line))
        loop, loop_cpu = spin()
        cpu, wall = time.process_time(), time.perf_counter()
        report = prepare_turn(request, application.runtime)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        size = len(report.fused_context.for_model.additional_context)
        times = {"wall": wall * 1000, "cpu": cpu * 1000, "loop_wall": loop, "loop_cpu": loop_cpu}
        print(json.dumps(times | {"chars": size}), flush=True)
    application.close()


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value below which ``share`` of ``values`` lie."""
    return sorted(values)[min(int(share * len(values)), len(values) - 1)]


def describe(name: str, runs: Sequence[dict[str, float]]) -> str:
    """Return the row of one checkout."""
    cells = [f"{statistics.median(run['loop_wall'] for run in runs):.1f}"]
    for kind in ("wall", "cpu"):
        loop = statistics.median(run[f"loop_{kind}"] for run in runs)
        values = [run[kind] for run in runs]
        cells += [f"{percentile(values, share) / loop:.2f}" for share in (0.5, 0.95)]
    return f"| {name} | {' | '.join(cells)} | {statistics.mean(run['chars'] for run in runs):.0f} |"


def main() -> None:
    """Print a row for each repository and checkout."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("roots", nargs="*", type=Path, metavar="ROOT")
    parser.add_argument("--cases", nargs="+", type=Path, default=())
    parser.add_argument("--state", type=Path)
    parser.add_argument("--against", metavar="CHECKOUT=FOLDER")
    parser.add_argument("--queries", type=int, default=60)
    parser.add_argument("--pause", type=float, default=0.0, help="seconds before each pair of turns")
    parser.add_argument("--quick", action="store_true", help="one prompt about this benchmark")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        work(str(options.roots[0]))
        return
    if options.quick:
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "root").mkdir()
            Path(folder, "root/spin.py").write_text("def spin():\n    return 1\n", encoding="utf-8")
            compare(
                [Path(folder, "root")], {"this checkout": (CHECKOUT, Path(folder))}, ["what does spin() return?"], 0.0
            )
        return
    cases = [json.loads(line)["query"] for path in options.cases for line in path.read_text("utf-8").splitlines()]
    prompts = [query for query in cases if len(query) >= MIN_CHARS]
    prompts = prompts[:: max(1, len(prompts) // options.queries)]
    sides = {"this checkout": (CHECKOUT, options.state)}
    if options.against:
        checkout, _, folder = options.against.partition("=")
        sides["the other"] = Path(checkout), Path(folder)
    compare(options.roots, sides, prompts, options.pause)


def compare(roots: Sequence[Path], sides: dict[str, tuple[Path, Path]], prompts: Sequence[str], pause: float) -> None:
    """Print a row for each repository and each of ``sides``, which are checkouts and the folders of their indexes."""
    print("| | loop ms | wall p50 | p95 | processor p50 | p95 | characters |\n|---|---:|---:|---:|---:|---:|---:|")
    for root in roots:
        processes = {name: Checkout(*side, root.resolve()) for name, side in sides.items()}
        runs: dict[str, list[dict[str, float]]] = {name: [] for name in sides}
        silent: dict[str, list[dict[str, float]]] = {name: [] for name in sides}
        warm_up = prompts[:5]
        for prompt in [*warm_up, *prompts]:
            time.sleep(pause)
            for name, process in processes.items():
                runs[name].append(process.run(prompt))
                silent[name].append(process.run(SMALL_TALK))
        for name, process in processes.items():
            process.close()
            print(describe(f"{root.name}, {name}", runs[name][len(warm_up) :]))
            print(describe(f"{root.name}, {name}, silent", silent[name][len(warm_up) :]), flush=True)


if __name__ == "__main__":
    main()
