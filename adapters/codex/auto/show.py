"""A turn as a person sees it: small lines, in the order in which things happen.

Law: nothing that Codex, a model or a tool wrote reaches the terminal without ``strip``. The answer goes to one
stream and everything else to another, so that a script gets the answer alone.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TextIO

from ....core.columns import columns as columns_of
from ....core.contract.report import Limit, TurnReport
from ....core.turn.strip import strip
from .render_diff import MOST_LINES, Side, diff_of
from .texts import Texts
from .transport import (
    Answered,
    Began,
    Change,
    CommandRun,
    Compacted,
    ContextUsed,
    Decision,
    Delta,
    Event,
    Failed,
    FileChange,
    Message,
    Planned,
    Reasoning,
    ToolCall,
    TransportNote,
    Trouble,
    Usage,
    Warned,
    Why,
)

TAIL_LINES = 5
REASONING_LINES = 3
MARKDOWN_COLUMNS = 60
"""On a narrower terminal Markdown is easier to read as it is written."""
_DEFAULT_WIDTH = 80
_WORD = re.compile(r"[\u2e80-\ua4cf\uac00-\ud7a3\uff00-\uff60] *|[^ \u2e80-\ua4cf\uac00-\ud7a3\uff00-\uff60]+ *| +")
"""What a line is broken behind: a word, or a character of a script that has no spaces."""
_MARKS = {"add": "+", "update": "~", "delete": "-"}
_STEPS = {"completed": "☑", "inProgress": "▸"}
_SHELLS = ("bash", "sh", "zsh")


class Style:
    """How a line looks, as the parameter of an ECMA-48 SGR sequence."""

    PLAIN = ""
    DIM = "2"
    BOLD = "1"
    RED = "31"
    GREEN = "32"
    CYAN = "36"


_SIDES = {Side.ADDED: Style.GREEN, Side.REMOVED: Style.RED, Side.PLACE: Style.CYAN, Side.SAME: Style.DIM}


@dataclass(slots=True)
class Show:
    """Writes to ``answer`` what the model says, to ``aside`` the rest. ``root`` is taken off file names.

    Where both are one terminal, an answer is shown while it is written; elsewhere, each message when it is whole.
    """

    answer: TextIO
    aside: TextIO
    texts: Texts
    color: bool = False
    root: str = ""
    _commands: set[str] = field(default_factory=set)
    """Commands whose line has been shown, by their item."""
    context_used: ContextUsed | None = None
    """What the thread took of the model's window when that was last told."""
    report: TurnReport | None = None
    """What the last turn was given."""
    _trouble: str = ""
    _messages: int = 0
    _item: str = ""
    _streamed: str = ""
    """What has been shown so far of the message ``_item``."""
    _is_open: bool = False
    """The terminal's line has the beginning of a message on it."""
    _in_answer: bool | None = None
    """Whether the last line was of an answer; None when there was none in this turn."""

    # --- before a turn ---

    def prepared(self, report: TurnReport) -> None:
        """What was looked up for the turn, and what limited it."""
        self.report = report
        if report.tool_results:
            self.line(report.fused_context.for_user.results_text, Style.DIM)
        self.limits(report.limits)
        if report.degraded.is_degraded:
            # its reason is one of the limits, and stands above
            self.line(f"[Limits] degraded to {report.degraded.degraded_to}", Style.DIM)

    def limits(self, limits: Iterable[Limit]) -> None:
        """Each limit on a line of its own."""
        for limit in limits:
            self.line(f"[Limits] {limit.text}", Style.DIM)

    def goes_on(self, text: str) -> None:
        """That another turn follows by itself; of what it is asked, the first line."""
        self.line(self.texts.goes_on.format(text=text.partition("\n")[0]), Style.CYAN)

    # --- during a turn ---

    def begin(self) -> None:
        """Forget the turn before."""
        self._commands.clear()
        self._trouble = ""
        self._messages = 0
        self._item = self._streamed = ""
        self._in_answer = None

    def event(self, event: Event) -> None:
        """One event of the turn; endings are shown by ``failed`` and ``usage``."""
        match event:
            case Message():
                self._message(event)
            case Delta() if self._is_one_terminal:
                self._delta(event)
            case Reasoning():
                self._block(event.text, REASONING_LINES, from_end=False)
            case Began() if event.what:
                self._commands.add(event.item)
                self._command(event.what)
            case CommandRun():
                self._command_run(event)
            case FileChange():
                self._files(event)
            case ToolCall():
                self._tool(event)
            case Warned():
                self.line(f"! {event.text}", Style.DIM)
            case Trouble():
                self._trouble = event.text
                self.line(f"… {event.text}", Style.DIM)
            case _:
                self._note(event)

    def failed(self, failed: Failed, thread_id: str) -> None:
        """Why a turn came to nothing, and the way out."""
        seconds = failed.text if failed.why is Why.SILENT else ""
        reason = self.texts.why[failed.why].format(thread=thread_id, seconds=seconds)
        self.line(self.texts.failed.format(reason=reason), Style.RED)
        if failed.text and not seconds and failed.text != self._trouble:
            for line in strip(failed.text).split("\n"):
                self.line(f"  {line}", Style.RED)

    def completed(self, used: Usage, seconds: float, *, whole_session: bool) -> None:
        """That a turn is over, and what it took."""
        if not self._messages:
            self.line(self.texts.no_answer)
        sentence = self.texts.usage_total if whole_session else self.texts.usage
        counts = {"input": used.input_tokens, "cached": used.cached_input_tokens, "output": used.output_tokens}
        self.line(sentence.format(**{k: f"{v:,}" for k, v in counts.items()}, seconds=f"{seconds:.1f}"), Style.DIM)

    def changes(self, changes: Iterable[Change], most: int = MOST_LINES, note: str = "") -> None:
        """Each changed file, and as much of what changed in it; ``note`` stands behind the names."""
        for change in changes:
            diff = diff_of(change, most)
            path = os.path.relpath(change.path, self.root) if self._is_inside(change.path) else change.path
            counts = f" (+{diff.added} -{diff.removed})" if diff.lines else ""
            self._clipped(f"{_MARKS.get(change.kind, '?')} {path}{counts}{note}", Style.RED if note else Style.BOLD)
            for side, text in diff.lines:
                self._clipped(f"  {text}", _SIDES[side])
            if diff.left_out:
                self.line("  " + self.texts.more_lines_after.format(count=diff.left_out), Style.DIM)

    # --- lines ---

    def lines(self, lines: Iterable[str]) -> None:
        """Each of ``lines``, cut to the width of the terminal."""
        for line in lines:
            self._clipped(line, Style.PLAIN)

    def line(self, text: str, style: str = Style.PLAIN) -> None:
        """``text`` beside the answer; made harmless first, whoever wrote it."""
        text = strip(text)
        self._write(self.aside, wrapped(text, _width(self.aside)) if self.aside.isatty() else text, style)

    def _message(self, message: Message) -> None:
        self._messages += 1
        text = strip(message.text)
        if message.item and message.item == self._item and text.startswith(self._streamed):
            self._piece(text[len(self._streamed) :])
            self._close_line()
        elif text.strip() and self._lays_out():
            from .render_markdown import render

            self._turn_to(is_answer=True)
            self.answer.write(render(text, _width(self.answer)))
            self.answer.flush()
        else:
            self._write(self.answer, text, Style.PLAIN, is_answer=True)
        self._item = self._streamed = ""

    def _delta(self, delta: Delta) -> None:
        if delta.item != self._item:
            self._close_line()
            self._item, self._streamed = delta.item, ""
        text = strip(delta.text)
        self._streamed += text
        self._piece(text)

    def _piece(self, text: str) -> None:
        """A piece of a message, at once and as it stands; the terminal breaks its lines."""
        if text:
            if not self._is_open:
                self._turn_to(is_answer=True)
            self.answer.write(text)
            self.answer.flush()
            self._is_open = not text.endswith("\n")

    def _close_line(self) -> None:
        if self._is_open:
            self._is_open = False
            self.answer.write("\n")
            self.answer.flush()

    def _turn_to(self, *, is_answer: bool) -> None:
        """On one terminal, a blank line stands between answers and the rest."""
        if self._is_one_terminal and self._in_answer not in (None, is_answer):
            self.aside.write("\n")
        self._in_answer = is_answer

    def _note(self, event: Event) -> None:
        """Events that say one thing."""
        match event:
            case ContextUsed():
                self.context_used = event
            case Compacted():
                self.line(self.texts.compacted, Style.DIM)
            case Planned():
                for step in event.steps:
                    self._clipped(f"{_STEPS.get(step.status, '☐')} {step.text}", Style.DIM)
            case Answered() if not event.by_person:
                what = self.texts.asks[event.approval.matter.value]
                self.line(f"! {self.texts.nobody_asked} {what} {event.approval.what}", Style.DIM)
            case Answered() if event.decision is Decision.DECLINE:
                self.line(f"  {self.texts.declined}", Style.DIM)
            case TransportNote():
                self.line(f"! {self.texts.notices[event.notice]}", Style.DIM)
            case _:
                return

    def _command(self, line: str) -> None:
        self._clipped(f"$ {inner_command(line)}", Style.BOLD)

    def _command_run(self, run: CommandRun) -> None:
        if run.item not in self._commands:
            self._command(run.command)
        self._block(run.output, TAIL_LINES, from_end=True)
        if run.declined:
            self.line(f"  {self.texts.not_run}", Style.DIM)
        elif run.exit_code is None:
            self.line(f"  {self.texts.no_exit_code}", Style.RED)
        elif run.exit_code:
            self.line(f"  {self.texts.exit_code.format(code=run.exit_code)}", Style.RED)

    def _files(self, change: FileChange) -> None:
        self.changes(change.changes, note=f" ({self.texts.files_failed})" if change.failed else "")

    def _tool(self, call: ToolCall) -> None:
        if call.item not in self._commands:
            self._command(call.tool)
        if call.error:
            self.line(f"  {self.texts.tool_failed.format(reason=call.error)}", Style.RED)

    def _block(self, text: str, most: int, *, from_end: bool) -> None:
        lines = [line for line in strip(text).split("\n") if line.strip()]
        if from_end and len(lines) > most:
            self.line("  " + self.texts.more_lines.format(count=len(lines) - most), Style.DIM)
        for line in lines[-most:] if from_end else lines[:most]:
            self._clipped(f"  {line}", Style.DIM)

    def _clipped(self, text: str, style: str) -> None:
        flat = strip(text).replace("\n", " ⏎ ").expandtabs(4)
        self._write(self.aside, clip(flat, _width(self.aside)), style)

    def _write(self, stream: TextIO, text: str, style: str, *, is_answer: bool = False) -> None:
        self._close_line()
        self._turn_to(is_answer=is_answer)
        colored = self.color and style and text
        stream.write(f"\x1b[{style}m{text}\x1b[0m\n" if colored else f"{text}\n")
        stream.flush()

    @property
    def _is_one_terminal(self) -> bool:
        return self.answer is self.aside

    def _lays_out(self) -> bool:
        return self.color and self._is_one_terminal and _width(self.answer) >= MARKDOWN_COLUMNS

    def _is_inside(self, path: str) -> bool:
        return bool(self.root) and path.startswith(self.root.rstrip("/") + "/")


def clip(text: str, width: int) -> str:
    """``text`` in at most ``width`` columns of a terminal; what was cut ends in ``…``."""
    columns = 0
    fits = 0
    for position, char in enumerate(text):
        columns += columns_of(char)
        if columns <= width - 1:
            fits = position + 1
        if columns > width:
            return text[:fits] + "…"
    return text


def wrapped(text: str, width: int) -> str:
    """``text`` with its longer lines broken between words; a word that is too long is left to the terminal."""
    return "\n".join(part for line in text.split("\n") for part in _broken(line, width))


def _broken(line: str, width: int) -> Iterator[str]:
    start = at = columns = 0
    for word in _WORD.findall(line):
        size = columns_of(word.rstrip(" "))
        if columns + size > width and at > start:
            yield line[start:at].rstrip(" ")
            start, columns = at, 0
        columns += size + len(word) - len(word.rstrip(" "))
        at += len(word)
    yield line[start:]


def _width(stream: TextIO) -> int:
    try:
        return os.get_terminal_size(stream.fileno()).columns or _DEFAULT_WIDTH
    except (OSError, ValueError):
        return _DEFAULT_WIDTH


def inner_command(line: str) -> str:
    """The command that a shell was started for: ``/bin/bash -lc 'ls'`` is ``ls``."""
    try:
        words = shlex.split(line)
    except ValueError:
        return line
    is_shell = len(words) == 3 and os.path.basename(words[0]) in _SHELLS and words[1] in ("-c", "-lc")
    return words[2] if is_shell else line
