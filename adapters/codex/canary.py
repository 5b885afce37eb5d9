"""The canary of Codex: one ``codex exec`` of the real program with the user's own settings and a stub model.

Law: it can reach no provider: the stub is a provider of its own that needs no login, and every proxy is the stub, which
refuses. Hooks that are not trusted are not run, which is what it is to show.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..local import child
from ..local.canary import PROMPT, SECONDS, Event, Flown, Stub, commands, flown, objects
from ..local.environment import WRAPPED, child_variables

MODEL = "gpt-5.5"
"""Has a shell of its own; newer models call everything from scripts. No model answers."""
PROVIDER = "upbeat_canary"
SHELLS = ("exec_command", "shell_command", "shell")
"""What Codex calls its shell."""
_KEYS = {"exec_command": "cmd", "shell_command": "command", "shell": "command"}


def command(program: str, url: str) -> list[str]:
    """The command line; the prompt comes on stdin. Its session is not kept, and may write nothing."""
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
    stays = ["--ephemeral", "--skip-git-repo-check", "-s", "read-only", "--disable", "unbounded_connection_retries"]
    return [program, "exec", "--json", *stays, "-m", MODEL, *flags, "-"]


def fly(program: str, repository: Path, codex_home: Path, seconds: float = SECONDS) -> Flown:
    """Run it in ``repository``, which is empty."""
    stub = Stub("/responses", lambda body: list(answer(body, repository)))
    with stub.serve():
        variables = stub.variables | {"CODEX_HOME": str(codex_home)}
        try:
            ended = child.run(
                command(program, stub.url),
                variables=child_variables(variables, without=(WRAPPED,)),
                cwd=str(repository),
                seconds=seconds,
                words=PROMPT.encode(),
            )
        except OSError as error:
            return Flown(problem=f"{program}: {error.strerror}")
    return flown(_thread(ended.output), stub, ended)


def _thread(output: bytes) -> str:
    """The thread that was begun; empty when none was."""
    for line in output.split(b"\n"):
        try:
            event = json.loads(line)
        except ValueError:
            continue
        if isinstance(event, dict) and event.get("type") == "thread.started":
            return str(event.get("thread_id") or "")
    return ""


def answer(body: dict[str, Any], repository: Path) -> Iterator[Event]:
    """The stub's answer to a request of the Responses API: the next command, or that it is done."""
    items = objects(body.get("input"))
    done = sum(item.get("type") in ("function_call_output", "custom_tool_call_output") for item in items)
    offered = {str(tool.get("name")) for tool in objects(body.get("tools"))}
    shell = next((name for name in SHELLS if name in offered), "")
    wanted = commands(repository)
    response = _response(body, done)
    yield _event("response.created", response=response)
    if shell and done < len(wanted):
        item = _call(shell, wanted[done], done)
    else:
        content = [{"type": "output_text", "text": "done", "annotations": []}]
        item = {"id": "msg_canary", "type": "message", "role": "assistant", "status": "completed", "content": content}
    yield _event("response.output_item.done", output_index=0, item=item)
    yield _event("response.completed", response=response)


def _call(shell: str, line: str, number: int) -> dict[str, Any]:
    arguments = {_KEYS[shell]: ["bash", "-lc", line] if shell == "shell" else line}
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


def _event(name: str, **data: Any) -> Event:
    return name, {"type": name, **data}
