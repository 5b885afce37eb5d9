"""Asks the person whether Codex may. Law: no answer is a no; what was typed before the question is no answer.

What the question quotes comes from the model: it is stripped, and shown whole, because half a command is another one.
"""

from __future__ import annotations

import asyncio
import os
import termios
from typing import Protocol

from prompt_toolkit import PromptSession
from prompt_toolkit.input import Input
from prompt_toolkit.input.typeahead import clear_typeahead
from prompt_toolkit.output import Output

from .show import Show, Style, inner_command
from .texts import Texts
from .transport import Approval, Decision, Matter

MOST_LINES = 400
"""Lines of one diff that are shown for an approval; more are not to be judged at a prompt."""

_LETTERS = {
    "y": Decision.ACCEPT,
    "s": Decision.ACCEPT_SESSION,
    "r": Decision.ACCEPT_RULE,
    "n": Decision.DECLINE,
    "a": Decision.CANCEL,
}
_WORDS = {"yes": "y", "是": "y", "session": "s", "always": "s", "no": "n", "否": "n", "abort": "a", "rule": "r"}


class Wakes(Protocol):
    """Something that becomes readable when the person is to be left in peace: the signals to codex-auto."""

    def fileno(self) -> int:
        """Its descriptor."""


class Approvals:
    """Call it with an ``Approval`` to get the ``Decision``. For the thread that reads the events of the turn."""

    def __init__(
        self,
        show: Show,
        texts: Texts,
        signals: Wakes | None = None,
        *,
        given: Input | None = None,
        output: Output | None = None,
    ) -> None:
        self._show = show
        self._texts = texts
        self._signals = signals
        self._input = given
        self._output = output

    def __call__(self, approval: Approval) -> Decision:
        self._tell(approval)
        offered = {letter: choice for letter, choice in _LETTERS.items() if choice in approval.choices}
        if Decision.DECLINE not in offered.values():
            offered["n"] = Decision.DECLINE
        question = " ".join(self._texts.choices[choice] for choice in offered.values())
        session: PromptSession[str | None] = PromptSession(input=self._input, output=self._output)
        _forget_what_was_typed(session.app.input)
        while True:
            try:
                answer = self._read(session, f"{question} › ")
            except KeyboardInterrupt:
                return Decision.CANCEL
            except EOFError:
                return Decision.DECLINE
            if answer is None:  # a signal: the turn sees to it
                return Decision.CANCEL
            word = answer.strip().lower()
            if not word:
                return Decision.DECLINE
            decision = offered.get(_WORDS.get(word, word))
            if decision:
                return decision

    def _tell(self, approval: Approval) -> None:
        texts, show = self._texts, self._show
        show.line(texts.asks[approval.matter.value], Style.BOLD)
        is_command = approval.matter is Matter.COMMAND
        what, mark = (inner_command(approval.what), "$ ") if is_command else (approval.what, "")
        if approval.changes:
            show.changes(approval.changes, MOST_LINES)
        else:
            for line in what.split("\n"):
                show.line(f"  {mark}{line}", Style.BOLD)
                mark = ""
        for label, value in ((texts.asks_in, approval.cwd), (texts.asks_because, approval.reason)):
            if value:
                show.line(f"  {label} {value}", Style.DIM)
        if approval.rule:
            show.line(f"  {texts.asks_rule.format(rule=' '.join(approval.rule))}", Style.DIM)

    def _read(self, session: PromptSession[str | None], question: str) -> str | None:
        """One line of the person's; None when a signal came instead."""
        return session.prompt(question, pre_run=lambda: self._watch_signals(session))

    def _watch_signals(self, session: PromptSession[str | None]) -> None:
        if self._signals is None:
            return
        loop, number = asyncio.get_running_loop(), self._signals.fileno()

        def leave() -> None:
            loop.remove_reader(number)
            if session.app.is_running:
                session.app.exit(result=None)

        loop.add_reader(number, leave)


def _forget_what_was_typed(source: Input) -> None:
    """Drop keys that were pressed while nobody asked: they were not meant for this question."""
    clear_typeahead(source)
    if os.isatty(source.fileno()):
        termios.tcflush(source.fileno(), termios.TCIFLUSH)
