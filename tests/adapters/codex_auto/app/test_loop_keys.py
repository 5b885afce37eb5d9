"""Keys at the prompt, and the stored history."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path

import pytest
from fakes.codex.conversation import ENGLISH, open_scene
from prompt_toolkit import PromptSession
from prompt_toolkit.application import create_app_session
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.input import PipeInput, create_pipe_input
from prompt_toolkit.output import DummyOutput

from upbeat.adapters.codex_auto.app.commands import CommandContext
from upbeat.adapters.codex_auto.app.loop import HISTORY_FILE, MAX_HISTORY_BYTES, InteractiveLoop, PromptHistory
from upbeat.adapters.codex_auto.conversation.conversation import Conversation

ENTER, ALT_ENTER, TAB, DOWN, CTRL_R, ESCAPE = "\r", "\x1b\r", "\t", "\x1b[B", "\x12", "\x1b"
CTRL_X_CTRL_E = "\x18\x05"


Condition = Callable[[Buffer], bool]


class Prompt:
    """The prompt of a loop, with keys to press."""

    def __init__(self, folder: Path, keys: PipeInput) -> None:
        scene = open_scene(folder)
        opening: Future[Conversation] = Future()
        opening.set_result(scene.conversation)
        context = CommandContext(opening, scene.printer, ENGLISH, is_plan_only=False)
        loop = InteractiveLoop(context, write_plan=print, state_home=None)
        loop._files.list_files = lambda: ["docs/用户 手册.md", "src/main.py", "src/mail.py"]
        loop._files()
        self.session: PromptSession[str] = loop._create_prompt_session()
        self._keys = keys

    def typed(self, *presses: str | Condition) -> str:
        """What is sent when ``presses`` come one after the other; a condition is waited for."""

        def press_all() -> None:
            end = time.monotonic() + 30
            for press in presses:
                if isinstance(press, str):
                    self._keys.send_text(press)
                else:
                    while not press(self.session.default_buffer) and time.monotonic() < end:
                        time.sleep(0.01)

        presser = threading.Thread(target=press_all)
        presser.start()
        sent = self.session.prompt()
        presser.join(60)  # what it still had to press would go to the next test
        return sent


def menu(count: int) -> Condition:
    """Wait until so many completions are offered."""
    return lambda buffer: bool(buffer.complete_state) and len(buffer.complete_state.completions) == count


def text(expected: str) -> Condition:
    """Wait until the prompt has the text ``expected``."""
    return lambda buffer: buffer.text == expected


@pytest.fixture
def prompt(tmp_path: Path) -> Iterator[Prompt]:
    with create_pipe_input() as keys, create_app_session(input=keys, output=DummyOutput()):
        yield Prompt(tmp_path, keys)


@pytest.mark.parametrize(
    ("presses", "sent"),
    [
        (["hello", ENTER], "hello"),
        (["one", ALT_ENTER, "two", ENTER], "one\ntwo"),
        (["/st", menu(1), TAB, text("/status"), ENTER], "/status"),
        (["/st", menu(1), DOWN, text("/status"), ENTER], "/status"),
        (["see @main", menu(1), TAB, text("see src/main.py"), " please", ENTER], "see src/main.py please"),
        (["see @手", menu(1), DOWN, ENTER, " please", ENTER], 'see "docs/用户 手册.md" please'),
        (["src/ma", menu(2), DOWN, DOWN, text("src/mail.py"), ENTER, ENTER], "src/mail.py"),
        (["see @main", menu(1), ENTER], "see @main"),
    ],
    ids=["plain", "lines", "tab", "menu", "file by tab", "file by menu", "second file", "nothing chosen"],
)
def test_keys(prompt: Prompt, presses: list[str | Condition], sent: str) -> None:
    """Enter sends a prompt or a chosen command; it only inserts a chosen file name."""
    assert sent == prompt.typed(*presses)


def test_earlier_prompts_can_be_searched(prompt: Prompt) -> None:
    """Ctrl-R searches earlier prompts."""
    prompt.typed("the first prompt", ENTER)
    prompt.typed("another one", ENTER)

    assert "the first prompt" == prompt.typed(CTRL_R, "first", ENTER, ENTER)


def test_an_editor_can_be_used(prompt: Prompt, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-X Ctrl-E opens $EDITOR with the text so far, and reads the result."""
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\nprintf " and\\nedited 店" >> "$1"\n')
    editor.chmod(0o755)
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", str(editor))

    assert "typed and\nedited 店" == prompt.typed("typed", CTRL_X_CTRL_E, text("typed and\nedited 店"), ENTER)


@pytest.mark.parametrize(
    "pasted", ["word word\n" * 20_000, "x" * 200_000, "店" * 70_000, "a/b" * 60_000], ids=["lines", "one", "zh", "path"]
)
def test_a_large_paste_is_fast_and_whole(prompt: Prompt, pasted: str) -> None:
    """A bracketed paste of 200 KB arrives unchanged, without delay."""
    began = time.monotonic()
    sent = prompt.typed(f"\x1b[200~{pasted}\x1b[201~", ENTER)

    assert pasted == sent
    assert time.monotonic() - began < 40  # 1 as measured; minutes when each key was looked at alone


def test_a_paste_does_not_send(prompt: Prompt) -> None:
    """A line end inside a bracketed paste does not send the prompt."""
    assert "one\ntwo\n" == prompt.typed("\x1b[200~one\r\ntwo\r\n\x1b[201~", ENTER)


# --- the stored history ---


SECRET = "AKIA" + "Q3EXAMPLE7TESTKY"


def test_prompts_are_stored_without_secrets(tmp_path: Path) -> None:
    """A prompt of several lines stays one prompt, without control characters and keys."""
    PromptHistory(tmp_path).store_string(f"one\ntwo {SECRET}\x1b[2J")
    [stored] = PromptHistory(tmp_path).load_history_strings()

    assert stored.startswith("one\ntwo ")
    assert SECRET not in stored
    assert "\x1b" not in stored


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    """The history is not written through a symbolic link."""
    (tmp_path / "upbeat").mkdir()
    (tmp_path / HISTORY_FILE).symlink_to(tmp_path / "elsewhere")
    PromptHistory(tmp_path).store_string("x")

    assert not (tmp_path / "elsewhere").exists()


def test_a_history_that_cannot_be_stored_is_no_error(tmp_path: Path) -> None:
    """A home that cannot be written costs only the history."""
    (tmp_path / "upbeat").write_text("a file")
    kept = PromptHistory(tmp_path)
    kept.store_string("x")

    assert [] == kept.load_history_strings()


def test_a_long_history_is_set_aside(tmp_path: Path) -> None:
    """A file above its size limit is renamed, and a new one started."""
    kept = PromptHistory(tmp_path)
    kept.store_string("x" * (MAX_HISTORY_BYTES + 1))
    kept.store_string("new")

    assert ["new"] == kept.load_history_strings()
