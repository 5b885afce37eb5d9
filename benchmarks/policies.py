"""What policies cost an event: all of them on, the recorded payloads of both clients.

    python benchmarks/policies.py [ROUNDS]

Times the judging alone (what ``core/panel.py`` asks inside the transaction), and the merge of what was said.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType

from upbeat.adapters.claude import wire as claude
from upbeat.adapters.codex import wire as codex
from upbeat.core.contract.event import Event
from upbeat.core.errors import ClientError
from upbeat.core.merge import Room, Voice, merge
from upbeat.core.policies import POLICIES
from upbeat.core.policies.judge import judge
from upbeat.core.policies.policy import View
from upbeat.core.turn.truncate import Cap
from upbeat.core.workflow.state import Page, SessionState

RECORDED = Path(__file__).parents[1] / "tests/recorded"


def recorded() -> Iterator[tuple[str, Event]]:
    """(client, event) of every recorded payload."""
    codecs: tuple[tuple[str, ModuleType], ...] = (("claude-code", claude), ("codex", codex))
    for name, codec in codecs:
        for path in sorted((RECORDED / name / "hooks").glob("*.json*")):
            lines = (
                path.read_text(encoding="utf-8").split("\n") if path.suffix == ".jsonl" else [path.read_text("utf-8")]
            )
            for line in filter(None, lines):
                payload = json.loads(line)
                try:
                    yield name, codec.decode(payload.get("payload") or payload["stdin"])
                except ClientError:
                    continue


def milliseconds(event: Event, state: SessionState, rounds: int) -> list[float]:
    """How long one event takes, in each round."""
    view = View(state, at=time.time(), root="/repo")
    taken = []
    for _ in range(rounds):
        start = time.perf_counter()
        opinions = judge(event, view, POLICIES)
        merge((Voice(one.policy.name, one.word.effects, one.policy.rank) for one in opinions), Room(Cap(9800)))
        taken.append((time.perf_counter() - start) * 1000)
    return taken


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 50
    full = tuple(Page(policy.name, tuple(f"note {n}" for n in range(200))) for policy in POLICIES)
    busy = replace(SessionState(), notebook=full)
    by_kind: dict[str, list[float]] = {}
    for _client, event in recorded():
        by_kind.setdefault(type(event).__name__, []).extend(milliseconds(event, busy, rounds))
    print(f"{len(POLICIES)} policies, all on, their notebooks full; {rounds} rounds of each recorded payload\n")
    print("| event | payloads x rounds | median ms | p99 ms |\n|---|---:|---:|---:|")
    for kind, taken in sorted(by_kind.items()):
        p99 = sorted(taken)[int(0.99 * (len(taken) - 1))]
        print(f"| {kind} | {len(taken)} | {statistics.median(taken):.3f} | {p99:.3f} |")
    everything = sorted(one for taken in by_kind.values() for one in taken)
    p99 = everything[int(0.99 * (len(everything) - 1))]
    print(f"| all | {len(everything)} | {statistics.median(everything):.3f} | {p99:.3f} |")


if __name__ == "__main__":
    main()
