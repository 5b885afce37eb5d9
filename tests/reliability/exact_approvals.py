"""What is approved is what runs: every display of a question is decoded, and compared with what it is about."""

from __future__ import annotations

import json
import random
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from approval_display import ask_codex, decode_text, display, read_rows

from upbeat.adapters.cli.exact_output import bytes_rows
from upbeat.adapters.codex.transport.base import ApprovalDecision, FileDiff
from upbeat.core.sanitize.exact import MIN_COLUMNS, decodes_to_what_runs, exact_json

from .promise import Scenario, Seen, none_of
from .terminals import Streams

PART = "Approvals are exact"
SEED = 11
_LOST = ("\0", "\ufffd", "\ud800", "\udcff")

Case = tuple[str, dict[str, Any], tuple[FileDiff, ...], Callable[[list[tuple[str, str]]], bool]]
"""A method of Codex, the fields of its request, the announced changes, and whether the texts read are right."""


def _command(text: str) -> Case:
    line = shlex.join(["/bin/bash", "-lc", text])
    return "item/commandExecution/requestApproval", {"command": line}, (), lambda texts: ("$", text) in texts


def _rule(text: str) -> Case:
    offered: list[Any] = ["accept", {"acceptWithExecpolicyAmendment": {}}]
    fields = {"command": "ls", "proposedExecpolicyAmendment": ["ls", text], "availableDecisions": offered}
    rule = f'prefix_rule(pattern={json.dumps(["ls", text], ensure_ascii=False)}, decision="allow")'
    return "item/commandExecution/requestApproval", fields, (), lambda texts: (">", rule) in texts


def _change(text: str) -> Case:
    change = FileDiff("add", text, f"{text}\n")
    return "item/fileChange/requestApproval", {}, (change,), lambda texts: [("+", text), ("|+", text)] == texts[:2]


def _permissions(text: str) -> Case:
    wanted = {"fileSystem": {"write": [text]}}
    method = "item/permissions/requestApproval"
    return method, {"permissions": wanted}, (), lambda texts: json.loads(texts[0][1]) == wanted


def _tool(text: str) -> Case:
    about = {"codex_approval_kind": "mcp_tool_call", "tool_name": "x", "tool_params": {"x": text}}
    fields = {"serverName": "s", "mode": "form", "message": "may I?", "_meta": about}
    return "mcpServer/elicitation/request", fields, (), lambda texts: json.loads(texts[-1][1]) == {"x": text}


_KINDS = (_command, _rule, _change, _permissions, _tool)


def ask_about_streams(_folder: Path, count: int) -> Iterator[Seen]:
    """Display ``count`` requests about hostile texts, every tenth with characters that stand for lost bytes."""
    fuzz, chance, faults, refused = Streams(SEED), random.Random(SEED), [], 0
    for number in range(count):
        text = fuzz() + (chance.choice(_LOST) if number % 10 == 0 else "")
        kind = _KINDS[number % len(_KINDS)]
        method, fields, changes, is_right = kind(text)
        pending = ask_codex(method, fields, changes)
        has_yes = ApprovalDecision.ACCEPT in pending.request.choices
        refused += not has_yes
        if has_yes != decodes_to_what_runs(exact_json(text) if kind in (_permissions, _tool) else text):
            faults.append(f"yes is {'' if has_yes else 'not '}offered: {text!r}")
        if has_yes and not is_right(read_rows(display(pending, chance.randint(MIN_COLUMNS, 200)))):
            faults.append(f"{method}: {text!r}")
    yield none_of(
        "What a question of codex-auto displays decodes to what Codex would run, change, grant, send or store, and "
        "there is no yes to what stands for no bytes",
        "0 differ of 20,000 questions",
        faults,
        f"of {count:,} questions about hostile texts, {refused:,} without a yes",
        holds=refused >= count // 10,
    )


def show_bytes(_folder: Path, count: int) -> Iterator[Seen]:
    """Show ``count`` files of arbitrary bytes as ``upbeat trust`` does."""
    fuzz, chance, faults = Streams(SEED), random.Random(SEED), []
    for _ in range(count):
        is_text = chance.random() < 0.5
        data = fuzz(9).encode("utf-8", "replace") if is_text else chance.randbytes(chance.randint(1, 400))
        shown = "\n".join(row.removeprefix("  | ") for row in bytes_rows(data))
        if decode_text(shown).encode("utf-8", "surrogateescape") != data.removesuffix(b"\n"):
            faults.append(repr(data))
    yield none_of(
        "What upbeat trust and upbeat rules show of a file decodes to its bytes",
        "0 differ of 5,000 files",
        faults,
        f"of {count:,} files of arbitrary bytes",
    )


SCENARIOS = (Scenario(ask_about_streams, 1_000, 20_000), Scenario(show_bytes, 300, 5_000))
