"""Markdown answers: readable, within the width, and without control of the terminal."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from fakes.codex.workbench import make_workbench
from hypothesis import given
from hypothesis import strategies as st
from wcwidth import wcswidth

from upbeat.adapters.codex_auto.view.markdown import MAX_MARKDOWN_CHARS, render_markdown

COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def plain(text: str, width: int = 60) -> str:
    return COLOUR.sub("", render_markdown(text, width))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Found it.", "Found it.\n"),
        ("# Title\n\ntext", "Title\n\ntext\n"),
        ("- one\n- two", " • one\n • two\n"),
        ("[label](http://example.org/x)", "label (http://example.org/x)\n"),
        ("[red]not markup[/red] :smile:", "[red]not markup[/red] :smile:\n"),
        ("用户手册在 `docs/用户 手册.md`。", "用户手册在 docs/用户 手册.md。\n"),
    ],
)
def test_markdown_is_laid_out(text: str, shown: str) -> None:
    """Headings are left-aligned, lists have bullets, links their addresses; other markup is text."""
    assert shown == plain(text)


def test_code_keeps_its_lines() -> None:
    """The lines of a code block are not joined."""
    lines = plain("```python\ndef f():\n    return 1\n```").split("\n")

    assert ["def f():", "    return 1"] == [line[1:] for line in lines if "f()" in line or "return" in line]


@given(st.text(st.sampled_from("ab店 \n#*`-_[]()|>1.")), st.integers(20, 80))
def test_no_line_is_too_wide(text: str, width: int) -> None:
    """Lines fit the width, also in Chinese, and color is the only kind of sequence."""
    shown = plain(text, width)

    assert "\x1b" not in shown
    assert max(wcswidth(line) for line in shown.split("\n")) <= width


def test_a_huge_answer_is_unchanged() -> None:
    """Laying out a huge answer would take seconds."""
    text = "*x* " * (MAX_MARKDOWN_CHARS // 3)

    assert text + "\n" == render_markdown(text, 80)


def test_a_script_does_not_load_rich(tmp_path: Path) -> None:
    """A turn in a pipe loads neither rich nor prompt_toolkit."""
    bench = make_workbench(tmp_path / "b")
    program = (
        "import sys; from upbeat.adapters.codex_auto.app.main import main; code = main(['--once', 'hello'])\n"
        "sys.exit(code or ', '.join({'rich', 'prompt_toolkit'} & set(sys.modules)) or None)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=bench.repository, env=bench.environment(), capture_output=True, text=True
    )

    assert (0, "plain answer\n") == (done.returncode, done.stdout)
