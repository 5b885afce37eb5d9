"""A turn for a program: one JSON object per line.

Invariant: every line is one complete JSON object. The report of the preparation comes first, then Codex's own lines as
received (with control characters escaped at a terminal), each after its content was stored, then how the turn ended.
Messages for the user go to standard error.

::

    {"type": "upbeat.prepared", "report": {… turn report v1 …}}
    {"type": "thread.started", "thread_id": "…"}                          (Codex's own, until the last line)
    {"type": "upbeat.turn_continued", "text": "…"}   (the workflow has work left: Codex's lines of another turn follow)
    {"type": "upbeat.ended", "status": "completed", "thread_id": "…", "exit_code": 0,
     "resume_command": "codex-auto --session default", "session": "default", "reason": ""}
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from io import BytesIO
from typing import Any, BinaryIO

from upbeat.adapters.codex.transport import base
from upbeat.adapters.codex_auto.view.show import TurnPrinter
from upbeat.adapters.system.terminal import escape_controls
from upbeat.core.contract.codes import NEEDS_USER_EXIT_CODE
from upbeat.core.contract.report import TurnReport

_STATUS_BY_ENDING = {base.Completed: "completed", base.Failed: "failed", base.Interrupted: "interrupted"}


@dataclass(slots=True)
class JsonLinesPrinter(TurnPrinter):
    """Writes the JSON lines to ``lines_stream``, and limits and failures to ``status_stream``."""

    lines_stream: BinaryIO = field(default_factory=BytesIO)

    def show_prepared(self, report: TurnReport) -> None:
        self.report = report
        self.emit({"type": "upbeat.prepared", "report": report.model_dump(mode="json")})
        self.show_limits(report.limits)

    def show_continuation(self, text: str) -> None:
        self.emit({"type": "upbeat.turn_continued", "text": text})
        TurnPrinter.show_continuation(self, text)

    def show_event(self, event: base.TurnEvent) -> None:
        if not isinstance(event, base.RawLine):
            return
        try:
            is_object = isinstance(json.loads(event.line.decode("utf-8")), dict)
        except (ValueError, RecursionError):
            is_object = False
        if is_object:  # any other output of Codex is dropped
            is_shown = self.lines_stream.isatty()
            self._write_line(escape_controls(event.line.decode("utf-8")).encode() if is_shown else event.line)

    def show_completion(self, used: base.TokenUsage, seconds: float, *, is_whole_session: bool) -> None:
        """Do nothing: Codex's own last line has the counts."""

    def emit_ending(
        self, ending: base.Ending | None, exit_code: int, *, thread_id: str, session: str, resume_command: str
    ) -> None:
        """Write the last line. ``ending`` is None when no turn was run."""
        status = _STATUS_BY_ENDING[type(ending)] if ending else "failed" if exit_code else "completed"
        waits = "needs_user" if exit_code == NEEDS_USER_EXIT_CODE else ""
        self.emit(
            {
                "type": "upbeat.ended",
                "status": status,
                "thread_id": thread_id,
                "exit_code": exit_code,
                "resume_command": resume_command if thread_id else "",
                "session": session,
                "reason": ending.reason.value if isinstance(ending, base.Failed) else waits,
            }
        )

    def emit(self, fields: Mapping[str, Any]) -> None:
        """Write one line of upbeat."""
        self._write_line(escape_controls(json.dumps(fields, ensure_ascii=False, separators=(",", ":"))).encode())

    def _write_line(self, line: bytes) -> None:
        self.lines_stream.write(line + b"\n")
        self.lines_stream.flush()
