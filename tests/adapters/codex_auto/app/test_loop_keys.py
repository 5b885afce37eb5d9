"""What the keys do at the prompt: completion, editor, history, pastes."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path

import pytest
from fakes.codex.conversation import open_scene
from fakes.codex.texts import ENGLISH
from prompt_toolkit import PromptSession
from prompt_toolkit.application import create_app_session
from prompt_toolkit.input import PipeInput, create_pipe_input
from prompt_toolkit.output import DummyOutput

from upbeat.adapters.codex_auto.app.commands import CommandContext
from upbeat.adapters.codex_auto.app.loop import InteractiveLoop
from upbeat.adapters.codex_auto.conversation.conversation import Conversation

ENTER, ALT_ENTER, TAB, DOWN, CTRL_R, ESCAPE = "\r", "\x1b\r", "\t", "\x1b[B", "\x12", "\x1b"
CTRL_X_CTRL_E = "\x18\x05"


class Prompt:
    """The prompt of a loop, with keys to press."""

    def __init__(self, folder: Path, keys: PipeInput) -> None:
        one = open_scene(folder)
        opening: Future[Conversation] = Future()
        opening.set_result(one.conversation)
        context = CommandContext(opening, one.printer, ENGLISH, is_plan_only=False)
        loop = InteractiveLoop(context, write_plan=print, state_home=None)
        loop._files.list_files = lambda: ["docs/用户 手册.md", "src/main.py", "src/mail.py"]
        loop._files()
        self.session: PromptSession[str] = loop._create_prompt_session()
        self._keys = keys

    def typed(self, *presses: str, pause: float = 0.15) -> str:
        """What is sent when ``presses`` come one after the other."""

        def press_all() -> None:
            for press in presses:
                time.sleep(pause)
                self._keys.send_text(press)

        presser = threading.Thread(target=press_all)
        presser.start()
        sent = self.session.prompt()
        presser.join(60)  # what it still had to press would go to the next test
        return sent


@pytest.fixture
def prompt(tmp_path: Path) -> Iterator[Prompt]:
    with create_pipe_input() as keys, create_app_session(input=keys, output=DummyOutput()):
        yield Prompt(tmp_path, keys)


@pytest.mark.parametrize(
    ("presses", "sent"),
    [
        (["hello", ENTER], "hello"),
        (["one", ALT_ENTER, "two", ENTER], "one\ntwo"),
        (["/st", TAB, ENTER], "/status"),
        (["/st", DOWN, ENTER], "/status"),
        (["see @main", TAB, " please", ENTER], "see src/main.py please"),
        (["see @手", DOWN, ENTER, " please", ENTER], 'see "docs/用户 手册.md" please'),
        (["src/ma", DOWN, DOWN, ENTER, ENTER], "src/mail.py"),
        (["see @main", ENTER], "see @main"),
    ],
    ids=["plain", "lines", "tab", "menu", "file by tab", "file by menu", "second file", "nothing chosen"],
)
def test_keys(prompt: Prompt, presses: list[str], sent: str) -> None:
    """Enter sends a prompt and a chosen command; of a file it only takes the name."""
    assert sent == prompt.typed(*presses, pause=0.4 if TAB in presses or DOWN in presses else 0.1)


def test_old_prompts_are_found_again(prompt: Prompt) -> None:
    """Ctrl-R searches what was sent before."""
    prompt.typed("the first prompt", ENTER)
    prompt.typed("another one", ENTER)

    assert "the first prompt" == prompt.typed(CTRL_R, "first", ENTER, ENTER)


def test_an_editor_can_be_used(prompt: Prompt, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-X Ctrl-E opens $EDITOR with what was typed so far, and takes back what it leaves."""
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\nprintf " and\\nedited 店" >> "$1"\n')
    editor.chmod(0o755)
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", str(editor))

    assert "typed and\nedited 店" == prompt.typed("typed", CTRL_X_CTRL_E, ENTER, pause=0.6)


@pytest.mark.parametrize(
    "pasted", ["word word\n" * 20_000, "x" * 200_000, "店" * 70_000, "a/b" * 60_000], ids=["lines", "one", "zh", "path"]
)
def test_a_large_paste_is_fast_and_whole(prompt: Prompt, pasted: str) -> None:
    """200 KB in brackets arrive as they are, line ends and all, in the time of a blink or two."""
    began = time.monotonic()
    sent = prompt.typed(f"\x1b[200~{pasted}\x1b[201~", ENTER)

    assert pasted == sent
    assert time.monotonic() - began < 40  # 1 as measured; minutes when each key was looked at alone


def test_a_paste_does_not_send(prompt: Prompt) -> None:
    """A line end inside brackets is a line end."""
    assert "one\ntwo\n" == prompt.typed("\x1b[200~one\r\ntwo\r\n\x1b[201~", ENTER)
