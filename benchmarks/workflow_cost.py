"""Measure what a workflow costs in bytes of requests to the model, compared with the bare client.

    python -m benchmarks.workflow_cost [--quick] [--client claude|codex] [--parts] [--context]

The real clients carry out one scripted task against the stub model of the end-to-end tests, in a network namespace with
nothing but loopback (see tests/e2e/README.md): look around, write a test, run it, report. Bare and with the plugin
idle, the main agent does it; in a workflow, its subagents do. Printed are the requests, the bytes of their bodies, and
the ratio to the bare client. ``--parts`` splits the bytes: the client's system prompt and tools, upbeat's texts, and
the rest of the conversation. The context of code is off unless ``--context`` asks for it, since the same question would
cost it in every row.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import ROOT

if TYPE_CHECKING:
    from e2e.received import Request

SCENARIOS = ("bare", "idle", "single", "quick", "standard")
QUICK_SCENARIOS = ("bare", "idle", "single")
TASK = "add retries to save_order"
CODE_TOOLS = ("ci_search", "ci_graph_rag", "ci_bug_locate", "ci_call_chain", "ci_impact")
WORK = ("ls", "cat README.md", "GREEN", "TEST", "git diff")
"""What is done, whoever does it; ``GREEN`` writes a test that passes, ``TEST`` runs it."""
SINGLE: list[Any] = [[["developer", "Write the code.", "PASS", *WORK]]]
QUICK: list[Any] = [
    *SINGLE,
    [["code-reviewer", "Review the code.", "PASS", "READ"], ["tester", "Test the code.", "PASS", "TEST"]],
    [["retrospective", "Look back at it."]],
]
MARKS = ("upbeat", "VERDICT", "[stage:")
"""A text of the conversation with one of these is upbeat's, or quotes it."""


@dataclass(frozen=True, slots=True)
class Cost:
    """Bytes of the bodies of one run, in UTF-8: all of them, and by part."""

    requests: int
    total: int
    fixed: int
    """System prompt and tool definitions."""
    ours: int
    """Texts of the conversation that are upbeat's, once in each request that carries them."""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="without the longer workflows, on Claude Code only")
    parser.add_argument("--client", choices=("claude", "codex"), help="one client (default: both)")
    parser.add_argument("--parts", action="store_true", help="split the bytes")
    parser.add_argument("--context", action="store_true", help="with the context of code")
    options = parser.parse_args()
    clients = ("claude",) if options.quick else (options.client,) if options.client else ("claude", "codex")
    print("| client | task | requests | bytes | x bare |" + (" system + tools | upbeat |" if options.parts else ""))
    print("|---|---|---:|---:|---:|" + ("---:|---:|" if options.parts else ""))
    for client in clients:
        base = 0
        for scenario in QUICK_SCENARIOS if options.quick else SCENARIOS:
            cost = measure(client, scenario, has_context=options.context)
            base = base or cost.total
            parts = f" {cost.fixed:,} | {cost.ours:,} |" if options.parts else ""
            print(f"| {client} | {scenario} | {cost.requests} | {cost.total:,} | {cost.total / base:.2f} |{parts}")


def measure(client: str, scenario: str, *, has_context: bool = False) -> Cost:
    """Run one scenario in a fresh sandbox.

    Raises:
        SystemExit: The real clients cannot run here, or the scenario did not end as it should.
    """
    from e2e.clients import CLIENTS, ClientsUnavailable, install
    from e2e.runs import run
    from e2e.sandbox import make_sandbox
    from e2e.workflow_sessions import command_of, prepare, script_of, set_up, status

    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        try:
            programs = {name: install(name) for name in CLIENTS}
        except ClientsUnavailable as error:
            raise SystemExit(f"the real clients cannot run here: {error}") from None
        sandbox = make_sandbox(Path(folder) / "s", programs)
        if not has_context:
            set_up(sandbox, f"[tools]\ndisabled = {json.dumps(CODE_TOOLS)}\n")
        is_workflow = scenario not in ("bare", "idle")
        script = script_of(client, _rounds(scenario)) if is_workflow else _own_work(client)
        command = command_of(client)
        if scenario == "bare":
            command = [word for word in command if not word.startswith("--plugin-dir") and "/plugin" not in word]
        else:
            prepare(sandbox, client)
        prompt = f"[workflow:{scenario}] {TASK}" if is_workflow else TASK
        done = run(sandbox, command, stdin=prompt, script=script)
        if done.exit_code:
            raise SystemExit(f"{client}, {scenario}: exit code {done.exit_code}: {done.stderr[-2000:]}")
        if is_workflow and (state := status(sandbox)[0]["workflow"]["status"]) != "complete":
            raise SystemExit(f"{client}, {scenario}: the workflow is {state}, not complete")
        return _cost(done.turns)


def _rounds(scenario: str) -> list[Any]:
    """The delegations of a workflow that passes at the first attempt, and the final word."""
    import tomli
    from e2e.workflow_sessions import read_rounds

    if scenario == "standard":
        rows = tomli.loads((ROOT / "tests/e2e/rounds.toml").read_text(encoding="utf-8"))["standard"]
        rows = [SINGLE[0] if row[0][0] == "developer" else row for row in rows]
    else:
        rows = [*(SINGLE if scenario == "single" else QUICK), "All of it is done."]
    return read_rounds(rows)


def _own_work(client: str) -> list[dict[str, Any]]:
    """The same work by the main agent."""
    from e2e.workflow_sessions import GREEN, TEST, shell_call, write_test

    written = {"GREEN": write_test(GREEN), "TEST": TEST}
    work = [{"reply": [shell_call(client, written.get(command, command))]} for command in WORK]
    return [*work, {"times": 0, "reply": [{"text": "All of it is done."}]}]


def _cost(turns: Sequence[Request]) -> Cost:
    ours = [said.text for turn in turns for said in turn.conversation() if any(mark in said.text for mark in MARKS)]
    fixed = [turn.body.get(name) for turn in turns for name in ("system", "instructions", "tools")]
    return Cost(len(turns), _size(turn.body for turn in turns), _size(part for part in fixed if part), _size(ours))


def _size(values: Iterable[Any]) -> int:
    return sum(len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()) for value in values)


if __name__ == "__main__":
    main()
