"""The question whether Codex may: what is shown, what counts as a yes, and that nothing else does."""

from __future__ import annotations

import os
from collections.abc import Iterator
from io import StringIO
from threading import Timer

import pytest
from prompt_toolkit.input import PipeInput, create_pipe_input
from prompt_toolkit.output import DummyOutput

from upbeat.adapters.codex.auto.approvals import MOST_LINES, Approvals
from upbeat.adapters.codex.auto.show import Show
from upbeat.adapters.codex.auto.texts import CHINESE, ENGLISH, Texts
from upbeat.adapters.codex.auto.transport import Approval, Change, Decision, Matter

ALL = tuple(Decision)
COMMAND = Approval(Matter.COMMAND, "rm -r build", "/repo", "clean up", choices=ALL, rule=("rm", "-r"))
CTRL_C, CTRL_D = "\x03", "\x04"


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


def asked(keys: PipeInput, typed: str, approval: Approval = COMMAND, texts: Texts = ENGLISH) -> tuple[Decision, str]:
    """What is decided when ``typed`` is typed, and what was shown."""
    out = StringIO()
    show = Show(out, out, texts, root="/repo")
    approvals = Approvals(show, texts, given=keys, output=DummyOutput())
    Timer(0.05, keys.send_text, [typed]).start()  # later than the question, or it would count as typed ahead
    return approvals(approval), out.getvalue()


@pytest.mark.parametrize(
    ("typed", "decision"),
    [
        ("y\r", Decision.ACCEPT),
        ("Yes\r", Decision.ACCEPT),
        (" 是 \r", Decision.ACCEPT),
        ("s\r", Decision.ACCEPT_SESSION),
        ("r\r", Decision.ACCEPT_RULE),
        ("n\r", Decision.DECLINE),
        ("a\r", Decision.CANCEL),
        ("\r", Decision.DECLINE),
        (CTRL_C, Decision.CANCEL),
        (CTRL_D, Decision.DECLINE),
        ("yy\rq\r\r", Decision.DECLINE),
        ("what?\ry\r", Decision.ACCEPT),
    ],
)
def test_answers(keys: PipeInput, typed: str, decision: Decision) -> None:
    """A letter or a word and Enter; nothing is a no, and what is not understood is asked again."""
    assert decision is asked(keys, typed)[0]


def test_a_choice_that_codex_does_not_take_is_none(keys: PipeInput) -> None:
    """Without a session rule there is no always."""
    approval = Approval(Matter.COMMAND, "ls", choices=(Decision.ACCEPT, Decision.DECLINE, Decision.CANCEL))

    assert Decision.DECLINE is asked(keys, "s\rr\rn\r", approval)[0]


def test_what_was_typed_ahead_is_no_answer(keys: PipeInput) -> None:
    """Keys from before the question were meant for something else."""
    out = StringIO()
    approvals = Approvals(Show(out, out, ENGLISH), ENGLISH, given=keys, output=DummyOutput())
    Timer(0.05, keys.send_text, ["n\ry\r"]).start()

    assert Decision.DECLINE is approvals(COMMAND)  # the y behind it is kept by prompt_toolkit as typed ahead
    Timer(0.05, keys.send_text, ["\r"]).start()
    assert Decision.DECLINE is approvals(COMMAND)


def test_a_signal_ends_the_question(keys: PipeInput) -> None:
    """SIGTERM must not wait for a person: the answer is the one that ends the turn."""
    out, pipe = StringIO(), Pipe()
    approvals = Approvals(Show(out, out, ENGLISH), ENGLISH, pipe, given=keys, output=DummyOutput())
    Timer(0.1, os.write, [pipe.writer, b"!"]).start()

    assert Decision.CANCEL is approvals(COMMAND)


def test_a_command_is_shown_with_place_and_reason(keys: PipeInput) -> None:
    """All of it, and the rule that would be written down."""
    expected = (
        "Codex wants to run:\n  $ rm -r build\n  in /repo\n  because: clean up\n"
        "  r allows, for good, every command that begins with: rm -r\n"
    )

    assert expected == asked(keys, "n\r")[1]


def test_a_change_is_shown_as_a_diff(keys: PipeInput) -> None:
    """With the counts and the lines of each file."""
    change = Change("update", "/repo/a.py", "@@ -1 +1 @@\n-1\n+2\n")
    shown = asked(keys, "n\r", Approval(Matter.FILES, "a.py", changes=(change,), choices=ALL))[1]

    assert "Codex wants to change:\n~ a.py (+1 -1)\n  @@ -1 +1 @@\n  -1\n  +2\n" == shown


def test_a_long_command_is_shown_whole(keys: PipeInput) -> None:
    """Half of a command is another command."""
    command = "echo " + "x" * 500 + "\nrm -r /"

    assert "x" * 500 + "\n  rm -r /\n" in asked(keys, "n\r", Approval(Matter.COMMAND, command))[1]


def test_a_long_diff_says_how_much_is_missing(keys: PipeInput) -> None:
    """What cannot be judged at a prompt is at least counted."""
    change = Change("add", "/repo/a.py", "x\n" * (MOST_LINES + 5))

    assert "… 5 more lines" in asked(keys, "n\r", Approval(Matter.FILES, "a.py", changes=(change,)))[1]


@pytest.mark.parametrize("matter", list(Matter))
@pytest.mark.parametrize("texts", [ENGLISH, CHINESE], ids=["en", "zh"])
def test_nothing_untrusted_reaches_the_terminal_raw(keys: PipeInput, matter: Matter, texts: Texts) -> None:
    """A command that hides itself with controls is shown without them."""
    hidden = "ls \x1b[8mrm -r /\x1b[0m\r\u202e"
    change = Change("add", hidden, hidden)
    approval = Approval(matter, hidden, hidden, hidden, (change,) if matter is Matter.FILES else (), ALL, (hidden,))
    shown = asked(keys, "n\r", approval, texts)[1]

    assert "rm -r /" in shown
    assert [] == [char for char in shown if char in "\x1b\r\u202e"]
    assert shown.startswith(texts.asks[matter.value])
