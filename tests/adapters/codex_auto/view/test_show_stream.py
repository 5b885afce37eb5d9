"""An answer while it is written, and the other things that only a long-lived Codex tells."""

from __future__ import annotations

import re
from io import StringIO
from pathlib import Path

import pytest
from case_files import read_groups
from fakes.codex.texts import ENGLISH
from hypothesis import given
from hypothesis import strategies as st
from wcwidth import wcswidth

from upbeat.adapters.codex.transport.base import (
    ApprovalDecided,
    ApprovalDecision,
    ApprovalKind,
    ApprovalRequest,
    CommandFinished,
    Delta,
    Failed,
    FailureReason,
    FileDiff,
    FilesChanged,
    Message,
    PlanStep,
    PlanUpdated,
    Reconnecting,
    ThreadCompacted,
    TransportNotice,
    TransportNoticeKind,
    TurnEvent,
    WindowUsage,
)
from upbeat.adapters.codex_auto.view.show import TurnPrinter, wrap_to_width

CASES = read_groups(Path(__file__).with_name("show_cases.tsv"))
RUN = CommandFinished("c", "ls", "", 0)
LS = ApprovalRequest(ApprovalKind.COMMAND, "ls")


def on_one_terminal(*events: TurnEvent, color: bool = False) -> str:
    """What a user sees."""
    out = StringIO()
    show = TurnPrinter(out, out, ENGLISH, color)
    show.begin_turn()
    for event in events:
        show.show_event(event)
    return out.getvalue()


@pytest.mark.parametrize(
    ("events", "shown"),
    [
        ([Delta("1", "Hel"), Delta("1", "lo")], "Hello"),
        ([Delta("1", "Hel"), Delta("1", "lo"), Message("Hello", "1")], "Hello\n"),
        ([Delta("1", "Hel"), Message("Hello", "1")], "Hello\n"),
        ([Delta("1", "a\n"), Message("a\n", "1")], "a\n"),
        ([Message("whole", "1")], "whole\n"),
        ([Delta("1", "a"), Message("a", "1"), Delta("2", "b"), Message("b", "2")], "a\nb\n"),
        ([Delta("1", "a"), Delta("2", "b")], "a\nb"),
        ([Delta("1", "a"), RUN, Delta("1", "b"), Message("ab", "1")], "a\n\n$ ls\n\nb\n"),
        ([RUN, Message("done")], "$ ls\n\ndone\n"),
        ([Delta("1", "half"), Reconnecting("cut")], "half\n\n… cut\n"),
    ],
)
def test_an_answer_appears_as_it_comes(events: list[TurnEvent], shown: str) -> None:
    """Each piece once; what else happens stands on lines of its own, with a blank line between."""
    assert shown == on_one_terminal(*events)


@given(st.lists(st.text(), max_size=6))
def test_pieces_and_the_whole_are_the_same(pieces: list[str]) -> None:
    """However it is cut, nothing of an answer is shown twice or lost, and no control comes through."""
    pieces = [
        piece.replace("\r", "") for piece in pieces if "\x1b" not in piece and not re.search("[\x80-\x9f]", piece)
    ]
    events: list[TurnEvent] = [*(Delta("1", piece) for piece in pieces), Message("".join(pieces), "1")]

    assert on_one_terminal(Message("".join(pieces), "1")).rstrip("\n") == on_one_terminal(*events).rstrip("\n")


def test_a_broken_sequence_does_not_come_through() -> None:
    """An escape sequence that is cut between two pieces is harmless."""
    shown = on_one_terminal(Delta("1", "a\x1b"), Delta("1", "[2Jb\x9b"), Delta("1", "31mc"))

    assert [] == [char for char in shown if char in "\x1b\x9b"]


def test_a_script_gets_whole_messages() -> None:
    """Where the answer has a stream of its own, pieces are not shown."""
    answer, aside = StringIO(), StringIO()
    show = TurnPrinter(answer, aside, ENGLISH)
    for event in (Delta("1", "Hel"), Delta("1", "lo"), Message("Hello", "1")):
        show.show_event(event)

    assert ("Hello\n", "") == (answer.getvalue(), aside.getvalue())


def test_a_failure_ends_the_line() -> None:
    """What was written of an answer stays, and the failure begins a line."""
    out = StringIO()
    show = TurnPrinter(out, out, ENGLISH)
    show.begin_turn()
    show.show_event(Delta("1", "half"))
    show.show_failure(Failed(FailureReason.STREAM_DISCONNECTED), "")

    assert out.getvalue().startswith("half\n\nturn failed: ")


def test_markdown_is_laid_out_when_whole_and_wide() -> None:
    """On a terminal with colour; pieces are never laid out again."""
    assert "**bold**\n" == on_one_terminal(Message("**bold**"))
    assert "\x1b[1mbold\x1b[0m\n" == on_one_terminal(Message("**bold**"), color=True)
    assert "**bold**\n" == on_one_terminal(Delta("1", "**bo"), Message("**bold**", "1"), color=True)


@pytest.mark.parametrize(
    ("event", "shown"),
    [
        (ThreadCompacted(), f"{ENGLISH['compacted']}\n"),
        (
            TransportNotice(TransportNoticeKind.RESTARTED, "signal 9"),
            f"! {ENGLISH.group('transport_notices')[TransportNoticeKind.RESTARTED]}\n",
        ),
        (
            PlanUpdated((PlanStep("a", "completed"), PlanStep("b", "inProgress"), PlanStep("c", "pending"))),
            "☑ a\n▸ b\n☐ c\n",
        ),
        (ApprovalDecided(LS, ApprovalDecision.ACCEPT), ""),
        (ApprovalDecided(LS, ApprovalDecision.DECLINE), "  declined; the model continues without it\n"),
        (
            ApprovalDecided(LS, ApprovalDecision.DECLINE, is_by_person=False),
            f"! {ENGLISH['declined_unasked']} {ENGLISH.group('approval_questions')['command']} ls\n",
        ),
        (CommandFinished("1", "ls", "", None, is_declined=True), "$ ls\n  not run\n"),
        (FilesChanged("1", (FileDiff("update", "a", "@@ @@\n-1\n+2"),)), "~ a (+1 -1)\n  @@ @@\n  -1\n  +2\n"),
        (WindowUsage(1, 2), ""),
    ],
)
def test_work_is_shown_in_small_lines(event: TurnEvent, shown: str) -> None:
    """What a long-lived Codex tells beside messages and commands."""
    assert shown == on_one_terminal(event)


def test_diffs_are_coloured() -> None:
    """Added green, removed red, places cyan."""
    shown = on_one_terminal(FilesChanged("1", (FileDiff("update", "a", "@@ @@\n-1\n+2"),)), color=True)

    assert "\x1b[36m  @@ @@\x1b[0m\n\x1b[31m  -1\x1b[0m\n\x1b[32m  +2\x1b[0m\n" in shown


def test_the_context_used_is_kept_for_the_line_below() -> None:
    """The last one that was told."""
    show = TurnPrinter(StringIO(), StringIO(), ENGLISH)
    for event in (WindowUsage(1, 10), WindowUsage(5, 10)):
        show.show_event(event)

    assert WindowUsage(5, 10) == show.window_usage


def test_lines_are_wrapped_between_words() -> None:
    """Chinese is wrapped anywhere; a word that is too long is left to the terminal."""
    assert CASES["wrap"] == [
        (text, width, *wrap_to_width(text, int(width)).split("\n")) for text, width, *_ in CASES["wrap"]
    ]


@given(st.text(st.sampled_from("ab店 \n")), st.integers(2, 20))
def test_breaking_loses_nothing_but_spaces(text: str, width: int) -> None:
    """And no line is wider than it may be, unless it is one word."""
    broken = wrap_to_width(text, width)

    assert re.sub("[ \n]", "", text) == re.sub("[ \n]", "", broken)
    assert [] == [line for line in broken.split("\n") if wcswidth(line.rstrip()) > width and " " in line.strip()]
