"""The canary of Codex: one ``codex exec`` of the real program with the user's settings and a stub model.

Invariant: it cannot reach a provider: the stub is a provider that needs no login, and every proxy is the stub, which
refuses. Codex does not run untrusted hooks, and the canary shows that.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from upbeat.adapters.doctor.canary import (
    CANARY_TIMEOUT_SECONDS,
    PROMPT,
    CanaryRun,
    ServerSentEvent,
    StubModelServer,
    canary_commands,
    summarize_run,
)
from upbeat.adapters.system.environment import WRAPPED_VARIABLE, child_variables
from upbeat.adapters.system.files.tail import parse_json_object
from upbeat.adapters.system.process.run import run_program
from upbeat.core.json_fields import mappings_of

MODEL = "gpt-5.5"
"""A model that Codex offers a shell tool; newer ones call everything from scripts. It is never contacted."""
PROVIDER = "upbeat_canary"
SHELL_TOOLS = ("exec_command", "shell_command", "shell")
"""The names of Codex's shell tools."""
_COMMAND_ARGUMENT = {"exec_command": "cmd", "shell_command": "command", "shell": "command"}


def canary_command(program: str, url: str) -> list[str]:
    """Return the command line of a read-only session that is not saved; the prompt comes on stdin."""
    provider = f'{{name="upbeat canary",base_url="{url}",wire_api="responses",requires_openai_auth=false}}'
    settings = [
        f'model_provider="{PROVIDER}"',
        f"model_providers.{PROVIDER}={provider}",
        f"model_providers.{PROVIDER}.stream_max_retries=0",
        f"model_providers.{PROVIDER}.request_max_retries=0",
        "check_for_update_on_startup=false",
        "analytics.enabled=false",
    ]
    flags = [flag for setting in settings for flag in ("-c", setting)]
    isolation = ["--ephemeral", "--skip-git-repo-check", "-s", "read-only", "--disable", "unbounded_connection_retries"]
    return [program, "exec", "--json", *isolation, "-m", MODEL, *flags, "-"]


def run_canary(program: str, repository: Path, codex_home: Path) -> CanaryRun:
    """Run one session in ``repository``, which is empty."""
    stub = StubModelServer("/responses", lambda body: list(stub_response(body, repository)))
    with stub.serve():
        variables = stub.variables | {"CODEX_HOME": str(codex_home)}
        try:
            ended = run_program(
                canary_command(program, stub.url),
                variables=child_variables(variables, excluded_prefixes=(WRAPPED_VARIABLE,)),
                cwd=str(repository),
                timeout_seconds=CANARY_TIMEOUT_SECONDS,
                stdin_data=PROMPT.encode(),
            )
        except OSError as error:
            return CanaryRun(problem=f"{program}: {error.strerror}")
    events = map(parse_json_object, ended.output.splitlines())
    threads = (str(event.get("thread_id") or "") for event in events if event.get("type") == "thread.started")
    return summarize_run(next(threads, ""), stub, ended)


def stub_response(body: dict[str, Any], repository: Path) -> Iterator[ServerSentEvent]:
    """Yield the response to a Responses API request: the next command, or, after the last one, the end of the turn."""
    items = mappings_of(body, "input")
    done = sum(item.get("type") in ("function_call_output", "custom_tool_call_output") for item in items)
    offered = {str(tool.get("name")) for tool in mappings_of(body, "tools")}
    shell = next((name for name in SHELL_TOOLS if name in offered), "")
    wanted = canary_commands(repository)
    response = _response(body, done)
    yield _server_event("response.created", response=response)
    if shell and done < len(wanted):
        item = _function_call(shell, wanted[done], done)
    else:
        content = [{"type": "output_text", "text": "done", "annotations": []}]
        item = {"id": "msg_canary", "type": "message", "role": "assistant", "status": "completed", "content": content}
    yield _server_event("response.output_item.done", output_index=0, item=item)
    yield _server_event("response.completed", response=response)


def _function_call(shell: str, line: str, number: int) -> dict[str, Any]:
    arguments = {_COMMAND_ARGUMENT[shell]: ["bash", "-lc", line] if shell == "shell" else line}
    return {
        "id": f"fc_canary_{number}",
        "type": "function_call",
        "call_id": f"call_canary_{number}",
        "name": shell,
        "arguments": json.dumps(arguments),
        "status": "completed",
    }


def _response(body: dict[str, Any], number: int) -> dict[str, Any]:
    usage = {
        "input_tokens": 1,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": 1,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 2,
    }
    return {
        "id": f"resp_canary_{number}",
        "object": "response",
        "model": body.get("model", MODEL),
        "output": [],
        "usage": usage,
    }


def _server_event(name: str, **data: Any) -> ServerSentEvent:
    return name, {"type": name, **data}
