"""Print a turn for the user: short lines, in the order of events.

Invariant: nothing that Codex, a model or a tool wrote reaches the terminal without ``strip_controls``; commands, paths
and changes are escaped instead, because a character that a terminal hides is an ordinary one to a shell. The answer
goes to one stream and everything else to another, so a script gets the answer alone.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TextIO

from upbeat.adapters.codex.tools import unwrap_shell_command
from upbeat.adapters.codex.transport import base
from upbeat.adapters.codex_auto.texts import Texts
from upbeat.core.contract.codes import QUIET_LIMITS
from upbeat.core.contract.report import Limit, TurnReport
from upbeat.core.messages.layout import clip_to_width, wrap_to_width
from upbeat.core.sanitize.control_chars import strip_controls
from upbeat.core.sanitize.exact import escape_exactly

MAX_DIFF_LINES = 24
"""Lines of one diff that are shown during a turn."""
TAIL_LINES = 5
REASONING_LINES = 3
MARKDOWN_COLUMNS = 60
"""A narrower terminal shows Markdown as source text."""
_DEFAULT_WIDTH = 80
_DEFAULT_HEIGHT = 24
_HUNK = re.compile(r"@@ [^@]*@@")
MARK_BY_KIND = {"add": "+", "update": "~", "delete": "-"}
_MARK_BY_STATUS = {"completed": "☑", "inProgress": "▸"}


class Style:
    """The style of a line, as the parameter of an ECMA-48 SGR sequence."""

    PLAIN = ""
    DIM = "2"
    BOLD = "1"
    RED = "31"
    GREEN = "32"
    CYAN = "36"


@dataclass(slots=True)
class TurnPrinter:
    """Writes the model's messages to ``answer_stream``, the rest to ``status_stream``. Paths are relative to ``root``.

    If both streams are one terminal, an answer is printed while it is written; otherwise each message when it is
    complete.
    """

    answer_stream: TextIO
    status_stream: TextIO
    texts: Texts
    has_color: bool = False
    root: str = ""
    _shown_commands: set[str] = field(default_factory=set)
    """Item ids of commands that were printed."""
    window_usage: base.WindowUsage | None = None
    """The context-window usage that Codex reported last."""
    report: TurnReport | None = None
    """The report of the last turn."""
    _last_reconnect: str = ""
    _message_count: int = 0
    _streaming_item_id: str = ""
    _streamed: str = ""
    """What was printed so far of the message ``_streaming_item_id``."""
    _is_line_open: bool = False
    """Whether the current line has the start of a message."""
    _is_in_answer: bool | None = None
    """Whether the last line was part of an answer; None before the first line of a turn."""

    # --- before a turn ---

    def show_prepared(self, report: TurnReport) -> None:
        """Print what was looked up for the turn, and its limits."""
        self.report = report
        if report.fused_context.for_user.results_text:
            self.print_line(report.fused_context.for_user.results_text, Style.DIM)
        self.show_limits(report.limits)
        if report.degraded.is_degraded:
            self.print_line(f"[Limits] degraded to {report.degraded.degraded_to}", Style.DIM)

    def show_limits(self, limits: Iterable[Limit]) -> None:
        """Print each limit on its own line, except the reason of a turn that needs nothing."""
        for limit in limits:
            if limit.code not in QUIET_LIMITS:
                self.print_line(f"[Limits] {limit.text}", Style.DIM)

    def show_continuation(self, text: str) -> None:
        """Print that another turn follows automatically, with the first line of its prompt."""
        self.print_line(self.texts["continuation"].format(text=text.partition("\n")[0]), Style.CYAN)

    # --- during a turn ---

    def begin_turn(self) -> None:
        """Reset what belongs to the previous turn."""
        self._shown_commands.clear()
        self._last_reconnect = ""
        self._message_count = 0
        self._streaming_item_id = self._streamed = ""
        self._is_in_answer = None

    def show_event(self, event: base.TurnEvent) -> None:
        """Print one event of the turn; ``show_failure`` and ``show_completion`` print its ending."""
        match event:
            case base.Message():
                self._print_message(event)
            case base.Delta() if self._is_one_terminal:
                self._print_delta(event)
            case base.Reasoning():
                self._print_block(event.text, REASONING_LINES, is_tail=False)
            case base.ItemStarted() if event.label:
                self._shown_commands.add(event.item_id)
                self._print_command(event.label)
            case base.CommandFinished():
                self._print_command_result(event)
            case base.FilesChanged():
                self.show_diffs(event.diffs, note=f" ({self.texts['files_failed']})" if event.has_failed else "")
            case base.ToolCall():
                if event.item_id not in self._shown_commands:
                    self._print_command(event.tool)
                if event.error:
                    self.print_line(f"  {self.texts['tool_failed'].format(reason=event.error)}", Style.RED)
            case base.WarningIssued():
                self.print_line(f"! {event.text}", Style.DIM)
            case base.Reconnecting():
                self._last_reconnect = event.text
                self.print_line(f"… {event.text}", Style.DIM)
            case _:
                self._print_note(event)

    def show_failure(self, failure: base.Failed, thread_id: str) -> None:
        """Print why a turn failed, and what to do about it."""
        seconds = failure.text if failure.reason is base.FailureReason.IDLE_TIMEOUT else ""
        reason = self.texts.group("failure_reasons")[failure.reason].format(thread=thread_id, seconds=seconds)
        self.print_line(self.texts["failed"].format(reason=reason), Style.RED)
        if failure.text and not seconds and failure.text != self._last_reconnect:
            for line in strip_controls(failure.text).split("\n"):
                self.print_line(f"  {line}", Style.RED)

    def show_completion(self, used: base.TokenUsage, seconds: float, *, is_whole_session: bool) -> None:
        """Print the token counts and the duration of a completed turn."""
        if not self._message_count:
            self.print_line(self.texts["no_answer"])
        sentence = self.texts["usage_total"] if is_whole_session else self.texts["usage"]
        counts = {"input": used.input_tokens, "cached": used.cached_input_tokens, "output": used.output_tokens}
        self.print_line(
            sentence.format(**{k: f"{v:,}" for k, v in counts.items()}, seconds=f"{seconds:.1f}"), Style.DIM
        )

    def emit_ending(
        self, ending: base.Ending | None, exit_code: int, *, thread_id: str, session: str, resume_command: str
    ) -> None:
        """Write the last line for a program that reads JSON lines; a user needs none."""

    def show_diffs(self, diffs: Iterable[base.FileDiff], max_lines: int = MAX_DIFF_LINES, note: str = "") -> None:
        """Print each changed file with at most ``max_lines`` lines of its diff; ``note`` follows the names."""
        for change in diffs:
            diff = render_diff(change, max_lines)
            is_inside = self.root and change.path.startswith(self.root.rstrip("/") + "/")
            path = escape_exactly(os.path.relpath(change.path, self.root) if is_inside else change.path)
            moved = f" → {escape_exactly(change.new_path)}" if change.new_path else ""
            counts = f" (+{diff.added} -{diff.removed})" if diff.lines else ""
            head = f"{MARK_BY_KIND.get(change.kind, '?')} {path}{moved}{counts}{note}"
            self._print_clipped(head, Style.RED if note else Style.BOLD)
            for style, text in diff.lines:
                self._print_clipped(f"  {escape_exactly(text.expandtabs(4))}", style)
            if diff.omitted:
                self.print_line("  " + self.texts["more_lines_after"].format(count=diff.omitted), Style.DIM)

    # --- lines ---

    @property
    def encoding(self) -> str:
        """The encoding of the status stream."""
        return self.status_stream.encoding or "utf-8"

    @property
    def size(self) -> os.terminal_size:
        """The columns and rows of the terminal of the status stream; where it is none, there is always room."""
        try:
            size = os.get_terminal_size(self.status_stream.fileno())
        except (OSError, ValueError):
            return os.terminal_size((_DEFAULT_WIDTH, 10**9))
        return os.terminal_size((size.columns or _DEFAULT_WIDTH, size.lines or _DEFAULT_HEIGHT))

    def print_rows(self, rows: Iterable[tuple[str, str]]) -> None:
        """Print rows of (style, text) as they are: they are escaped, and fit the terminal."""
        for style, text in rows:
            self._write(self.status_stream, text, style)

    def print_lines(self, lines: Iterable[str]) -> None:
        """Print each of ``lines``, clipped to the width of the terminal."""
        for line in lines:
            self._print_clipped(line, Style.PLAIN)

    def print_line(self, text: str, style: str = Style.PLAIN) -> None:
        """Print ``text`` to the status stream, without control characters."""
        text = strip_controls(text)
        self._write(
            self.status_stream,
            wrap_to_width(text, _terminal_width(self.status_stream)) if self.status_stream.isatty() else text,
            style,
        )

    def _print_message(self, message: base.Message) -> None:
        self._message_count += 1
        text, width = strip_controls(message.text), _terminal_width(self.answer_stream)
        if message.item_id and message.item_id == self._streaming_item_id and text.startswith(self._streamed):
            self._print_piece(text[len(self._streamed) :])
            self._close_line()
        elif text.strip() and self.has_color and self._is_one_terminal and width >= MARKDOWN_COLUMNS:
            from upbeat.adapters.codex_auto.view.markdown import render_markdown

            self._switch_stream(is_answer=True)
            self.answer_stream.write(render_markdown(text, width))
            self.answer_stream.flush()
        else:
            self._write(self.answer_stream, text, Style.PLAIN, is_answer=True)
        self._streaming_item_id = self._streamed = ""

    def _print_delta(self, delta: base.Delta) -> None:
        if delta.item_id != self._streaming_item_id:
            self._close_line()
            self._streaming_item_id, self._streamed = delta.item_id, ""
        text = strip_controls(delta.text)
        self._streamed += text
        self._print_piece(text)

    def _print_piece(self, text: str) -> None:
        """Print a piece of a message immediately; the terminal wraps it."""
        if text:
            if not self._is_line_open:
                self._switch_stream(is_answer=True)
            self.answer_stream.write(text)
            self.answer_stream.flush()
            self._is_line_open = not text.endswith("\n")

    def _close_line(self) -> None:
        if self._is_line_open:
            self._is_line_open = False
            self.answer_stream.write("\n")
            self.answer_stream.flush()

    def _switch_stream(self, *, is_answer: bool) -> None:
        """Separate answers from the rest by a blank line if both go to one terminal."""
        if self._is_one_terminal and self._is_in_answer not in (None, is_answer):
            self.status_stream.write("\n")
        self._is_in_answer = is_answer

    def _print_note(self, event: base.TurnEvent) -> None:
        """Print an event that takes one line."""
        match event:
            case base.WindowUsage():
                self.window_usage = event
            case base.ThreadCompacted():
                self.print_line(self.texts["compacted"], Style.DIM)
            case base.PlanUpdated():
                for step in event.steps:
                    self._print_clipped(f"{_MARK_BY_STATUS.get(step.status, '☐')} {step.text}", Style.DIM)
            case base.ApprovalDecided() if not event.is_by_person:
                what = self.texts.group("approval_questions")[event.request.kind.value]
                self.print_line(
                    f"! {self.texts['declined_unasked']} {what} {escape_exactly(event.request.subject)}", Style.DIM
                )
            case base.ApprovalDecided() if event.decision is base.ApprovalDecision.DECLINE:
                self.print_line(f"  {self.texts['declined']}", Style.DIM)
            case base.TransportNotice():
                self.print_line(f"! {self.texts.group('transport_notices')[event.kind]}", Style.DIM)
            case _:
                return

    def _print_command(self, line: str) -> None:
        script = " ⏎ ".join(map(escape_exactly, unwrap_shell_command(line).expandtabs(4).split("\n")))
        self._print_clipped(f"$ {script}", Style.BOLD)

    def _print_command_result(self, run: base.CommandFinished) -> None:
        if run.item_id not in self._shown_commands:
            self._print_command(run.command)
        self._print_block(run.output, TAIL_LINES, is_tail=True)
        if run.is_declined:
            self.print_line(f"  {self.texts['not_run']}", Style.DIM)
        elif run.exit_code is None:
            self.print_line(f"  {self.texts['no_exit_code']}", Style.RED)
        elif run.exit_code:
            self.print_line(f"  {self.texts['exit_code'].format(code=run.exit_code)}", Style.RED)

    def _print_block(self, text: str, max_lines: int, *, is_tail: bool) -> None:
        lines = [line for line in strip_controls(text).split("\n") if line.strip()]
        if is_tail and len(lines) > max_lines:
            self.print_line("  " + self.texts["more_lines"].format(count=len(lines) - max_lines), Style.DIM)
        for line in lines[-max_lines:] if is_tail else lines[:max_lines]:
            self._print_clipped(f"  {line}", Style.DIM)

    def _print_clipped(self, text: str, style: str) -> None:
        flat = strip_controls(text).replace("\n", " ⏎ ").expandtabs(4)
        self._write(self.status_stream, clip_to_width(flat, _terminal_width(self.status_stream)), style)

    def _write(self, stream: TextIO, text: str, style: str, *, is_answer: bool = False) -> None:
        self._close_line()
        self._switch_stream(is_answer=is_answer)
        colored = self.has_color and style and text
        stream.write(f"\x1b[{style}m{text}\x1b[0m\n" if colored else f"{text}\n")
        stream.flush()

    @property
    def _is_one_terminal(self) -> bool:
        return self.answer_stream is self.status_stream


def _terminal_width(stream: TextIO) -> int:
    try:
        return os.get_terminal_size(stream.fileno()).columns or _DEFAULT_WIDTH
    except (OSError, ValueError):
        return _DEFAULT_WIDTH


@dataclass(frozen=True, slots=True)
class RenderedDiff:
    """Lines with their styles, how many were omitted, and how many lines the whole change adds and removes."""

    lines: tuple[tuple[str, str], ...]
    omitted: int
    added: int
    removed: int


def render_diff(file_diff: base.FileDiff, max_lines: int = MAX_DIFF_LINES) -> RenderedDiff:
    """Render ``file_diff``; the diff of a new or deleted file is its content."""
    text = file_diff.diff.removesuffix("\n")
    if not text:
        return RenderedDiff((), 0, 0, 0)
    whole_style = {"add": Style.GREEN, "delete": Style.RED}.get(file_diff.kind)
    lines = text.split("\n")
    if whole_style and not any(_HUNK.match(line) for line in lines):
        styled = [(whole_style, f"{'+' if whole_style is Style.GREEN else '-'}{line}") for line in lines]
    else:
        first = next((number for number, line in enumerate(lines) if _HUNK.match(line)), 0)
        styled = [(line_style(line), line) for line in lines[first:]]  # what precedes repeats the file name
    styles = [style for style, _ in styled]
    return RenderedDiff(
        tuple(styled[:max_lines]),
        max(len(styled) - max_lines, 0),
        styles.count(Style.GREEN),
        styles.count(Style.RED),
    )


def line_style(line: str) -> str:
    """Return the style of one line of a unified diff."""
    if _HUNK.match(line):
        return Style.CYAN
    return {"+": Style.GREEN, "-": Style.RED}.get(line[:1], Style.DIM)
