"""The canary of Claude Code: one headless session of the real program with the user's own settings and a stub model.

Law: it can reach no provider. The environment that settings files set would win over ours, so the address goes in as
settings, too, which win over all but an administrator's; where those name a provider, there is no canary.
"""

from __future__ import annotations

import contextlib
import json
import re
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..local import child
from ..local.canary import PROMPT, SECONDS, Event, Flown, Stub, commands, flown, objects
from ..local.environment import child_variables
from ..local.json_file import json_file
from ..local.lines import object_in
from ..plugin import NAME
from .history import project_folder

KEY = "sk-ant-api03-upbeat-canary-of-no-account"
OF_A_SESSION = ("CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SESSION_", "CLAUDE_CODE_CHILD_", "CLAUDE_PID")
"""What Claude Code sets for what it starts: the canary is a session of its own."""
OF_A_PROVIDER = ("ANTHROPIC_", "CLAUDE_CODE_USE_", "CLAUDE_CODE_OAUTH_", "CLAUDE_CODE_MESSAGING_", "UPBEAT_WRAPPED")

_PROVIDERS = ("CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY")
_QUIET = {
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_TELEMETRY": "1",
    "DISABLE_ERROR_REPORTING": "1",
}
_NAMES_PROVIDER = re.compile(r"ANTHROPIC_BASE_URL|CLAUDE_CODE_USE_|ANTHROPIC_.*_BASE_URL|HTTPS?_PROXY", re.IGNORECASE)


def command(program: str, session_id: str, repository: Path, settings: str) -> list[str]:
    """The command line; its session is not kept, and may run what the stub asks for and nothing else."""
    _works, _fails, destroys = commands(repository)
    told = ["-p", PROMPT, "--session-id", session_id, "--no-session-persistence", "--settings", settings]
    shown = ["--output-format", "stream-json", "--verbose"]
    may = ["--tools", "Bash", "--allowedTools", "Bash(true)", "Bash(false)"]
    return [program, *told, *shown, *may, "--disallowedTools", f"Bash({destroys})", "Bash(rm *)"]


def fly(program: str, repository: Path, claude_home: Path, managed: dict[str, Any], seconds: float = SECONDS) -> Flown:
    """Run it in ``repository``, which is empty. ``managed`` are the administrator's settings.

    ``is_first``: nothing of the plugin was known before it; older versions load a new plugin only in the next session.
    """
    environment = managed.get("env")
    names = [name for name in environment if _NAMES_PROVIDER.search(name)] if isinstance(environment, dict) else []
    if names:
        return Flown(problem=f"your administrator's settings name the provider ({', '.join(names)}); it is not asked")
    is_first = NAME not in json_file(claude_home / "plugins" / "known_marketplaces.json")
    session_id = str(uuid.uuid4())
    stub = Stub("/v1/messages", lambda body: list(answer(body, repository)))
    with stub.serve():
        variables = stub.variables | _QUIET | {"ANTHROPIC_BASE_URL": stub.url, "ANTHROPIC_API_KEY": KEY}
        settings = json.dumps({"env": variables | dict.fromkeys((*_PROVIDERS, "ANTHROPIC_AUTH_TOKEN"), "")})
        try:
            ended = child.run(
                command(program, session_id, repository, settings),
                variables=child_variables(variables, without=(*OF_A_SESSION, *OF_A_PROVIDER)),
                cwd=str(repository),
                seconds=seconds,
            )
        except OSError as error:
            return Flown(session_id, problem=f"{program}: {error.strerror}")
        finally:
            _clear_up(claude_home / "projects" / project_folder(str(repository)))
    return flown(session_id, stub, ended, _server_trouble(ended.output), is_first=is_first)


def _clear_up(folder: Path) -> None:
    """Take away the empty folder that Claude Code makes for a project."""
    for path in (folder / "memory", folder):
        with contextlib.suppress(OSError):
            path.rmdir()


def _server_trouble(output: bytes) -> str:
    """What the session told at its beginning of our server, if anything is wrong with it."""
    for line in output.splitlines():
        begun = object_in(line)
        if begun.get("subtype") == "init":
            ours = {str(one.get("name")): str(one.get("status")) for one in objects(begun.get("mcp_servers"))}
            named = {name: status for name, status in ours.items() if NAME in name}
            return ", ".join(f"{name}: {status}" for name, status in named.items() if status != "connected")
    return ""


def answer(body: dict[str, Any], repository: Path) -> Iterator[Event]:
    """The stub's answer to a request of the Messages API: the next command, or that it is done."""
    blocks = [block for message in objects(body.get("messages")) for block in objects(message.get("content"))]
    done = sum(block.get("type") == "tool_result" for block in blocks)
    wanted = commands(repository)
    has_shell = any(tool.get("name") == "Bash" for tool in objects(body.get("tools")))
    yield "message_start", {"type": "message_start", "message": _message(body, done)}
    if has_shell and done < len(wanted):
        asked = json.dumps({"command": wanted[done], "description": "upbeat canary"})
        block = {"type": "tool_use", "id": f"toolu_canary_{done}", "name": "Bash", "input": {}}
        yield from _block(block, {"type": "input_json_delta", "partial_json": asked})
        reason = "tool_use"
    else:
        yield from _block({"type": "text", "text": ""}, {"type": "text_delta", "text": "done"})
        reason = "end_turn"
    ending = {"stop_reason": reason, "stop_sequence": None}
    yield "message_delta", {"type": "message_delta", "delta": ending, "usage": {"output_tokens": 1}}
    yield "message_stop", {"type": "message_stop"}


def _message(body: dict[str, Any], number: int) -> dict[str, Any]:
    return {
        "id": f"msg_canary_{number}",
        "type": "message",
        "role": "assistant",
        "model": body.get("model", "canary"),
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }


def _block(block: dict[str, Any], delta: dict[str, Any]) -> Iterator[Event]:
    yield "content_block_start", {"type": "content_block_start", "index": 0, "content_block": block}
    yield "content_block_delta", {"type": "content_block_delta", "index": 0, "delta": delta}
    yield "content_block_stop", {"type": "content_block_stop", "index": 0}
