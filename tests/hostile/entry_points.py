"""Every way into upbeat that meets a repository, as a process that is started in it.

Payloads are recorded ones of the clients, with the folder, the files and the prompt of the stage.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from processes import BIN, ROOT

from .place import PROMPT, Place

RECORDED = ROOT / "tests/recorded"
CLAUDE = ("SessionStart.startup", "UserPromptSubmit", "PreToolUse.Bash", "PreToolUse.Read", "PreToolUse.Edit")
CLAUDE_LATER = (
    "PostToolUse.Bash",
    "PostToolUse.Edit",
    "PostToolUse.Write",
    "PreCompact.auto",
    "Stop",
    "SessionEnd.other",
)
CODEX = ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop")
PYTHON = (sys.executable, "-I")
UPBEAT = (*PYTHON, "-m", "upbeat")
COMMANDS: Mapping[str, tuple[str, ...]] = {
    "prepare": ("prepare", "--prompt", PROMPT),
    "prepare --plan": ("prepare", "--plan", "--prompt", PROMPT),
    "index": ("index",),
    "status": ("status", "--json"),
    "log": ("log", "--json"),
    "why": ("why", "--last"),
    "stats": ("stats",),
    "learned list": ("learned", "list"),
    "rules list": ("rules", "list"),
    "rules check": ("rules", "check"),
    "workflow list": ("workflow", "list"),
    "workflow check": ("workflow", "check"),
    "features list": ("features", "list"),
    "tools list": ("tools", "list"),
    "trust --list": ("trust", "--list"),
}
ASKED: Mapping[str, Mapping[str, Any]] = {
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
    """All of them in an order in which each finds what the one before has left; ``trust`` is not among them."""
    found = {f"hook claude: {name}": hook("claude", claude(name, place)) for name in (*CLAUDE, *CLAUDE_LATER)}
    found |= {f"hook codex: {name}": hook("codex", codex(name, place)) for name in CODEX}
    found |= {"mcp": server(place)}
    found |= {name: Call((*UPBEAT, *words)) for name, words in COMMANDS.items()}
    return found | {"codex-auto --plan": Call((*PYTHON, str(BIN / "codex-auto"), "--plan", PROMPT))}


def hook(client: str, payload: Mapping[str, Any]) -> Call:
    """A command hook."""
    return Call((*UPBEAT, "hook", client), json.dumps(payload).encode())


def claude(name: str, place: Place) -> dict[str, Any]:
    """A recorded payload of Claude Code, about the stage."""
    text = (RECORDED / f"claude-code/hooks/{name}.json").read_text(encoding="utf-8")
    return about(json.loads(text)["payload"], place)


def codex(name: str, place: Place) -> dict[str, Any]:
    """The first recorded payload of Codex of that name, about the stage."""
    with open(RECORDED / f"codex/hooks/{name}.jsonl", encoding="utf-8") as lines:
        return about(json.loads(lines.readline())["stdin"], place)


def about(payload: Mapping[str, Any], place: Place) -> dict[str, Any]:
    """``payload`` with the folder, the prompt and the files of the stage."""
    found = dict(payload) | {"cwd": str(place.root / place.cwd)}
    found |= {"transcript_path": str(place.home / ".claude/projects/x/session.jsonl")}
    if "prompt" in found:
        found["prompt"] = f"{PROMPT} /fix"
    given = found.get("tool_input")
    if isinstance(given, dict) and "file_path" in given:
        found["tool_input"] = given | {"file_path": str(place.root / "shop/retry.py")}
    elif isinstance(given, dict) and "command" in given:
        found["tool_input"] = given | {"command": f"cat {place.root}/shop/retry.py && pytest -q"}
    return found


def server(place: Place) -> Call:
    """``upbeat mcp``: each tool, and hooks that come as calls of one."""
    asked: list[tuple[str, Mapping[str, Any]]] = list(ASKED.items())
    for name in ("UserPromptSubmit", "PreToolUse.Bash", "PostToolUse.Bash", "Stop"):
        payload = claude(name, place)
        asked.append(("hook", payload | {"event": payload["hook_event_name"]}))
    client = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
    lines: list[dict[str, Any]] = [
        {"id": 0, "method": "initialize", "params": client},
        {"id": 1, "method": "tools/list"},
    ]
    for number, (tool, arguments) in enumerate(asked, start=2):
        lines.append({"id": number, "method": "tools/call", "params": {"name": tool, "arguments": arguments}})
    text = "".join(json.dumps({"jsonrpc": "2.0"} | line) + "\n" for line in lines)
    return Call((*UPBEAT, "mcp", "--client", "claude-code"), text.encode(), len(lines))


SHORT: tuple[str, ...] = ("hook claude: UserPromptSubmit", "hook codex: Stop", "mcp", "prepare", "index", "rules list")
"""Those that read the most, for those who have little time."""
FEW = SHORT[:4]
"""The fewest that together read all kinds of files."""
