"""Ask the user for approvals.

Invariant: no answer means no, and what was typed before the question does not count. What the question quotes comes
from the model: all of it is displayed, escaped and page by page (``approval_rows``), before a yes is offered, and there
is no yes for a request that does not say exactly what would run, or on a terminal that cannot show it.
"""

from __future__ import annotations

import asyncio
import os
import termios
from collections.abc import Mapping
from dataclasses import replace

from prompt_toolkit import PromptSession
from prompt_toolkit.input import Input
from prompt_toolkit.input.typeahead import clear_typeahead
from prompt_toolkit.output import Output

from upbeat.adapters.codex.transport.base import ApprovalDecision, ApprovalProblem, ApprovalRequest
from upbeat.adapters.codex.transport.signals import SignalHandler
from upbeat.adapters.codex_auto.view.approval_rows import ApprovalRows
from upbeat.adapters.codex_auto.view.show import Style, TurnPrinter
from upbeat.core.sanitize.exact import MIN_COLUMNS, pages

QUESTION_ROWS = 6
"""Rows of the terminal that a page leaves to the question below it."""
_MIN_PAGE_ROWS = 3

_DECISION_BY_LETTER = {
    "y": ApprovalDecision.ACCEPT,
    "s": ApprovalDecision.ACCEPT_SESSION,
    "r": ApprovalDecision.ACCEPT_RULE,
    "n": ApprovalDecision.DECLINE,
    "a": ApprovalDecision.CANCEL,
}
_LETTER_BY_WORD = {
    "yes": "y",
    "是": "y",
    "session": "s",
    "always": "s",
    "no": "n",
    "否": "n",
    "abort": "a",
    "rule": "r",
}


class ApprovalPrompter:
    """Call it with an ``ApprovalRequest`` to get the decision, in the thread that reads the events of the turn."""

    def __init__(
        self,
        printer: TurnPrinter,
        signals: SignalHandler | None = None,
        *,
        input_source: Input | None = None,
        output: Output | None = None,
    ) -> None:
        self._printer = printer
        self._texts = printer.texts
        self._signals = signals
        self._input = input_source
        self._output = output

    def __call__(self, request: ApprovalRequest) -> ApprovalDecision:
        size = self._printer.size
        if size.columns < MIN_COLUMNS or size.lines < QUESTION_ROWS + _MIN_PAGE_ROWS:
            choices = (ApprovalDecision.DECLINE, ApprovalDecision.CANCEL)
            request = replace(request, problem=ApprovalProblem.TOO_SMALL, choices=choices)
        if request.policy_text:
            self._printer.print_line(request.policy_text, Style.RED)
        rows = ApprovalRows(self._texts, size.columns, self._printer.encoding).of(request)
        divided = pages(rows, max(size.lines - QUESTION_ROWS, _MIN_PAGE_ROWS))
        for number, page in enumerate(divided[:-1], 1):
            self._printer.print_rows(page)
            question = self._texts["approval_page"].format(number=number, count=len(divided))
            refusal = self._ask(question, {"": None, "n": ApprovalDecision.DECLINE, "a": ApprovalDecision.CANCEL})
            if refusal:
                return refusal
        self._printer.print_rows(divided[-1])
        offered = {letter: choice for letter, choice in _DECISION_BY_LETTER.items() if choice in request.choices}
        offered["n"] = ApprovalDecision.DECLINE
        labels = " ".join(self._texts.group("decision_labels")[choice] for choice in offered.values())
        return self._ask(labels, {**offered, "": ApprovalDecision.DECLINE}) or ApprovalDecision.DECLINE

    def _ask(self, question: str, offered: Mapping[str, ApprovalDecision | None]) -> ApprovalDecision | None:
        """Ask until the answer is a word of ``offered``; return what it means."""
        session: PromptSession[str | None] = PromptSession(input=self._input, output=self._output)
        clear_typeahead(session.app.input)  # keys that were pressed before the question were not meant for it
        if os.isatty(session.app.input.fileno()):
            termios.tcflush(session.app.input.fileno(), termios.TCIFLUSH)
        while True:
            answer = self._read_answer(session, question)
            if isinstance(answer, ApprovalDecision):
                return answer
            word = answer.strip().lower()
            word = _LETTER_BY_WORD.get(word, word)
            if word in offered:
                return offered[word]

    def _read_answer(self, session: PromptSession[str | None], question: str) -> str | ApprovalDecision:
        """Return the line that the user enters, or what ending the input means."""
        try:
            answer = session.prompt(f"{question} › ", pre_run=lambda: self._watch_signals(session))
        except KeyboardInterrupt:
            return ApprovalDecision.CANCEL
        except EOFError:
            return ApprovalDecision.DECLINE
        return ApprovalDecision.CANCEL if answer is None else answer  # None: a signal, which the turn handles

    def _watch_signals(self, session: PromptSession[str | None]) -> None:
        if self._signals is None:
            return
        loop, number = asyncio.get_running_loop(), self._signals.fileno()

        def leave() -> None:
            loop.remove_reader(number)
            if session.app.is_running:
                session.app.exit(result=None)

        loop.add_reader(number, leave)
