"""Ask the user for approvals.

Invariant: no answer means no, and what was typed before the question does not count. What the question quotes comes
from the model: control characters are stripped, and it is shown completely, because half a command is another command.
"""

from __future__ import annotations

import asyncio
import os
import termios

from prompt_toolkit import PromptSession
from prompt_toolkit.input import Input
from prompt_toolkit.input.typeahead import clear_typeahead
from prompt_toolkit.output import Output

from upbeat.adapters.codex.tools import unwrap_shell_command
from upbeat.adapters.codex.transport.base import ApprovalDecision, ApprovalKind, ApprovalRequest
from upbeat.adapters.codex.transport.signals import SignalHandler
from upbeat.adapters.codex_auto.view.show import Style, TurnPrinter

MAX_APPROVAL_DIFF_LINES = 400
"""Lines of one diff that are shown for an approval."""

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
        self._print_request(request)
        offered = {letter: choice for letter, choice in _DECISION_BY_LETTER.items() if choice in request.choices}
        if ApprovalDecision.DECLINE not in offered.values():
            offered["n"] = ApprovalDecision.DECLINE
        question = " ".join(self._texts.group("decision_labels")[choice] for choice in offered.values())
        session: PromptSession[str | None] = PromptSession(input=self._input, output=self._output)
        clear_typeahead(session.app.input)  # keys that were pressed before the question were not meant for it
        if os.isatty(session.app.input.fileno()):
            termios.tcflush(session.app.input.fileno(), termios.TCIFLUSH)
        while True:
            try:
                answer = session.prompt(f"{question} › ", pre_run=lambda: self._watch_signals(session))
            except KeyboardInterrupt:
                return ApprovalDecision.CANCEL
            except EOFError:
                return ApprovalDecision.DECLINE
            if answer is None:  # a signal: the turn handles it
                return ApprovalDecision.CANCEL
            word = answer.strip().lower()
            if not word:
                return ApprovalDecision.DECLINE
            decision = offered.get(_LETTER_BY_WORD.get(word, word))
            if decision:
                return decision

    def _print_request(self, request: ApprovalRequest) -> None:
        texts, show = self._texts, self._printer
        show.print_line(texts.group("approval_questions")[request.kind.value], Style.BOLD)
        is_command = request.kind is ApprovalKind.COMMAND
        what, mark = (unwrap_shell_command(request.subject), "$ ") if is_command else (request.subject, "")
        if request.diffs:
            show.show_diffs(request.diffs, MAX_APPROVAL_DIFF_LINES)
        else:
            for line in what.split("\n"):
                show.print_line(f"  {mark}{line}", Style.BOLD)
                mark = ""
        for label, value in ((texts["approval_cwd"], request.cwd), (texts["approval_reason"], request.reason)):
            if value:
                show.print_line(f"  {label} {value}", Style.DIM)
        if request.allowed_prefix:
            show.print_line(f"  {texts['approval_rule'].format(rule=' '.join(request.allowed_prefix))}", Style.DIM)

    def _watch_signals(self, session: PromptSession[str | None]) -> None:
        if self._signals is None:
            return
        loop, number = asyncio.get_running_loop(), self._signals.fileno()

        def leave() -> None:
            loop.remove_reader(number)
            if session.app.is_running:
                session.app.exit(result=None)

        loop.add_reader(number, leave)
