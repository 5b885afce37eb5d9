"""An answer while it is written, and the other things that only a long-lived Codex tells."""

from __future__ import annotations

import re
from io import StringIO

import pytest
from hypothesis import given
from hypothesis import strategies as st
from wcwidth import wcswidth

from upbeat.adapters.codex.auto.show import Show, wrapped
from upbeat.adapters.codex.auto.texts import ENGLISH
from upbeat.adapters.codex.auto.transport import (
    Answered,
    Approval,
    Change,
    CommandRun,
    Compacted,
    ContextUsed,
    Decision,
    Delta,
    Event,
    Failed,
    FileChange,
    Matter,
    Message,
    Notice,
    Planned,
    Step,
    TransportNote,
    Trouble,
    Why,
)

RUN = CommandRun("c", "ls", "", 0)
LS = Approval(Matter.COMMAND, "ls")


def on_one_terminal(*events: Event, color: bool = False) -> str:
    """What a person sees."""
    out = StringIO()
    show = Show(out, out, ENGLISH, color)
    show.begin()
    for event in events:
        show.event(event)
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
        ([Delta("1", "half"), Trouble("cut")], "half\n\n… cut\n"),
    ],
)
def test_an_answer_appears_as_it_comes(events: list[Event], shown: str) -> None:
    """Each piece once; what else happens stands on lines of its own, with a blank line between."""
    assert shown == on_one_terminal(*events)


@given(st.lists(st.text(), max_size=6))
def test_pieces_and_the_whole_are_the_same(pieces: list[str]) -> None:
    """However it is cut, nothing of an answer is shown twice or lost, and no control comes through."""
    pieces = [
        piece.replace("\r", "") for piece in pieces if "\x1b" not in piece and not re.search("[\x80-\x9f]", piece)
    ]
    events: list[Event] = [*(Delta("1", piece) for piece in pieces), Message("".join(pieces), "1")]

    assert on_one_terminal(Message("".join(pieces), "1")).rstrip("\n") == on_one_terminal(*events).rstrip("\n")


def test_a_broken_sequence_does_not_come_through() -> None:
    """An escape sequence that is cut between two pieces is harmless."""
    shown = on_one_terminal(Delta("1", "a\x1b"), Delta("1", "[2Jb\x9b"), Delta("1", "31mc"))

    assert [] == [char for char in shown if char in "\x1b\x9b"]


def test_a_script_gets_whole_messages() -> None:
    """Where the answer has a stream of its own, pieces are not shown."""
    answer, aside = StringIO(), StringIO()
    show = Show(answer, aside, ENGLISH)
    for event in (Delta("1", "Hel"), Delta("1", "lo"), Message("Hello", "1")):
        show.event(event)

    assert ("Hello\n", "") == (answer.getvalue(), aside.getvalue())


def test_a_failure_ends_the_line() -> None:
    """What was written of an answer stays, and the failure begins a line."""
    out = StringIO()
    show = Show(out, out, ENGLISH)
    show.begin()
    show.event(Delta("1", "half"))
    show.failed(Failed(Why.CUT), "")

    assert out.getvalue().startswith("half\n\nturn failed: ")


def test_markdown_is_laid_out_when_whole_and_wide() -> None:
    """On a terminal with colour; pieces are never laid out again."""
    assert "**bold**\n" == on_one_terminal(Message("**bold**"))
    assert "\x1b[1mbold\x1b[0m\n" == on_one_terminal(Message("**bold**"), color=True)
    assert "**bold**\n" == on_one_terminal(Delta("1", "**bo"), Message("**bold**", "1"), color=True)


@pytest.mark.parametrize(
    ("event", "shown"),
    [
        (Compacted(), f"{ENGLISH.compacted}\n"),
        (TransportNote(Notice.RESTARTED, "signal 9"), f"! {ENGLISH.notices[Notice.RESTARTED]}\n"),
        (Planned((Step("a", "completed"), Step("b", "inProgress"), Step("c", "pending"))), "☑ a\n▸ b\n☐ c\n"),
        (Answered(LS, Decision.ACCEPT), ""),
        (Answered(LS, Decision.DECLINE), "  declined; the model goes on without it\n"),
        (Answered(LS, Decision.DECLINE, by_person=False), f"! {ENGLISH.nobody_asked} {ENGLISH.asks['command']} ls\n"),
        (CommandRun("1", "ls", "", None, declined=True), "$ ls\n  not run\n"),
        (FileChange("1", (Change("update", "a", "@@ @@\n-1\n+2"),)), "~ a (+1 -1)\n  @@ @@\n  -1\n  +2\n"),
        (ContextUsed(1, 2), ""),
    ],
)
def test_work_is_shown_in_small_lines(event: Event, shown: str) -> None:
    """What a long-lived Codex tells beside messages and commands."""
    assert shown == on_one_terminal(event)


def test_diffs_are_coloured() -> None:
    """Added green, removed red, places cyan."""
    shown = on_one_terminal(FileChange("1", (Change("update", "a", "@@ @@\n-1\n+2"),)), color=True)

    assert "\x1b[36m  @@ @@\x1b[0m\n\x1b[31m  -1\x1b[0m\n\x1b[32m  +2\x1b[0m\n" in shown


def test_the_context_used_is_kept_for_the_line_below() -> None:
    """The last one that was told."""
    show = Show(StringIO(), StringIO(), ENGLISH)
    for event in (ContextUsed(1, 10), ContextUsed(5, 10)):
        show.event(event)

    assert ContextUsed(5, 10) == show.context_used


@pytest.mark.parametrize(
    ("text", "width", "lines"),
    [
        ("short", 10, ["short"]),
        ("one two three", 7, ["one two", "three"]),
        ("one two three", 8, ["one two", "three"]),
        ("  - one two", 7, ["  - one", "two"]),
        ("abcdefghij k", 4, ["abcdefghij", "k"]),
        ("店店店店", 4, ["店店", "店店"]),
        ("a\n\nb", 4, ["a", "", "b"]),
        ("", 4, [""]),
    ],
)
def test_lines_are_broken_between_words(text: str, width: int, lines: list[str]) -> None:
    """Chinese anywhere; a word that is too long is left to the terminal."""
    assert lines == wrapped(text, width).split("\n")


@given(st.text(st.sampled_from("ab店 \n")), st.integers(2, 20))
def test_breaking_loses_nothing_but_spaces(text: str, width: int) -> None:
    """And no line is wider than it may be, unless it is one word."""
    broken = wrapped(text, width)

    assert re.sub("[ \n]", "", text) == re.sub("[ \n]", "", broken)
    assert [] == [line for line in broken.split("\n") if wcswidth(line.rstrip()) > width and " " in line.strip()]
