"""What a user sees of a turn: short lines that cannot control the terminal."""

from __future__ import annotations

import re
from io import StringIO
from pathlib import Path

import pytest
from case_files import read_groups
from fakes.codex.conversation import CHINESE, ENGLISH
from hypothesis import given
from hypothesis import strategies as st
from wcwidth import wcswidth

from upbeat.adapters.codex.transport import base
from upbeat.adapters.codex_auto.texts import Texts
from upbeat.adapters.codex_auto.view.show import TurnPrinter
from upbeat.core.contract.codes import LimitCode
from upbeat.core.contract.report import Limit
from upbeat.core.messages.layout import clip_to_width, wrap_to_width

CASES = read_groups(Path(__file__).with_name("show_cases.tsv"))


def show(texts: Texts = ENGLISH, *, color: bool = False) -> TurnPrinter:
    return TurnPrinter(StringIO(), StringIO(), texts, color, "/repo")


def seen(*events: base.TurnEvent, texts: Texts = ENGLISH, color: bool = False) -> tuple[str, str]:
    """What stands on the answer's stream and beside it after ``events``."""
    shown = show(texts, color=color)
    for event in events:
        shown.show_event(event)
    return shown.answer_stream.getvalue(), shown.status_stream.getvalue()  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "event",
    [
        base.ThreadStarted("x"),
        base.TurnStarted(),
        base.ItemStarted("1", ""),
        base.UnrecognizedEvent("x"),
        base.Reasoning(" \n"),
    ],
)
def test_nothing_is_shown_for(event: base.TurnEvent) -> None:
    """Events without information for the user print no line."""
    assert ("", "") == seen(event)


@pytest.mark.parametrize(
    ("events", "lines"),
    [
        ([base.ItemStarted("1", "ls"), base.CommandFinished("1", "ls", "a\nb\n", 0)], ["$ ls", "  a", "  b"]),
        ([base.CommandFinished("1", "/bin/bash -lc 'echo \"a b\"'", "", 0)], ['$ echo "a b"']),
        ([base.CommandFinished("1", "bash -lc 'unclosed", "", 0)], ["$ bash -lc 'unclosed"]),
        ([base.CommandFinished("1", "a\nb", "", 3)], ["$ a ⏎ b", "  exit code 3"]),
        ([base.CommandFinished("1", "x", "", None)], ["$ x", "  did not finish"]),
        (
            [base.CommandFinished("1", "x", "1\n2\n\n3\n4\n5\n6\n7", 0)],
            ["$ x", "  … 2 earlier lines", "  3", "  4", "  5", "  6", "  7"],
        ),
        (
            [
                base.FilesChanged(
                    "1",
                    (
                        base.FileDiff("add", "/repo/a b.py"),
                        base.FileDiff("update", "/etc/x"),
                        base.FileDiff("delete", "/repox"),
                    ),
                )
            ],
            ["+ a b.py", "~ /etc/x", "- /repox"],
        ),
        ([base.FilesChanged("1", (base.FileDiff("later", "/repo/a"),), has_failed=True)], ["? a (not changed)"]),
        ([base.ItemStarted("1", "mem.get"), base.ToolCall("1", "mem.get")], ["$ mem.get"]),
        ([base.ToolCall("1", "mem.save", "needs approval")], ["$ mem.save", "  failed: needs approval"]),
        (
            [base.WarningIssued("careful"), base.Reconnecting("Reconnecting... 1/5")],
            ["! careful", "… Reconnecting... 1/5"],
        ),
        ([base.Reasoning("a\n\nb\nc\nd")], ["  a", "  b", "  c"]),
    ],
)
def test_work_is_shown_in_short_lines(events: list[base.TurnEvent], lines: list[str]) -> None:
    """Commands are shown with their last lines and exit codes, then files, tools and problems."""
    assert ("", "".join(f"{line}\n" for line in lines)) == seen(*events)


def test_the_answer_has_its_own_stream() -> None:
    """Only messages of the model go to the answer stream."""
    assert ("one\ntwo\n", "$ ls\n") == seen(base.Message("one"), base.ItemStarted("1", "ls"), base.Message("two"))


CONTROLS = "\x1b]0;title\x07\x1b[2J\x1b[31mred\x1b[0m \u202eevil\u202c \x9b1m"


@pytest.mark.parametrize(
    "event",
    [
        base.Message(CONTROLS),
        base.Reasoning(CONTROLS),
        base.ItemStarted("1", CONTROLS),
        base.CommandFinished("1", CONTROLS, CONTROLS, 0),
        base.FilesChanged("1", (base.FileDiff("add", CONTROLS),)),
        base.ToolCall("1", CONTROLS, CONTROLS),
        base.WarningIssued(CONTROLS),
        base.Reconnecting(CONTROLS),
    ],
)
def test_nothing_untrusted_reaches_the_terminal_raw(event: base.TurnEvent) -> None:
    """Escape sequences, controls and bidirectional marks are taken out wherever they come from."""
    shown = "".join(seen(event))

    assert "evil" in shown
    assert [] == [
        char for char in shown if char != "\n" and (ord(char) < 32 or 126 < ord(char) < 160 or char in "\u202e\u202c")
    ]


def test_limits_and_failures_are_stripped_too() -> None:
    """The text of a failure is as untrusted as any other."""
    shown = show()
    shown.show_failure(base.Failed(base.FailureReason.TURN_FAILED, CONTROLS), "x")
    shown.show_limits([Limit.of(LimitCode.SESSION_UNAVAILABLE, CONTROLS)])

    assert "\x1b" not in shown.status_stream.getvalue()  # type: ignore[attr-defined]


def test_limits_have_their_prefix() -> None:
    """Each limit is one ``[Limits]`` line with the contract's sentence."""
    shown = show()
    shown.show_limits([Limit.of(LimitCode.SESSION_UNAVAILABLE, "gone"), Limit.of(LimitCode.NO_GIT_ROOT)])

    expected = "[Limits] session continuity unavailable; fallback to stateless exec: gone\n[Limits] no-git-root\n"
    assert expected == shown.status_stream.getvalue()  # type: ignore[attr-defined]


@pytest.mark.parametrize("why", list(base.FailureReason))
@pytest.mark.parametrize("texts", [ENGLISH, CHINESE])
def test_every_failure_has_a_sentence(why: base.FailureReason, texts: Texts) -> None:
    """Each reason has a sentence without an unfilled placeholder, in both languages."""
    shown = show(texts)
    shown.show_failure(base.Failed(why, "600"), "01a1")
    text = shown.status_stream.getvalue()  # type: ignore[attr-defined]

    assert text.strip()
    assert "{" not in text


def test_a_problem_that_became_the_failure_is_shown_once() -> None:
    """Codex reports the last error twice; it is printed once."""
    shown = show()
    shown.show_event(base.Reconnecting("Quota exceeded."))
    shown.show_failure(base.Failed(base.FailureReason.TURN_FAILED, "Quota exceeded."), "")

    assert shown.status_stream.getvalue() == "… Quota exceeded.\nturn failed: Codex reports\n"  # type: ignore[attr-defined]


def test_a_turn_without_an_answer_has_a_note() -> None:
    """A blocked prompt completes without an answer, and a note says so."""
    shown = show()
    shown.show_completion(base.TokenUsage(1234, 0, 5), 1.25, is_whole_session=False)

    assert [
        ENGLISH["no_answer"],
        "tokens: 1,234 in (0 cached), 5 out · 1.2 s",
        "",
    ] == shown.status_stream.getvalue().split("\n")  # type: ignore[attr-defined]


def test_color_is_optional() -> None:
    """Without color no sequence is written."""
    assert ("", "\x1b[1m$ ls\x1b[0m\n") == seen(base.ItemStarted("1", "ls"), color=True)
    assert ("", "$ ls\n") == seen(base.ItemStarted("1", "ls"))


def test_clipping_counts_columns() -> None:
    """A Chinese character takes two columns, and the ellipsis its own."""
    assert CASES["clip"] == [(text, width, clip_to_width(text, int(width))) for text, width, _ in CASES["clip"]]


@given(st.text(st.sampled_from("ab店 é̈")), st.integers(1, 12))
def test_clipped_text_fits_the_width(text: str, width: int) -> None:
    """A text that fits is not changed."""
    clipped = clip_to_width(text, width)

    assert sum(2 if char == "店" else 0 if char == "̈" else 1 for char in clipped) <= width


# --- an answer while it is written ---


RUN = base.CommandFinished("c", "ls", "", 0)
LS = base.ApprovalRequest(base.ApprovalKind.COMMAND, "ls")


def on_one_terminal(*events: base.TurnEvent, color: bool = False) -> str:
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
        ([base.Delta("1", "Hel"), base.Delta("1", "lo")], "Hello"),
        ([base.Delta("1", "Hel"), base.Delta("1", "lo"), base.Message("Hello", "1")], "Hello\n"),
        ([base.Delta("1", "Hel"), base.Message("Hello", "1")], "Hello\n"),
        ([base.Delta("1", "a\n"), base.Message("a\n", "1")], "a\n"),
        ([base.Message("whole", "1")], "whole\n"),
        ([base.Delta("1", "a"), base.Message("a", "1"), base.Delta("2", "b"), base.Message("b", "2")], "a\nb\n"),
        ([base.Delta("1", "a"), base.Delta("2", "b")], "a\nb"),
        ([base.Delta("1", "a"), RUN, base.Delta("1", "b"), base.Message("ab", "1")], "a\n\n$ ls\n\nb\n"),
        ([RUN, base.Message("done")], "$ ls\n\ndone\n"),
        ([base.Delta("1", "half"), base.Reconnecting("cut")], "half\n\n… cut\n"),
    ],
)
def test_an_answer_is_printed_while_it_is_written(events: list[base.TurnEvent], shown: str) -> None:
    """Each piece is printed once; other events have their own lines after a blank one."""
    assert shown == on_one_terminal(*events)


@given(st.lists(st.text(), max_size=6))
def test_pieces_and_the_whole_are_the_same(pieces: list[str]) -> None:
    """However an answer is split, it is printed once and completely."""
    pieces = [
        piece.replace("\r", "") for piece in pieces if "\x1b" not in piece and not re.search("[\x80-\x9f]", piece)
    ]
    events: list[base.TurnEvent] = [*(base.Delta("1", piece) for piece in pieces), base.Message("".join(pieces), "1")]

    assert on_one_terminal(base.Message("".join(pieces), "1")).rstrip("\n") == on_one_terminal(*events).rstrip("\n")


def test_a_split_escape_sequence_is_stripped() -> None:
    """An escape sequence that is split between two pieces is harmless."""
    shown = on_one_terminal(base.Delta("1", "a\x1b"), base.Delta("1", "[2Jb\x9b"), base.Delta("1", "31mc"))

    assert [] == [char for char in shown if char in "\x1b\x9b"]


def test_a_script_gets_whole_messages() -> None:
    """If the answer has its own stream, pieces are not printed."""
    answer, aside = StringIO(), StringIO()
    show = TurnPrinter(answer, aside, ENGLISH)
    for event in (base.Delta("1", "Hel"), base.Delta("1", "lo"), base.Message("Hello", "1")):
        show.show_event(event)

    assert ("Hello\n", "") == (answer.getvalue(), aside.getvalue())


def test_a_failure_ends_the_line() -> None:
    """The piece of an answer stays, and the failure starts a new line."""
    out = StringIO()
    show = TurnPrinter(out, out, ENGLISH)
    show.begin_turn()
    show.show_event(base.Delta("1", "half"))
    show.show_failure(base.Failed(base.FailureReason.STREAM_DISCONNECTED), "")

    assert out.getvalue().startswith("half\n\nturn failed: ")


def test_markdown_is_laid_out_when_whole_and_wide() -> None:
    """A complete message is laid out on a color terminal; pieces never are."""
    assert "**bold**\n" == on_one_terminal(base.Message("**bold**"))
    assert "\x1b[1mbold\x1b[0m\n" == on_one_terminal(base.Message("**bold**"), color=True)
    assert "**bold**\n" == on_one_terminal(base.Delta("1", "**bo"), base.Message("**bold**", "1"), color=True)


@pytest.mark.parametrize(
    ("event", "shown"),
    [
        (base.ThreadCompacted(), f"{ENGLISH['compacted']}\n"),
        (
            base.TransportNotice(base.TransportNoticeKind.RESTARTED, "signal 9"),
            f"! {ENGLISH.group('transport_notices')[base.TransportNoticeKind.RESTARTED]}\n",
        ),
        (
            base.PlanUpdated(
                (base.PlanStep("a", "completed"), base.PlanStep("b", "inProgress"), base.PlanStep("c", "pending"))
            ),
            "☑ a\n▸ b\n☐ c\n",
        ),
        (base.ApprovalDecided(LS, base.ApprovalDecision.ACCEPT), ""),
        (base.ApprovalDecided(LS, base.ApprovalDecision.DECLINE), "  declined; the model continues without it\n"),
        (
            base.ApprovalDecided(LS, base.ApprovalDecision.DECLINE, is_by_person=False),
            f"! {ENGLISH['declined_unasked']} {ENGLISH.group('approval_questions')['command']} ls\n",
        ),
        (base.CommandFinished("1", "ls", "", None, is_declined=True), "$ ls\n  not run\n"),
        (
            base.FilesChanged("1", (base.FileDiff("update", "a", "@@ @@\n-1\n+2"),)),
            "~ a (+1 -1)\n  @@ @@\n  -1\n  +2\n",
        ),
        (base.WindowUsage(1, 2), ""),
    ],
)
def test_other_events_are_shown_in_short_lines(event: base.TurnEvent, shown: str) -> None:
    """Plans, approvals, compactions and notices take a line each, and a changed file its diff."""
    assert shown == on_one_terminal(event)


def test_diffs_are_colored() -> None:
    """Added lines are green, removed ones red, and hunks cyan."""
    shown = on_one_terminal(base.FilesChanged("1", (base.FileDiff("update", "a", "@@ @@\n-1\n+2"),)), color=True)

    assert "\x1b[36m  @@ @@\x1b[0m\n\x1b[31m  -1\x1b[0m\n\x1b[32m  +2\x1b[0m\n" in shown


def test_the_context_usage_is_kept_for_the_status_line() -> None:
    """The last reported usage counts."""
    show = TurnPrinter(StringIO(), StringIO(), ENGLISH)
    for event in (base.WindowUsage(1, 10), base.WindowUsage(5, 10)):
        show.show_event(event)

    assert base.WindowUsage(5, 10) == show.window_usage


def test_lines_are_wrapped_between_words() -> None:
    """Chinese is wrapped anywhere; a word that is too long is left to the terminal."""
    assert CASES["wrap"] == [
        (text, width, *wrap_to_width(text, int(width)).split("\n")) for text, width, *_ in CASES["wrap"]
    ]


@given(st.text(st.sampled_from("ab店 \n")), st.integers(2, 20))
def test_wrapping_loses_only_spaces(text: str, width: int) -> None:
    """Each line fits the width unless it is one word."""
    broken = wrap_to_width(text, width)

    assert re.sub("[ \n]", "", text) == re.sub("[ \n]", "", broken)
    assert [] == [line for line in broken.split("\n") if wcswidth(line.rstrip()) > width and " " in line.strip()]
