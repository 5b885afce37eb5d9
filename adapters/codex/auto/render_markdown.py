"""A whole answer of the model as it looks best on a wide terminal with colour.

Law: the text has been stripped before, and nothing in it is an instruction to the terminal or to rich: no markup, no
links that show one address and open another, no emoji names. What is too large is left as it is.
"""

from __future__ import annotations

from io import StringIO

from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import Heading, Markdown
from rich.text import Text

MOST_CHARS = 100_000
"""A longer text is not worth the seconds that laying it out takes."""


class _Heading(Heading):
    """A heading at the left in bold, instead of in a box in the middle."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        text: Text = self.text.copy()
        text.justify = "left"
        text.stylize("bold")
        if self.tag == "h1":
            text.stylize("underline")
        yield text


class _Markdown(Markdown):
    elements = Markdown.elements | {"heading_open": _Heading}


def render(text: str, width: int) -> str:
    """``text`` laid out for ``width`` columns, with sequences for colour and for nothing else; ends in a line end."""
    if len(text) > MOST_CHARS:
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
