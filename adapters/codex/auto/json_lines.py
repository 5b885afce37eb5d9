"""A turn for a program: one JSON object a line, ours around those of Codex.

Law: every line on the stream is one whole JSON object. First comes what was prepared, then Codex's own lines as they
came (at a terminal, what would act on it is escaped, as JSON can), each behind the moment when what it says was stored,
and last how the turn ended. What a person should know goes to standard error as in any other run.

::

    {"type": "upbeat.prepared", "report": {… turn report v1 …}}
    {"type": "thread.started", "thread_id": "…"}                          (Codex's own, until the last line)
    {"type": "upbeat.goes_on", "text": "…"}      (the workflow has work left: Codex's lines of another turn follow)
    {"type": "upbeat.ended", "status": "completed", "thread_id": "…", "exit_code": 0,
     "resume": "codex-auto --session default", "session": "default", "why": ""}
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from io import BytesIO
from typing import Any, BinaryIO

from ....core.contract.report import TurnReport
from ...terminal import escaped
from .show import Show
from .transport import Ending, Event, Failed, Usage, Verbatim


@dataclass(slots=True)
class JsonShow(Show):
    """Writes the lines to ``lines_to``, and limits and failures to ``aside``."""

    lines_to: BinaryIO = field(default_factory=BytesIO)

    def prepared(self, report: TurnReport) -> None:
        self.report = report
        self.emit({"type": "upbeat.prepared", "report": report.model_dump(mode="json")})
        self.limits(report.limits)

    def goes_on(self, text: str) -> None:
        self.emit({"type": "upbeat.goes_on", "text": text})
        Show.goes_on(self, text)

    def event(self, event: Event) -> None:
        if isinstance(event, Verbatim) and _is_object(event.line):
            is_shown = self.lines_to.isatty()
            self._put(escaped(event.line.decode("utf-8")).encode() if is_shown else event.line)

    def completed(self, used: Usage, seconds: float, *, whole_session: bool) -> None:
        """Codex's own last line says it."""

    def ended(self, ending: Ending | None, exit_code: int, *, thread_id: str, session: str, resume: str) -> None:
        """The last line. ``ending`` is None when there was no turn to end."""
        status = type(ending).__name__.lower() if ending else "failed" if exit_code else "completed"
        why = ending.why.value if isinstance(ending, Failed) else ""
        self.emit(
            {
                "type": "upbeat.ended",
                "status": status,
                "thread_id": thread_id,
                "exit_code": exit_code,
                "resume": resume if thread_id else "",
                "session": session,
                "why": why,
            }
        )

    def emit(self, fields: Mapping[str, Any]) -> None:
        """One line of ours."""
        self._put(escaped(json.dumps(fields, ensure_ascii=False, separators=(",", ":"))).encode())

    def _put(self, line: bytes) -> None:
        self.lines_to.write(line + b"\n")
        self.lines_to.flush()


def _is_object(line: bytes) -> bool:
    """Whether a program that reads JSON lines can read it: other noise on Codex's output is left out."""
    try:
        return isinstance(json.loads(line.decode("utf-8")), dict)
    except (ValueError, RecursionError):
        return False
