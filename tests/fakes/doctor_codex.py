#!/usr/bin/env python3
"""A Codex that tells of its hooks as the real one does, and trusts those that its user has trusted.

What it is told to be is in ``fake.json`` of its home: ``version``, ``trusted`` (hook -> hash), ``off`` (hooks that are
switched off), ``without_server``, ``broken``, ``listed`` (what it tells of hooks instead). A hook's hash covers its
definition.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HOME = Path(os.environ.get("CODEX_HOME", "/nowhere"))


def state() -> dict[str, Any]:
    path = HOME / "fake.json"
    fields: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    return fields


def hooks() -> Iterator[dict[str, Any]]:
    """Every hook of a plugin in the cache, and of ``hooks.json``."""
    fake = state()
    files = [(path, "upbeat@upbeat") for path in HOME.glob("plugins/cache/upbeat/upbeat/*/hooks/hooks.json")]
    files += [(path, None) for path in HOME.glob("hooks.json")]
    for path, plugin in files:
        for event, groups in json.loads(path.read_text())["hooks"].items():
            for number, group in enumerate(groups):
                snake = re.sub(r"(?<!^)(?=[A-Z])", "_", event).lower()
                key = f"{plugin or path}:hooks/hooks.json:{snake}:{number}:0"
                digest = hashlib.sha256(json.dumps(group).encode()).hexdigest()
                trusted = fake.get("trusted", {}).get(key)
                yield {
                    "key": key,
                    "eventName": event[:1].lower() + event[1:],
                    "command": group["hooks"][0].get("command", ""),
                    "sourcePath": str(path),
                    "pluginId": plugin,
                    "enabled": event not in fake.get("off", ()),
                    "isManaged": False,
                    "currentHash": digest,
                    "trustStatus": "trusted" if trusted == digest else "modified" if trusted else "untrusted",
                }


def serve() -> None:
    for line in sys.stdin:
        asked = json.loads(line)
        if asked["method"] == "initialize":
            answer: dict[str, Any] = {"userAgent": "fake"}
        elif asked["method"] == "hooks/list":
            answer = {"data": [{"cwd": cwd, "hooks": [*hooks()]} for cwd in asked["params"]["cwds"]]}
            answer = state().get("listed", answer)
        else:
            continue
        print(json.dumps({"id": asked["id"], "result": answer}), flush=True)


def main(words: list[str]) -> int:
    if state().get("broken"):
        print("error loading config.toml", file=sys.stderr)
        return 1
    match words:
        case ["--version"]:
            print("codex-cli", state().get("version", "0.169.0"))
        case ["mcp", "list", "--json"]:
            print(json.dumps([{"name": "upbeat", "enabled": not state().get("without_server")}]))
        case ["app-server"]:
            serve()
        case ["trust"]:
            (HOME / "fake.json").write_text(
                json.dumps(state() | {"trusted": {hook["key"]: hook["currentHash"] for hook in hooks()}})
            )
        case _:
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
