"""Real turns in this process: real files, real settings, the embedded tools, an environment of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from fakes.journal import MemoryJournal

from upbeat.adapters.hook_entry.answer import answer_event
from upbeat.adapters.system.clock import SystemClock
from upbeat.adapters.system.environment import read_environment
from upbeat.adapters.system.tool_runner import ThreadRunner
from upbeat.adapters.wiring import Application, build_application
from upbeat.core.contract.event import ClientName, EventSource
from upbeat.core.contract.report import TurnReport
from upbeat.core.engine.pipeline import TurnRequest, prepare_turn
from upbeat.core.engine.ports import ToolProvider


def application(home: Path, provider: ToolProvider | None = None, **variables: str) -> Application:
    """upbeat as it runs on this machine, with ``home`` as home; with other tools if given."""
    built = build_application(read_environment({"HOME": str(home), **variables}))
    if provider is None:
        return built
    runtime = built.runtime
    swapped = replace(runtime, runner=ThreadRunner(provider, SystemClock()), journal=MemoryJournal())
    return Application(built.environment, swapped, provider)


def turn(
    prompt: str,
    cwd: Path,
    provider: ToolProvider | None = None,
    client: ClientName = ClientName.CLI,
    session_id: str = "",
    request: Mapping[str, Any] | None = None,
    home: Path | None = None,
    **variables: str,
) -> TurnReport:
    """The report of one turn in ``cwd``."""
    runtime = application(home or cwd / "home", provider, **variables).runtime
    return prepare_turn(TurnRequest(EventSource(client, str(cwd), session_id), prompt, **(request or {})), runtime)


def hook(client: str, prompt: str, cwd: Path, provider: ToolProvider | None = None, **variables: str) -> dict[str, Any]:
    """What a client's prompt hook is answered."""
    fields = {"hook_event_name": "UserPromptSubmit", "session_id": f"s-{client}", "cwd": str(cwd), "prompt": prompt}
    return answer_event(client, fields, application(cwd / "home", provider, **variables))


def limit_codes(report: TurnReport) -> list[str]:
    return [limit.code for limit in report.limits]


def tools(report: TurnReport) -> list[str]:
    return [tool.tool for tool in report.tool_plan.tools]


def context(report: TurnReport) -> str:
    return report.fused_context.for_model.additional_context
