"""What a user sees of a turn: small lines, and nothing that could play with the terminal."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest
from case_files import read_groups
from fakes.codex.texts import CHINESE, ENGLISH
from hypothesis import given
from hypothesis import strategies as st

from upbeat.adapters.codex.transport.base import (
    CommandFinished,
    Failed,
    FailureReason,
    FileDiff,
    FilesChanged,
    ItemStarted,
    Message,
    Reasoning,
    Reconnecting,
    ThreadStarted,
    TokenUsage,
    ToolCall,
    TurnEvent,
    TurnStarted,
    UnrecognizedEvent,
    WarningIssued,
)
from upbeat.adapters.codex_auto.texts import Texts
from upbeat.adapters.codex_auto.view.show import TurnPrinter, clip_to_width
from upbeat.core.contract.codes import LimitCode
from upbeat.core.contract.report import Limit

CASES = read_groups(Path(__file__).with_name("show_cases.tsv"))


def show(texts: Texts = ENGLISH, *, color: bool = False) -> TurnPrinter:
    return TurnPrinter(StringIO(), StringIO(), texts, color, "/repo")


def seen(*events: TurnEvent, texts: Texts = ENGLISH, color: bool = False) -> tuple[str, str]:
    """What stands on the answer's stream and beside it after ``events``."""
    shown = show(texts, color=color)
    for event in events:
        shown.show_event(event)
    return shown.answer_stream.getvalue(), shown.status_stream.getvalue()  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "event", [ThreadStarted("x"), TurnStarted(), ItemStarted("1", ""), UnrecognizedEvent("x"), Reasoning(" \n")]
)
def test_nothing_is_shown_for(event: TurnEvent) -> None:
    """What tells a user nothing leaves no line."""
    assert ("", "") == seen(event)


@pytest.mark.parametrize(
    ("events", "lines"),
    [
        ([ItemStarted("1", "ls"), CommandFinished("1", "ls", "a\nb\n", 0)], ["$ ls", "  a", "  b"]),
        ([CommandFinished("1", "/bin/bash -lc 'echo \"a b\"'", "", 0)], ['$ echo "a b"']),
        ([CommandFinished("1", "bash -lc 'unclosed", "", 0)], ["$ bash -lc 'unclosed"]),
        ([CommandFinished("1", "a\nb", "", 3)], ["$ a ⏎ b", "  exit code 3"]),
        ([CommandFinished("1", "x", "", None)], ["$ x", "  did not finish"]),
        (
            [CommandFinished("1", "x", "1\n2\n\n3\n4\n5\n6\n7", 0)],
            ["$ x", "  … 2 earlier lines", "  3", "  4", "  5", "  6", "  7"],
        ),
        (
            [
                FilesChanged(
                    "1", (FileDiff("add", "/repo/a b.py"), FileDiff("update", "/etc/x"), FileDiff("delete", "/repox"))
                )
            ],
            ["+ a b.py", "~ /etc/x", "- /repox"],
        ),
        ([FilesChanged("1", (FileDiff("later", "/repo/a"),), has_failed=True)], ["? a (not changed)"]),
        ([ItemStarted("1", "mem.get"), ToolCall("1", "mem.get")], ["$ mem.get"]),
        ([ToolCall("1", "mem.save", "needs approval")], ["$ mem.save", "  failed: needs approval"]),
        ([WarningIssued("careful"), Reconnecting("Reconnecting... 1/5")], ["! careful", "… Reconnecting... 1/5"]),
        ([Reasoning("a\n\nb\nc\nd")], ["  a", "  b", "  c"]),
    ],
)
def test_work_is_shown_in_small_lines(events: list[TurnEvent], lines: list[str]) -> None:
    """Commands with their last lines and exit codes, files, tools and troubles."""
    assert ("", "".join(f"{line}\n" for line in lines)) == seen(*events)


def test_the_answer_has_a_stream_of_its_own() -> None:
    """All messages of the model, and nothing else, go to the answer's stream."""
    assert ("one\ntwo\n", "$ ls\n") == seen(Message("one"), ItemStarted("1", "ls"), Message("two"))


CONTROLS = "\x1b]0;title\x07\x1b[2J\x1b[31mred\x1b[0m \u202eevil\u202c \x9b1m"


@pytest.mark.parametrize(
    "event",
    [
        Message(CONTROLS),
        Reasoning(CONTROLS),
        ItemStarted("1", CONTROLS),
        CommandFinished("1", CONTROLS, CONTROLS, 0),
        FilesChanged("1", (FileDiff("add", CONTROLS),)),
        ToolCall("1", CONTROLS, CONTROLS),
        WarningIssued(CONTROLS),
        Reconnecting(CONTROLS),
    ],
)
def test_nothing_untrusted_reaches_the_terminal_raw(event: TurnEvent) -> None:
    """Escape sequences, controls and bidirectional marks are taken out wherever they come from."""
    shown = "".join(seen(event))

    assert "evil" in shown
    assert [] == [
        char for char in shown if char != "\n" and (ord(char) < 32 or 126 < ord(char) < 160 or char in "\u202e\u202c")
    ]


def test_limits_and_failures_are_stripped_too() -> None:
    """What Codex says about a failure is no more to be trusted than the rest."""
    shown = show()
    shown.show_failure(Failed(FailureReason.TURN_FAILED, CONTROLS), "x")
    shown.show_limits([Limit.of(LimitCode.SESSION_UNAVAILABLE, CONTROLS)])

    assert "\x1b" not in shown.status_stream.getvalue()  # type: ignore[attr-defined]


def test_limits_have_their_prefix() -> None:
    """Each limit is one ``[Limits]`` line with the contract's sentence."""
    shown = show()
    shown.show_limits([Limit.of(LimitCode.SESSION_UNAVAILABLE, "gone"), Limit.of(LimitCode.NO_GIT_ROOT)])

    expected = "[Limits] session continuity unavailable; fallback to stateless exec: gone\n[Limits] no-git-root\n"
    assert expected == shown.status_stream.getvalue()  # type: ignore[attr-defined]


@pytest.mark.parametrize("why", list(FailureReason))
@pytest.mark.parametrize("texts", [ENGLISH, CHINESE])
def test_every_failure_has_a_sentence(why: FailureReason, texts: Texts) -> None:
    """In both languages, with nothing left unfilled."""
    shown = show(texts)
    shown.show_failure(Failed(why, "600"), "01a1")
    text = shown.status_stream.getvalue()  # type: ignore[attr-defined]

    assert text.strip()
    assert "{" not in text


def test_trouble_that_became_the_failure_is_told_once() -> None:
    """Codex says the last error twice; a user reads it once."""
    shown = show()
    shown.show_event(Reconnecting("Quota exceeded."))
    shown.show_failure(Failed(FailureReason.TURN_FAILED, "Quota exceeded."), "")

    assert shown.status_stream.getvalue() == "… Quota exceeded.\nturn failed: Codex reports\n"  # type: ignore[attr-defined]


def test_a_turn_without_an_answer_is_said_so() -> None:
    """A blocked prompt completes with nothing; silence would look like a fault of ours."""
    shown = show()
    shown.show_completion(TokenUsage(1234, 0, 5), 1.25, is_whole_session=False)

    assert [
        ENGLISH["no_answer"],
        "tokens: 1,234 in (0 cached), 5 out · 1.2 s",
        "",
    ] == shown.status_stream.getvalue().split("\n")  # type: ignore[attr-defined]


def test_colour_is_for_terminals_that_want_it() -> None:
    """Without colour no sequence is written at all."""
    assert ("", "\x1b[1m$ ls\x1b[0m\n") == seen(ItemStarted("1", "ls"), color=True)
    assert ("", "$ ls\n") == seen(ItemStarted("1", "ls"))


def test_clipping_counts_columns() -> None:
    """A Chinese character takes two columns, and the ellipsis its own."""
    assert CASES["clip"] == [(text, width, clip_to_width(text, int(width))) for text, width, _ in CASES["clip"]]


@given(st.text(st.sampled_from("ab店 é̈")), st.integers(1, 12))
def test_clip_never_passes_the_width(text: str, width: int) -> None:
    """No line is wider than asked for, and a text that fits is left alone."""
    clipped = clip_to_width(text, width)

    assert sum(2 if char == "店" else 0 if char == "̈" else 1 for char in clipped) <= width
