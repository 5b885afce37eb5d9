"""What a command prints does not act on a terminal."""

from __future__ import annotations

import io
import json
import os
import select
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from upbeat.adapters.cli.main import main
from upbeat.adapters.system import terminal
from upbeat.adapters.system.environment import read_environment
from upbeat.adapters.system.terminal import discard_typeahead
from upbeat.core.messages.layout import Line, Style


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain text,\ttabs,\nlines and 仓库 ü 😀\n", "plain text,\ttabs,\nlines and 仓库 ü 😀\n"),
        ("\x1b[2J", "\\u001b[2J"),
        ("\r\x08\x7f\x9b", "\\u000d\\u0008\\u007f\\u009b"),
        ("\u202e\u200b\ufeff\u2028", "\\u202e\\u200b\\ufeff\\u2028"),
        ("\U000e0041", "\\udb40\\udc41"),
        ("\udcff", "\\udcff"),
    ],
)
def test_escapes(text: str, expected: str) -> None:
    """What acts or hides is written as JSON writes it, and all else as it is."""
    assert expected == terminal.escape_controls(text)


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_json_means_the_same(text: str) -> None:
    """A JSON document is the same document afterwards."""
    assert {"text": text} == json.loads(terminal.escape_controls(json.dumps({"text": text}, ensure_ascii=False)))


def test_guards_both_streams(capsys: pytest.CaptureFixture[str]) -> None:
    """While it lasts, whatever is printed is escaped; a sequence of our own goes through."""
    before = sys.stdout, sys.stderr
    with terminal.escaping_output():
        print("\x1b[2J", end="")
        print("\x9b", end="", file=sys.stderr)
        terminal.write_control(sys.stderr, "\r\x1b[K")

    assert before == (sys.stdout, sys.stderr)
    assert ("\\u001b[2J", "\\u009b\r\x1b[K") == capsys.readouterr()


def test_is_the_stream_in_all_else() -> None:
    """Everything but writing is left to the stream that is guarded."""
    inner = io.StringIO()
    stream = terminal.EscapingStream(inner)
    stream.writelines(iter(["a\x00", "b"]))

    assert ("a\\u0000b", False, 1) == (inner.getvalue(), stream.isatty(), stream.write("\x00"))


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "gbk", "utf-16"])
def test_what_an_encoding_lacks(encoding: str) -> None:
    """A character that a stream cannot encode is written as JSON writes it: the document is the same."""
    inner = io.TextIOWrapper(io.BytesIO(), encoding)
    terminal.EscapingStream(inner).write(json.dumps("仓库 ü 😀", ensure_ascii=False))
    inner.flush()

    written = inner.buffer.getvalue().decode(encoding)  # type: ignore[attr-defined]
    assert ("仓库 ü 😀", encoding == "utf-16") == (json.loads(written), "😀" in written)


def test_a_crash_tells_in_the_same_way(capsys: pytest.CaptureFixture[str]) -> None:
    """The traceback of an uncaught exception is escaped, too."""
    with terminal.escaping_output():
        hook = sys.excepthook
    hook(ValueError, ValueError("\x1b]0;owned\x07"), None)

    assert "ValueError: \\u001b]0;owned\\u0007\n" == capsys.readouterr().err


def test_a_command_is_guarded(capsys: pytest.CaptureFixture[str]) -> None:
    """``upbeat`` with a word that would clear the screen says that there is no such command."""
    assert 2 == main(["\x1b[2J"])
    assert capsys.readouterr().err.startswith("upbeat: no command '\\u001b[2J'")


def test_who_sits_at_a_terminal() -> None:
    """Streams are no terminal if one of them was closed before the start or is redirected."""
    leader, follower = os.openpty()
    with open(leader, "rb"), open(follower, encoding="utf-8") as stream:
        assert terminal.are_terminals(stream)
        assert not terminal.are_terminals(stream, None)
        assert not terminal.are_terminals(io.StringIO(), stream)


def test_keys_pressed_before_a_question_are_discarded(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was typed ahead does not answer; without a terminal nothing is discarded."""
    master, slave = os.openpty()
    os.write(master, b"y\n")
    with open(slave, encoding="utf-8") as keys:
        monkeypatch.setattr(sys, "stdin", keys)
        select.select([keys], [], [], 5)
        discard_typeahead()
        os.write(master, b"n\n")

        assert "n\n" == keys.readline()
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\n"))
    discard_typeahead()

    assert "y\n" == sys.stdin.read()
    os.close(master)


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("stream", "variables", "shown"),
    [
        (_Terminal, {}, "\x1b[32m\u2713 \x1b[0m\\u001b[2J\n"),
        (_Terminal, {"NO_COLOR": ""}, "\u2713 \\u001b[2J\n"),
        (_Terminal, {"TERM": "dumb"}, "\u2713 \\u001b[2J\n"),
        (io.StringIO, {}, "\u2713 \\u001b[2J\n"),
    ],
)
def test_lines_have_colors_at_a_terminal_only(
    monkeypatch: pytest.MonkeyPatch, stream: type[io.StringIO], variables: dict[str, str], shown: str
) -> None:
    """A pipe and NO_COLOR have plain text; what the text itself contains is escaped in any case."""
    out = stream()
    monkeypatch.setattr(sys, "stdout", terminal.EscapingStream(out))
    terminal.print_lines([Line("\u2713 \x1b[2J", Style.GOOD, 2)], read_environment(variables))

    assert shown == out.getvalue()


def test_the_screen_has_the_columns_that_the_user_sets(monkeypatch: pytest.MonkeyPatch) -> None:
    """COLUMNS decides, as in other programs."""
    monkeypatch.setenv("COLUMNS", "61")

    assert ("zh", 61) == terminal.read_screen(read_environment({"LANG": "zh_CN.UTF-8"}))[:2]
