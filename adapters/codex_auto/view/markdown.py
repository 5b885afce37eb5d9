"""Render a complete answer of the model for a wide terminal with color.

Invariant: control characters were stripped before, and nothing in the text controls the terminal or rich: no markup, no
links whose text differs from their address, no emoji names. Text that is too long is printed unchanged.
"""

from __future__ import annotations

from io import StringIO

from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import Heading, Markdown
from rich.text import Text

MAX_MARKDOWN_CHARS = 100_000
"""A longer text would take seconds to lay out."""


class _Heading(Heading):
    """A left-aligned bold heading instead of a centered box."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        text: Text = self.text.copy()
        text.justify = "left"
        text.stylize("bold")
        if self.tag == "h1":
            text.stylize("underline")
        yield text


class _Markdown(Markdown):
    elements = Markdown.elements | {"heading_open": _Heading}


def render_markdown(text: str, width: int) -> str:
    """Return ``text`` laid out for ``width`` columns, with color sequences only; it ends with a newline."""
    if len(text) > MAX_MARKDOWN_CHARS:
        return text + "\n"
    paper = StringIO()
    console = Console(
        file=paper,
        width=width,
        force_terminal=True,
        color_system="standard",
        markup=False,
        emoji=False,
        highlight=False,
        legacy_windows=False,
        _environ={},
    )
    console.print(_Markdown(text, code_theme="ansi_dark", hyperlinks=False))
    lines = paper.getvalue().strip("\n").split("\n")
    return "\n".join(line.rstrip() for line in lines) + "\n"
