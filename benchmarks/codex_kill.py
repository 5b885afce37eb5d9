"""How often something is lost, duplicated or left behind when codex-auto, Codex, or both are killed in mid-turn.

    python -m benchmarks.codex_kill [--quick] [--rounds 200] [--seed 1]

The real Codex runs against the stub model, in the sandbox of the end-to-end tests, on both transports in turn. Each
round kills with SIGKILL at a random moment between the start of Codex and the end of its answer, then goes on with the
same session. The exit code is 1 when any fault was counted. 200 rounds take five to ten minutes.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from e2e.clients import ClientsUnavailable, install
from e2e.received import Request
from e2e.runs import Launch, prepare_launch
from e2e.sandbox import Sandbox, make_sandbox

ROUNDS = Path(__file__).with_name("codex_kill_rounds.py")
SCRIPT = [
    {"when": "-b: go on", "times": 0, "reply": [{"text": "went on"}]},
    {"when": "-a-text", "times": 0, "reply": [{"text": "one two three four five six", "every": 0.3}]},
    {
        "when": "-a-tool",
        "times": 0,
        "reply": [{"tool": "exec_command", "input": {"cmd": "sleep 30", "yield_time_ms": 20000}}],
    },
]
MARKER = re.compile(r"(?<!\S)round-\d{3}-[ab]")
NOTHING_STORED = ("no rollout found", ".jsonl is empty")
"""What Codex says of a thread that it has named and not written down."""


@dataclass(frozen=True, slots=True)
class Figures:
    """What was counted; ``faults`` is empty when all is well, and names round and fault otherwise."""

    rounds: list[dict[str, Any]]
    faults: list[str]
    unheard: int
    """Threads that were stored while Codex had nothing of them yet; the next turn began anew, and said so."""
    kept: int
    """Killed prompts that the next turn still had in its history."""
    seconds: float

    def __str__(self) -> str:
        landed = [line for line in self.rounds if line["landed"]]
        counts = sorted(Counter((line["transport"], line["victim"]) for line in landed).items())
        kinds = Counter(fault.partition(": ")[2].partition(" (")[0] for fault in self.faults)
        lines = [
            f"killed in mid-turn: {len(landed)} ({len(self.rounds) - len(landed)} more came after the turn)",
            *(f"  {transport:<11}{victim:<8}{count:>4}" for (transport, victim), count in counts),
            "faults: " + (", ".join(f"{count} x {kind}" for kind, count in kinds.items()) or "none"),
            f"killed prompts that the next turn had in its history: {self.kept}",
            f"begun anew because Codex had stored nothing yet, and said so: {self.unheard}",
            f"seconds: {self.seconds:.0f}",
        ]
        return "\n".join(lines)


def measure(sandbox: Sandbox, rounds: int, seed: int) -> Figures:
    """Do ``rounds`` rounds in ``sandbox`` and count what went wrong."""
    placeholder = prepare_launch(sandbox, [], SCRIPT)
    command = [sys.executable, "-E", str(ROUNDS), str(rounds), str(seed), str(placeholder.record)]
    launch = Launch([*placeholder.argv, *command], placeholder.record, placeholder.report)
    began = time.monotonic()
    done = subprocess.run(launch.argv, env=sandbox.environment(), stdout=subprocess.PIPE, check=False)
    seconds = time.monotonic() - began
    lines: list[dict[str, Any]] = [json.loads(line) for line in done.stdout.decode().split("\n") if line]
    turns = [(turn, markers_of(turn)) for turn in launch.turns()]
    faults = [f"{line['round']}: {fault}" for line in lines for fault in faults_of(line)]
    faults += [] if done.returncode == 0 else [f"the rounds: ended with {done.returncode}"]
    faults += [f"afterwards: left behind ({words})" for words in launch.left_behind()]
    faults += sorted(
        {
            f"{marker}: duplicated (request {turn.number})"
            for turn, markers in turns
            for marker, count in markers.items()
            if count > 1
        }
    )
    faults += forgotten(turns, lines)
    unheard = sum(was_unheard(line) for line in lines)
    kept = sum(
        any({f"{line['round']}-a", f"{line['round']}-b"} <= markers.keys() for _, markers in turns) for line in lines
    )
    return Figures(lines, faults, unheard, kept, seconds)


def markers_of(request: Request) -> Counter[str]:
    """Return the markers in the user's messages of a request, with how often each stands there."""
    texts = [message.text for message in request.conversation() if message.role == "user"]
    return Counter(marker for text in texts for marker in MARKER.findall(text))


def was_unheard(line: dict[str, Any]) -> bool:
    """Whether Codex was killed after it had named a new thread and before it had stored anything of it."""
    is_reported = "starting a new thread" in line["stderr"] and any(words in line["stderr"] for words in NOTHING_STORED)
    return not line["before"] and line["acknowledged"] != line["after"] and is_reported


def faults_of(line: dict[str, Any]) -> list[str]:
    """Return what went wrong in one round."""
    lost = line["before"] and line["acknowledged"] != line["before"]
    lost = lost or (line["acknowledged"] and line["after"] != line["acknowledged"] and not was_unheard(line))
    checks = {
        f"thread lost ({line['before']} {line['acknowledged']} {line['after']})": lost,
        f"orphans ({line['orphans']} {line['left']})": line["orphans"] or line["left"],
        "codex-auto hung": line["hung"],
        f"not resumed ({line['exit_code']} {line['stderr']})": line["exit_code"] != 0 or not line["answered"],
        f"draft left ({line['drafts']})": line["drafts"],
    }
    return [fault for fault, is_so in checks.items() if is_so]


def forgotten(turns: list[tuple[Request, Counter[str]]], lines: list[dict[str, Any]]) -> Iterator[str]:
    """Yield turns that had ended well and that a later turn of the same thread does not know."""
    threads: defaultdict[str, list[str]] = defaultdict(list)
    for line in lines:
        marker, thread = f"{line['round']}-b", threads[line["after"]]
        thread.append(marker)
        asked = next((markers for turn, markers in turns if turn.texts_with(marker)), None)
        if asked is None:
            yield f"{line['round']}: never asked"
        else:
            yield from (f"{line['round']}: forgotten ({earlier})" for earlier in thread if earlier not in asked)


def main() -> int:
    """Measure, print the figures and the first faults; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="six rounds: each victim once on either transport")
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="upbeat-kill-") as folder:
        try:
            programs = {"codex": install("codex")}
        except ClientsUnavailable as error:
            raise SystemExit(f"the real clients cannot run here: {error}") from None
        sandbox = make_sandbox(Path(folder, "s"), programs)
        figures = measure(sandbox, 6 if options.quick else options.rounds, options.seed)
    print(figures, *figures.faults[:20], sep="\n")
    return 1 if figures.faults else 0


if __name__ == "__main__":
    sys.exit(main())
