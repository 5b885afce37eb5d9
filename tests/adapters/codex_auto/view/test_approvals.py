"""Approvals: what is shown, which answers mean yes, and that nothing else does."""

from __future__ import annotations

import os
import termios
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from threading import Timer

import pytest
from case_files import read_cases
from fakes.codex.conversation import CHINESE, ENGLISH
from prompt_toolkit.input import PipeInput, create_pipe_input
from prompt_toolkit.output import DummyOutput

from upbeat.adapters.codex.transport.base import ApprovalDecision, ApprovalKind, ApprovalRequest, FileDiff
from upbeat.adapters.codex_auto.texts import Texts
from upbeat.adapters.codex_auto.view.approvals import ApprovalPrompter
from upbeat.adapters.codex_auto.view.show import TurnPrinter

ALL = tuple(ApprovalDecision)
COMMAND = ApprovalRequest(
    ApprovalKind.COMMAND, "rm -r build", "/repo", "clean up", choices=ALL, allowed_prefix=("rm", "-r")
)


@pytest.fixture
def keys() -> Iterator[PipeInput]:
    with create_pipe_input() as made:
        yield made


class Pipe:
    """Something that becomes readable, as the signals to codex-auto do."""

    def __init__(self) -> None:
        self.reader, self.writer = os.pipe()

    def fileno(self) -> int:
        return self.reader


def asked(
    keys: PipeInput, typed: str, approval: ApprovalRequest = COMMAND, texts: Texts = ENGLISH
) -> tuple[ApprovalDecision, str]:
    """What is decided when ``typed`` is typed, and what was shown."""
    out = StringIO()
    show = TurnPrinter(out, out, texts, root="/repo")
    approvals = ApprovalPrompter(show, input_source=keys, output=DummyOutput())
    Timer(0.05, keys.send_text, [typed]).start()  # later than the question, or it would count as typed ahead
    return approvals(approval), out.getvalue()


@pytest.mark.parametrize(("typed", "decision"), read_cases(Path(__file__).with_name("approvals_cases.tsv")))
def test_answers(keys: PipeInput, typed: str, decision: str) -> None:
    """A letter or a word and Enter decide; nothing means no, and another word is asked about again."""
    assert decision == asked(keys, typed)[0]


def test_a_decision_that_is_not_offered_is_no_choice(keys: PipeInput) -> None:
    """Without a session rule, "always" is asked about again."""
    approval = ApprovalRequest(
        ApprovalKind.COMMAND, "ls", choices=(ApprovalDecision.ACCEPT, ApprovalDecision.DECLINE, ApprovalDecision.CANCEL)
    )

    assert ApprovalDecision.DECLINE is asked(keys, "s\rr\rn\r", approval)[0]


def test_what_was_typed_ahead_is_no_answer(keys: PipeInput) -> None:
    """Keys that were pressed before the question do not answer it."""
    out = StringIO()
    approvals = ApprovalPrompter(TurnPrinter(out, out, ENGLISH), input_source=keys, output=DummyOutput())
    Timer(0.05, keys.send_text, ["n\ry\r"]).start()

    assert ApprovalDecision.DECLINE is approvals(COMMAND)  # the y behind it is kept by prompt_toolkit as typed ahead
    Timer(0.05, keys.send_text, ["\r"]).start()
    assert ApprovalDecision.DECLINE is approvals(COMMAND)


def test_a_signal_ends_the_question(keys: PipeInput) -> None:
    """SIGTERM does not wait for the user: the decision ends the turn."""
    out, pipe = StringIO(), Pipe()
    approvals = ApprovalPrompter(TurnPrinter(out, out, ENGLISH), pipe, input_source=keys, output=DummyOutput())
    Timer(0.1, os.write, [pipe.writer, b"!"]).start()

    assert ApprovalDecision.CANCEL is approvals(COMMAND)


def test_a_command_is_shown_with_folder_and_reason(keys: PipeInput) -> None:
    """The whole command is shown, and the rule that would be stored, as Codex stores it."""
    expected = (
        "Codex wants to run:\n  $ rm -r build\n  in /repo\n  reason: clean up\n"
        "[s] also allows this same command in this folder until the session ends\n"
        "[r] also stores this rule in Codex, for good; it allows every command that\nbegins with these words:\n"
        '  > prefix_rule(pattern=["rm", "-r"], decision="allow")\n'
    )

    assert expected == asked(keys, "n\r")[1]


def test_a_change_is_shown_as_a_diff(keys: PipeInput) -> None:
    """Each file is shown with all of its lines."""
    change = FileDiff("update", "/repo/a.py", "@@ -1 +1 @@\n-1\n+2\n")
    shown = asked(keys, "n\r", ApprovalRequest(ApprovalKind.FILES, "a.py", diffs=(change,)))[1]

    assert "Codex wants to change:\n  ~ /repo/a.py\n  | @@ -1 +1 @@\n  | -1\n  | +2\n" == shown


class Terminal(StringIO):
    """A terminal of so many columns and rows."""

    def __init__(self, columns: int, rows: int) -> None:
        super().__init__()
        self.master, self.slave = os.openpty()
        termios.tcsetwinsize(self.slave, (rows, columns))

    def fileno(self) -> int:
        return self.slave

    def isatty(self) -> bool:
        return True


LONG = ApprovalRequest(ApprovalKind.FILES, "a", diffs=(FileDiff("add", "/a", "".join(f"{n}\n" for n in range(451))),))


@pytest.mark.parametrize(
    ("columns", "rows", "approval", "typed", "decision", "last"),
    [
        (80, 457 + 6, LONG, ["y"], ApprovalDecision.ACCEPT, "450"),
        (80, 200, LONG, ["y", "", "s", "", "y"], ApprovalDecision.ACCEPT, "450"),
        (80, 200, LONG, ["", "n"], ApprovalDecision.DECLINE, "385"),
        (80, 200, LONG, ["a"], ApprovalDecision.CANCEL, "191"),
        (80, 200, LONG, ["", "", ""], ApprovalDecision.DECLINE, "450"),
        (29, 50, COMMAND, ["y", "s", "r", ""], ApprovalDecision.DECLINE, "again."),
        (80, 8, ApprovalRequest(ApprovalKind.COMMAND, "ls"), ["", "y", ""], ApprovalDecision.DECLINE, "ask again."),
        (30, 50, COMMAND, ["y"], ApprovalDecision.ACCEPT, "visible)"),
    ],
)
def test_yes_follows_the_last_page(
    keys: PipeInput,
    columns: int,
    rows: int,
    approval: ApprovalRequest,
    typed: list[str],
    decision: ApprovalDecision,
    last: str,
) -> None:
    """All lines are shown, page by page, before a yes counts; where a row does not fit there is none."""
    out = Terminal(columns, rows)
    approvals = ApprovalPrompter(TurnPrinter(out, out, ENGLISH), input_source=keys, output=DummyOutput())
    answers = iter(typed)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(approvals, "_read_answer", lambda _session, _question: next(answers))
        assert decision is approvals(approval)
    assert out.getvalue().endswith(f"{last}\n")


def test_a_long_command_is_shown_whole(keys: PipeInput) -> None:
    """A clipped command could be another command; each row says whether it continues the one above."""
    command = "echo " + "x" * 500 + "\nrm -r /"
    rows = asked(keys, "n\r", ApprovalRequest(ApprovalKind.COMMAND, command))[1].split("\n")

    assert 500 == sum(row.count("x") for row in rows if row.startswith(("  $ ", "  \\ ")))
    assert "  > rm -r /" in rows


@pytest.mark.parametrize("matter", [kind for kind in ApprovalKind if kind is not ApprovalKind.INPUT])
@pytest.mark.parametrize("texts", [ENGLISH, CHINESE], ids=["en", "zh"])
def test_nothing_untrusted_reaches_the_terminal_raw(keys: PipeInput, matter: ApprovalKind, texts: Texts) -> None:
    """A command that hides itself with controls is shown with them, escaped."""
    hidden = "ls \x1b[8mrm -r /\x1b[0m\x1b]0;x\x07\r\u202e"
    change = FileDiff("add", hidden, hidden)
    approval = ApprovalRequest(
        matter, hidden, hidden, hidden, (change,) if matter is ApprovalKind.FILES else (), ALL, (hidden,)
    )
    shown = asked(keys, "n\r", approval, texts)[1]

    assert "ls \\u{1b}[8mrm -r /\\u{1b}[0m\\u{1b}]0;x\\u{7}\\u{d}\\u{202e}\n" in shown
    assert [] == [char for char in shown if char in "\x1b\r\u202e"]
    assert shown.startswith(texts.group("approval_questions")[matter.value])
