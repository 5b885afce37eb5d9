"""Every way into upbeat that meets a repository, as a process that is started in it.

Payloads are recorded ones of the clients, with the folder, the files and the prompt of the stage.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recorded_hooks import claude_payloads, codex_payloads

from .place import PROMPT, Place

CLAUDE = ("SessionStart.startup", "UserPromptSubmit", "PreToolUse.Bash", "PreToolUse.Read", "PreToolUse.Edit")
CLAUDE += ("PostToolUse.Bash", "PostToolUse.Edit", "PostToolUse.Write", "PreCompact.auto", "Stop", "SessionEnd.other")
CODEX = ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop")
PYTHON = (sys.executable, "-I")
UPBEAT = (*PYTHON, "-m", "upbeat")
COMMANDS = (
    *(("index",), ("status", "--json"), ("log", "--json"), ("why", "--last"), ("stats",), ("learned", "list")),
    *(("rules", "list"), ("rules", "check"), ("workflow", "list"), ("workflow", "check"), ("features", "list")),
    *(("tools", "list"), ("trust", "--list")),
)
TOOL_CALLS: Mapping[str, Mapping[str, Any]] = {
    "ci_index_status": {},
    "ci_search": {"query": "retry limit", "files": ["shop/retry.py", "../outside/secret.py", "linked/secret.py"]},
    "ci_graph_rag": {"query": "send_with_retry", "files": ["folder/inner/secret.py"]},
    "ci_bug_locate": {"query": f"{PROMPT} folder/secret.py:1 linked/secret.py:2"},
    "ci_call_chain": {"symbol": "send_with_retry", "direction": "both"},
    "ci_impact": {"symbol": "send_with_retry"},
    "ci_hotspot": {},
    "ci_complexity": {"path": "folder/inner/secret.py"},
}
"""What a model may ask the server for, with paths that lead out."""


@dataclass(frozen=True)
class Call:
    """A process to be: what is on its stdin; for a server how many answers it is to give before that is closed."""

    command: tuple[str, ...]
    stdin: bytes = b""
    answers: int = 0
    patience: float = 240.0
    """Seconds in which it has to end."""


def calls(place: Place) -> dict[str, Call]:
    """Return all of them, in an order in which each meets what the previous one left; ``trust`` is not among them."""
    hooks = {f"hook claude: {name}": claude_payloads()[name] for name in CLAUDE}
    hooks |= {f"hook codex: {name}": codex_payloads()[f"{name}-0"] for name in CODEX}
    entries = {
        name: Call((*UPBEAT, *name.partition(":")[0].split()), json.dumps(about(payload, place)).encode())
        for name, payload in hooks.items()
    }
    entries["mcp"] = server(place)
    for name in ("prepare", "prepare --plan"):
        entries[name] = Call((*UPBEAT, *name.split(), "--prompt", PROMPT))
    entries |= {" ".join(words): Call((*UPBEAT, *words)) for words in COMMANDS}
    return entries | {"codex-auto --plan": Call((*PYTHON, "-m", "upbeat.adapters.codex_auto", "--plan", PROMPT))}


def about(payload: Mapping[str, Any], place: Place) -> dict[str, Any]:
    """Return ``payload`` with the folder, the prompt and the files of the stage."""
    fields = dict(payload) | {"cwd": str(place.root / place.cwd)}
    fields |= {"transcript_path": str(place.home / ".claude/projects/x/session.jsonl")}
    if "prompt" in fields:
        fields["prompt"] = f"{PROMPT} /fix"
    tool_input = fields.get("tool_input")
    if isinstance(tool_input, dict) and "file_path" in tool_input:
        fields["tool_input"] = tool_input | {"file_path": str(place.root / "shop/retry.py")}
    elif isinstance(tool_input, dict) and "command" in tool_input:
        fields["tool_input"] = tool_input | {"command": f"cat {place.root}/shop/retry.py && pytest -q"}
    return fields


def server(place: Place) -> Call:
    """Return ``upbeat mcp`` with a call of each tool, and hooks that come as calls of one."""
    asked: list[tuple[str, Mapping[str, Any]]] = list(TOOL_CALLS.items())
    for name in ("UserPromptSubmit", "PreToolUse.Bash", "PostToolUse.Bash", "Stop"):
        payload = about(claude_payloads()[name], place)
        asked.append(("hook", payload | {"event": payload["hook_event_name"]}))
    client = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
    requests: list[dict[str, Any]] = [{"method": "initialize", "params": client}, {"method": "tools/list"}]
    requests += [{"method": "tools/call", "params": {"name": tool, "arguments": given}} for tool, given in asked]
    lines = [json.dumps({"jsonrpc": "2.0", "id": number} | request) for number, request in enumerate(requests)]
    return Call((*UPBEAT, "mcp", "--client", "claude-code"), "\n".join([*lines, ""]).encode(), len(lines))


SHORT: tuple[str, ...] = ("hook claude: UserPromptSubmit", "hook codex: Stop", "mcp", "prepare", "index", "rules list")
"""Those that read the most, for those who have little time."""
FEW = SHORT[:4]
"""The fewest that together read all kinds of files."""

INSIDE = Path(__file__).with_name("inside.py")
SECONDS_EACH = 30.0


def in_copies(places: Iterable[Place], names: Sequence[str]) -> Call:
    """Return one process that runs these entry points in all places; it writes to the ``log`` of each place."""
    copies = []
    for place in places:
        place.log.mkdir()
        every = calls(place)
        copies += [_copy(place, number, name, every[name]) for number, name in enumerate(names)]
    return Call((*PYTHON, str(INSIDE)), json.dumps(copies).encode(), patience=SECONDS_EACH * len(copies))


def _copy(place: Place, number: int, name: str, call: Call) -> dict[str, Any]:
    is_wrapper = name.startswith("codex-auto")
    return {
        "module": f"upbeat.adapters.{'codex_auto.app.main' if is_wrapper else 'cli.main'}",
        "words": call.command[4:],
        "stdin": call.stdin.decode(),
        "answers": call.answers,
        "cwd": str(place.root / place.cwd),
        "environment": place.environment(),
        "log": str(place.log / f"{number}.log"),
        "output": str(place.log / f"{number}.out"),
    }
