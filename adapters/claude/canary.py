"""The canary of Claude Code: one headless session of the real program with the user's settings and a stub model.

Invariant: it cannot reach a provider. Settings files override the environment, so the stub's address is also passed as
settings, which only the administrator's override; if those name a provider, no canary is run.
"""

from __future__ import annotations

import contextlib
import json
import re
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from upbeat.adapters.claude.history import project_folder
from upbeat.adapters.doctor import canary
from upbeat.adapters.install.plugin import NAME
from upbeat.adapters.system.environment import child_variables
from upbeat.adapters.system.files.bounded_read import read_json_object
from upbeat.adapters.system.files.tail import parse_json_object
from upbeat.adapters.system.process.run import run_program
from upbeat.core.json_fields import mappings_of

FAKE_API_KEY = "sk-ant-api03-upbeat-canary-of-no-account"
SESSION_VARIABLES = ("CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SESSION_", "CLAUDE_CODE_CHILD_", "CLAUDE_PID")
"""Set by Claude Code for its child processes; the canary is a session of its own."""
PROVIDER_VARIABLES = (
    "ANTHROPIC_",
    "CLAUDE_CODE_USE_",
    "CLAUDE_CODE_OAUTH_",
    "CLAUDE_CODE_MESSAGING_",
    "UPBEAT_WRAPPED",
)

_PROVIDER_SWITCHES = ("CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY")
_QUIET_VARIABLES = {
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_TELEMETRY": "1",
    "DISABLE_ERROR_REPORTING": "1",
}
_PROVIDER_SETTING = re.compile(r"ANTHROPIC_BASE_URL|CLAUDE_CODE_USE_|ANTHROPIC_.*_BASE_URL|HTTPS?_PROXY", re.IGNORECASE)


def canary_command(program: str, session_id: str, repository: Path, settings: str) -> list[str]:
    """Return the command line of a session that is not saved and may only run the commands of the stub."""
    _works, _fails, destroys = canary.canary_commands(repository)
    session = ["-p", canary.PROMPT, "--session-id", session_id, "--no-session-persistence", "--settings", settings]
    output = ["--output-format", "stream-json", "--verbose"]
    tools = ["--tools", "Bash", "--allowedTools", "Bash(true)", "Bash(false)"]
    return [program, *session, *output, *tools, "--disallowedTools", f"Bash({destroys})", "Bash(rm *)"]


def run_canary(program: str, repository: Path, claude_home: Path, managed_settings: dict[str, Any]) -> canary.CanaryRun:
    """Run one session in ``repository``, which is empty. ``managed_settings`` are the administrator's.

    The result's ``is_first_session`` means that Claude Code did not know the plugin before; older versions load a new
    plugin only in the next session.
    """
    environment = managed_settings.get("env")
    names = [name for name in environment if _PROVIDER_SETTING.search(name)] if isinstance(environment, dict) else []
    if names:
        return canary.CanaryRun(
            problem=f"your administrator's settings set the provider ({', '.join(names)}), so the probe was skipped"
        )
    is_first = NAME not in read_json_object(claude_home / "plugins" / "known_marketplaces.json")
    session_id = str(uuid.uuid4())
    stub = canary.StubModelServer("/v1/messages", lambda body: list(stub_response(body, repository)))
    with stub.serve():
        variables = (
            stub.variables | _QUIET_VARIABLES | {"ANTHROPIC_BASE_URL": stub.url, "ANTHROPIC_API_KEY": FAKE_API_KEY}
        )
        settings = json.dumps({"env": variables | dict.fromkeys((*_PROVIDER_SWITCHES, "ANTHROPIC_AUTH_TOKEN"), "")})
        try:
            ended = run_program(
                canary_command(program, session_id, repository, settings),
                variables=child_variables(variables, excluded_prefixes=(*SESSION_VARIABLES, *PROVIDER_VARIABLES)),
                cwd=str(repository),
                timeout_seconds=canary.CANARY_TIMEOUT_SECONDS,
            )
        except OSError as error:
            return canary.CanaryRun(session_id, problem=f"{program}: {error.strerror}")
        finally:
            project = claude_home / "projects" / project_folder(str(repository))
            for folder in (project / "memory", project):  # Claude Code creates both, and leaves them empty
                with contextlib.suppress(OSError):
                    folder.rmdir()
    return canary.summarize_run(session_id, stub, ended, _server_problem(ended.output), is_first_session=is_first)


def _server_problem(output: bytes) -> str:
    """Return what the session's first message reports about upbeat's server; empty if it is connected."""
    for line in output.splitlines():
        message = parse_json_object(line)
        if message.get("subtype") == "init":
            servers = {str(server.get("name")): server.get("status") for server in mappings_of(message, "mcp_servers")}
            problems = {name: status for name, status in servers.items() if NAME in name and status != "connected"}
            return ", ".join(f"{name}: {status}" for name, status in problems.items())
    return ""


def stub_response(body: dict[str, Any], repository: Path) -> Iterator[canary.ServerSentEvent]:
    """Yield the response to a Messages API request: the next command, or, after the last one, the end of the turn."""
    blocks = [block for message in mappings_of(body, "messages") for block in mappings_of(message, "content")]
    done = sum(block.get("type") == "tool_result" for block in blocks)
    wanted = canary.canary_commands(repository)
    has_shell = any(tool.get("name") == "Bash" for tool in mappings_of(body, "tools"))
    yield "message_start", {"type": "message_start", "message": _message(body, done)}
    if has_shell and done < len(wanted):
        arguments = json.dumps({"command": wanted[done], "description": "upbeat canary"})
        block = {"type": "tool_use", "id": f"toolu_canary_{done}", "name": "Bash", "input": {}}
        yield from _block(block, {"type": "input_json_delta", "partial_json": arguments})
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


def _block(block: dict[str, Any], delta: dict[str, Any]) -> Iterator[canary.ServerSentEvent]:
    yield "content_block_start", {"type": "content_block_start", "index": 0, "content_block": block}
    yield "content_block_delta", {"type": "content_block_delta", "index": 0, "delta": delta}
    yield "content_block_stop", {"type": "content_block_stop", "index": 0}
