"""Measure what policies cost an event: all of them enabled, on the recorded payloads of both clients.

    python -m benchmarks.policies [--quick] [ROUNDS]

Times the evaluation of the policies, as it runs inside the transaction, and the merge of their results.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Iterator
from dataclasses import replace

from upbeat.adapters.claude.codec import CLAUDE_CODEC
from upbeat.adapters.codex.codec import CODEX_CODEC
from upbeat.adapters.hooks.codec import HookCodec
from upbeat.core.contract.effect import Proposal
from upbeat.core.contract.event import Event
from upbeat.core.engine.merge import ContextBudget, merge_proposals
from upbeat.core.errors import ClientError
from upbeat.core.policies import POLICIES
from upbeat.core.policy.definition import PolicyContext
from upbeat.core.policy.evaluate import evaluate_policies
from upbeat.core.sanitize.truncate import TextLimit
from upbeat.core.workflow.state import PolicyNotes, SessionState

from . import TESTS

RECORDED = TESTS / "recorded"
ROUNDS = 50


def recorded() -> Iterator[tuple[str, Event]]:
    """(client, event) of every recorded payload."""
    codecs: tuple[tuple[str, HookCodec], ...] = (("claude-code", CLAUDE_CODEC), ("codex", CODEX_CODEC))
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
    view = PolicyContext(state, now=time.time(), root="/repo")
    taken = []
    for _ in range(rounds):
        start = time.perf_counter()
        opinions = evaluate_policies(event, view, POLICIES)
        merge_proposals(
            (Proposal(one.policy.name, one.result.effects, one.policy.rank) for one in opinions),
            ContextBudget(TextLimit(9800)),
        )
        taken.append((time.perf_counter() - start) * 1000)
    return taken


def main() -> None:
    """Print one row for each kind of event and one for all."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("rounds", nargs="?", type=int, default=ROUNDS)
    parser.add_argument("--quick", action="store_true", help="one round")
    options = parser.parse_args()
    rounds = 1 if options.quick else options.rounds
    full = tuple(PolicyNotes(policy.name, tuple(f"note {n}" for n in range(200))) for policy in POLICIES)
    busy = replace(SessionState(), policy_notes=full)
    by_kind: dict[str, list[float]] = {}
    for _client, event in recorded():
        by_kind.setdefault(type(event).__name__, []).extend(milliseconds(event, busy, rounds))
    print(f"{len(POLICIES)} policies, all enabled, with stored notes; {rounds} rounds of each recorded payload\n")
    print("| event | payloads x rounds | median ms | p99 ms |\n|---|---:|---:|---:|")
    for kind, taken in sorted(by_kind.items()):
        p99 = sorted(taken)[int(0.99 * (len(taken) - 1))]
        print(f"| {kind} | {len(taken)} | {statistics.median(taken):.3f} | {p99:.3f} |")
    everything = sorted(one for taken in by_kind.values() for one in taken)
    p99 = everything[int(0.99 * (len(everything) - 1))]
    print(f"| all | {len(everything)} | {statistics.median(everything):.3f} | {p99:.3f} |")


if __name__ == "__main__":
    main()
