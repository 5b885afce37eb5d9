"""A turn in a small shop's repository, on fakes: the prompts, what the tools answer, and what a model gets of it."""

from __future__ import annotations

from typing import Any

from fakes.runtime import FakeWorld, fake_world

from upbeat.core.contract.codes import ErrorCode
from upbeat.core.contract.event import ClientName, EventSource
from upbeat.core.contract.finding import Finding, ToolOutput
from upbeat.core.contract.report import TurnReport
from upbeat.core.engine.pipeline import TurnRequest, prepare_turn
from upbeat.core.sanitize.frame import frame_untrusted
from upbeat.core.turn.render import FRAME_SOURCE

CLI = EventSource(ClientName.CLI, "/repo")
CLAUDE = EventSource(ClientName.CLAUDE_CODE, "/repo", "s-1")
CODEX = EventSource(ClientName.CODEX_CLI, "/repo", "0199-ab.c:d")
PROMPT = "how does send_with_retry work?"
BUG = "fix the bug in shop/retry.py"
FOUND = Finding("shop/retry.py", "def send_with_retry():", "send_with_retry", "function", 4, 5, 1.0, "name", "def send")
ANSWERS: dict[str, ToolOutput | ErrorCode] = {
    "ci_search": ToolOutput("1 file", (FOUND,)),
}
CONTEXT = frame_untrusted(
    "1. shop/retry.py:4-5 send_with_retry — name (ci_search 1.00)\n4| def send", "0123456789ab", source=FRAME_SOURCE
)
KEY = "AKIA" + "Q3EGRRZ7ZKD5LMNO"


def texts(report: TurnReport) -> list[str]:
    """The sentences of the report's limits."""
    return [limit.text for limit in report.limits]


def turn(prompt: str = PROMPT, world: FakeWorld | None = None, **request: Any) -> TurnReport:
    """The report for ``prompt`` in ``world``, or in one whose tools give ``ANSWERS``."""
    world = world or fake_world(answers=ANSWERS)
    return prepare_turn(TurnRequest(**({"source": CLI, "prompt": prompt} | request)), world.runtime)
