"""What a person sees of a turn: small lines, and nothing that could play with the terminal."""

from __future__ import annotations

from io import StringIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from upbeat.adapters.codex.auto.show import Show, clip
from upbeat.adapters.codex.auto.texts import CHINESE, ENGLISH, Texts
from upbeat.adapters.codex.auto.transport import (
    Began,
    Change,
    CommandRun,
    Event,
    Failed,
    FileChange,
    Message,
    Reasoning,
    ThreadStarted,
    ToolCall,
    Trouble,
    TurnStarted,
    Unknown,
    Usage,
    Warned,
    Why,
)
from upbeat.core.contract.codes import LimitCode
from upbeat.core.contract.report import Limit


def show(texts: Texts = ENGLISH, *, color: bool = False) -> Show:
    return Show(StringIO(), StringIO(), texts, color, "/repo")


def seen(*events: Event, texts: Texts = ENGLISH, color: bool = False) -> tuple[str, str]:
    """What stands on the answer's stream and beside it after ``events``."""
    shown = show(texts, color=color)
    for event in events:
        shown.event(event)
    return shown.answer.getvalue(), shown.aside.getvalue()  # type: ignore[attr-defined]


@pytest.mark.parametrize("event", [ThreadStarted("x"), TurnStarted(), Began("1", ""), Unknown("x"), Reasoning(" \n")])
def test_nothing_is_shown_for(event: Event) -> None:
    """What tells a person nothing leaves no line."""
    assert ("", "") == seen(event)


@pytest.mark.parametrize(
    ("events", "lines"),
    [
        ([Began("1", "ls"), CommandRun("1", "ls", "a\nb\n", 0)], ["$ ls", "  a", "  b"]),
        ([CommandRun("1", "/bin/bash -lc 'echo \"a b\"'", "", 0)], ['$ echo "a b"']),
        ([CommandRun("1", "bash -lc 'unclosed", "", 0)], ["$ bash -lc 'unclosed"]),
        ([CommandRun("1", "a\nb", "", 3)], ["$ a ⏎ b", "  exit code 3"]),
        ([CommandRun("1", "x", "", None)], ["$ x", "  did not end"]),
        (
            [CommandRun("1", "x", "1\n2\n\n3\n4\n5\n6\n7", 0)],
            ["$ x", "  … 2 lines before", "  3", "  4", "  5", "  6", "  7"],
        ),
        (
            [FileChange("1", (Change("add", "/repo/a b.py"), Change("update", "/etc/x"), Change("delete", "/repox")))],
            ["+ a b.py", "~ /etc/x", "- /repox"],
        ),
        ([FileChange("1", (Change("later", "/repo/a"),), failed=True)], ["? a (not changed)"]),
        ([Began("1", "mem.get"), ToolCall("1", "mem.get")], ["$ mem.get"]),
        ([ToolCall("1", "mem.save", "needs approval")], ["$ mem.save", "  failed: needs approval"]),
        ([Warned("careful"), Trouble("Reconnecting... 1/5")], ["! careful", "… Reconnecting... 1/5"]),
        ([Reasoning("a\n\nb\nc\nd")], ["  a", "  b", "  c"]),
    ],
)
def test_work_is_shown_in_small_lines(events: list[Event], lines: list[str]) -> None:
    """Commands with their last lines and exit codes, files, tools and troubles."""
    assert ("", "".join(f"{line}\n" for line in lines)) == seen(*events)


def test_the_answer_has_a_stream_of_its_own() -> None:
    """All messages of the model, and nothing else, go to the answer's stream."""
    assert ("one\ntwo\n", "$ ls\n") == seen(Message("one"), Began("1", "ls"), Message("two"))


CONTROLS = "\x1b]0;title\x07\x1b[2J\x1b[31mred\x1b[0m \u202eevil\u202c \x9b1m"


@pytest.mark.parametrize(
    "event",
    [
        Message(CONTROLS),
        Reasoning(CONTROLS),
        Began("1", CONTROLS),
        CommandRun("1", CONTROLS, CONTROLS, 0),
        FileChange("1", (Change("add", CONTROLS),)),
        ToolCall("1", CONTROLS, CONTROLS),
        Warned(CONTROLS),
        Trouble(CONTROLS),
    ],
)
def test_nothing_untrusted_reaches_the_terminal_raw(event: Event) -> None:
    """Escape sequences, controls and bidirectional marks are taken out wherever they come from."""
    shown = "".join(seen(event))

    assert "evil" in shown
    assert [] == [
        char for char in shown if char != "\n" and (ord(char) < 32 or 126 < ord(char) < 160 or char in "\u202e\u202c")
    ]


def test_limits_and_failures_are_stripped_too() -> None:
    """What Codex says about a failure is no more to be trusted than the rest."""
    shown = show()
    shown.failed(Failed(Why.TURN, CONTROLS), "x")
    shown.limits([Limit.of(LimitCode.SESSION_UNAVAILABLE, CONTROLS)])

    assert "\x1b" not in shown.aside.getvalue()  # type: ignore[attr-defined]


def test_limits_have_their_prefix() -> None:
    """Each limit is one ``[Limits]`` line with the contract's sentence."""
    shown = show()
    shown.limits([Limit.of(LimitCode.SESSION_UNAVAILABLE, "gone"), Limit.of(LimitCode.NO_GIT_ROOT)])

    expected = "[Limits] session continuity unavailable; fallback to stateless exec: gone\n[Limits] no-git-root\n"
    assert expected == shown.aside.getvalue()  # type: ignore[attr-defined]


@pytest.mark.parametrize("why", list(Why))
@pytest.mark.parametrize("texts", [ENGLISH, CHINESE])
def test_every_failure_has_a_sentence(why: Why, texts: Texts) -> None:
    """In both languages, with nothing left unfilled."""
    shown = show(texts)
    shown.failed(Failed(why, "600"), "01a1")
    text = shown.aside.getvalue()  # type: ignore[attr-defined]

    assert text.strip()
    assert "{" not in text


def test_trouble_that_became_the_failure_is_told_once() -> None:
    """Codex says the last error twice; a person reads it once."""
    shown = show()
    shown.event(Trouble("Quota exceeded."))
    shown.failed(Failed(Why.TURN, "Quota exceeded."), "")

    assert shown.aside.getvalue() == "… Quota exceeded.\nturn failed: Codex says\n"  # type: ignore[attr-defined]


def test_a_turn_without_an_answer_is_said_so() -> None:
    """A blocked prompt completes with nothing; silence would look like a fault of ours."""
    shown = show()
    shown.completed(Usage(1234, 0, 5), 1.25, whole_session=False)

    assert [ENGLISH.no_answer, "tokens: 1,234 in (0 cached), 5 out · 1.2 s", ""] == shown.aside.getvalue().split("\n")  # type: ignore[attr-defined]


def test_colour_is_for_terminals_that_want_it() -> None:
    """Without colour no sequence is written at all."""
    assert ("", "\x1b[1m$ ls\x1b[0m\n") == seen(Began("1", "ls"), color=True)
    assert ("", "$ ls\n") == seen(Began("1", "ls"))


@pytest.mark.parametrize(
    ("text", "width", "clipped"),
    [
        ("abcd", 4, "abcd"),
        ("abcde", 4, "abc…"),
        ("店店店", 6, "店店店"),
        ("店店店", 5, "店店…"),
        ("店店店", 4, "店…"),
        ("", 1, ""),
    ],
)
def test_clip_counts_columns(text: str, width: int, clipped: str) -> None:
    """A Chinese character takes two columns, and the ellipsis its own."""
    assert clipped == clip(text, width)


@given(st.text(st.sampled_from("ab店 é̈")), st.integers(1, 12))
def test_clip_never_passes_the_width(text: str, width: int) -> None:
    """No line is wider than asked for, and a text that fits is left alone."""
    clipped = clip(text, width)

    assert sum(2 if char == "店" else 0 if char == "̈" else 1 for char in clipped) <= width
