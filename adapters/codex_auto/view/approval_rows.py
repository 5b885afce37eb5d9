"""Lay out an approval request: every character of what would run, in rows that fit the terminal.

Invariant: unwrapped and decoded, the rows are the texts of the request (``core/sanitize/exact``). A row begins
with a mark or a label of codex-auto, never with a text of the request, so no text can pass for another one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from upbeat.adapters.codex.transport.base import ApprovalDecision, ApprovalKind, ApprovalRequest, FileDiff
from upbeat.adapters.codex_auto.texts import Texts
from upbeat.adapters.codex_auto.view.show import MARK_BY_KIND, Style, line_style
from upbeat.core.messages.layout import wrap_to_width
from upbeat.core.sanitize.exact import DEFAULT_MARKS, Marks, exact_rows

StyledRow = tuple[str, str]
"""A style and a row."""

_COMMAND_MARKS = Marks("  $ ")
_DIFF_MARKS = Marks("  | ", "  | ")
_CONTENT_MARKS = {"add": Marks("  |+", "  |+"), "delete": Marks("  |-", "  |-")}
_CONTENT_STYLES = {"add": Style.GREEN, "delete": Style.RED}


class ApprovalRows:
    """Lays out requests for a terminal with so many ``columns``; what ``encoding`` lacks is escaped."""

    def __init__(self, texts: Texts, columns: int, encoding: str) -> None:
        self._texts = texts
        self._columns = columns
        self._encoding = encoding

    def of(self, request: ApprovalRequest) -> list[StyledRow]:
        """Return the rows of ``request``, with what each lasting yes would store."""
        rows = [*self._own_text(self._texts.group("approval_questions")[request.kind.value], Style.BOLD)]
        if request.diffs:
            for change in request.diffs:
                rows += self._change(change)
        else:
            marks = _COMMAND_MARKS if request.kind is ApprovalKind.COMMAND else DEFAULT_MARKS
            rows += self._exact(request.subject, Style.BOLD, marks)
        rows += self._about(request)
        rows += self._lasting(request)
        if any(row.startswith(DEFAULT_MARKS.folded) or "\\u{" in row for _style, row in rows):
            rows += self._own_text(self._texts["approval_folded"], Style.DIM)
        if request.problem:
            reason = self._texts.group("approval_problems")[request.problem.value]
            rows += self._own_text(self._texts["approval_only_no"].format(reason=reason), Style.RED)
        return rows

    def _about(self, request: ApprovalRequest) -> Iterator[StyledRow]:
        named = (
            ("approval_program", request.program),
            ("approval_cwd", request.cwd),
            ("approval_reason", request.reason),
        )
        for key, value in named:
            if value:
                yield from self._exact(value, Style.DIM, Marks(f"  {self._texts[key]} "))
        for name, value in request.details:
            yield from self._exact(name, Style.BOLD, Marks("  # ", "  # "))
            yield from self._exact(value, Style.PLAIN, DEFAULT_MARKS)

    def _lasting(self, request: ApprovalRequest) -> Iterator[StyledRow]:
        if any(name == "grantRoot" and value != "null" for name, value in request.details):
            yield from self._own_text(self._texts["approval_granted_root"], Style.RED)
        if ApprovalDecision.ACCEPT_SESSION in request.choices:
            yield from self._own_text(self._texts.group("session_rules")[request.kind.value], Style.DIM)
        if ApprovalDecision.ACCEPT_RULE in request.choices:
            yield from self._own_text(self._texts["approval_rule"], Style.DIM)
            yield from self._exact(stored_rule(request.allowed_prefix), Style.BOLD, DEFAULT_MARKS)

    def _change(self, change: FileDiff) -> Iterator[StyledRow]:
        yield from self._exact(change.path, Style.BOLD, Marks(f"  {MARK_BY_KIND.get(change.kind, '?')} "))
        if change.new_path:
            yield from self._own_text(self._texts["approval_moved"], Style.DIM)
            yield from self._exact(change.new_path, Style.BOLD, DEFAULT_MARKS)
        if not change.diff:
            return
        marks = _CONTENT_MARKS.get(change.kind, _DIFF_MARKS)
        for line in change.diff.removesuffix("\n").split("\n"):
            yield from self._exact(line, _CONTENT_STYLES.get(change.kind) or line_style(line), marks)
        if not change.diff.endswith("\n"):
            yield from self._own_text(self._texts["approval_no_line_end"], Style.DIM)

    def _exact(self, text: str, style: str, marks: Marks) -> Iterator[StyledRow]:
        for row in exact_rows(text, self._columns, marks, self._encoding):
            yield style, row

    def _own_text(self, text: str, style: str) -> Sequence[StyledRow]:
        return [(style, row) for row in wrap_to_width(text, self._columns).split("\n")]


def stored_rule(words: Sequence[str]) -> str:
    """Return the line that Codex appends to its rules, as it writes it."""
    return f'prefix_rule(pattern={json.dumps(list(words), ensure_ascii=False)}, decision="allow")'
