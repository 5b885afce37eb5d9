"""The recorded payloads of both clients' hooks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

RECORDED = Path(__file__).parent / "recorded"
Payloads = dict[str, dict[str, Any]]


def claude_payloads() -> Payloads:
    """The payloads of Claude Code's command hooks, by the name of their file, such as ``PreToolUse.Agent.fg``."""
    paths = sorted((RECORDED / "claude-code/hooks").glob("*.json"))
    return {path.stem: json.loads(path.read_text(encoding="utf-8"))["payload"] for path in paths}


def codex_payloads() -> Payloads:
    """The payloads of Codex's command hooks, by event and line, such as ``PreToolUse-3``."""
    return {
        f"{path.stem}-{number}": json.loads(line)["stdin"]
        for path in sorted((RECORDED / "codex/hooks").glob("*.jsonl"))
        for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"))
        if line
    }


def mcp_payloads(client: str) -> Payloads:
    """The payloads of the ``mcp_tool`` hooks of ``client`` (claude-code, codex), by version and file."""
    payloads: Payloads = {}
    for path in sorted((RECORDED / "hooks_over_mcp").glob(f"{client}-*/*.json")):
        message = json.loads(path.read_text(encoding="utf-8")).get("message", {})
        arguments = message.get("params", {}).get("arguments", {})
        if message.get("method") == "tools/call" and "cwd" in arguments:
            fields = {("hook_event_name" if name == "event" else name): value for name, value in arguments.items()}
            meta = {"_meta": message["params"]["_meta"]} if client == "codex" else {}
            payloads[f"{path.parent.name[-3:]}-{path.stem}"] = fields | meta
    return payloads
