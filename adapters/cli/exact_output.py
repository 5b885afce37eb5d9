"""Show exactly what the user is about to approve, and ask.

Invariant: nothing is stripped or cut (``core/sanitize/exact``), and at a terminal the question follows the last page.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence

from upbeat.adapters.cli.command_line import confirm
from upbeat.adapters.system.terminal import are_terminals, discard_typeahead
from upbeat.core.sanitize.exact import MIN_COLUMNS, Marks, exact_rows, pages

CONTENT_MARKS = Marks("  | ", "  | ")
"""What precedes the lines of a file."""
LINE_MARKS = Marks("", "", "\\ ")
"""For lines that cannot begin with a backslash."""
_UNLIMITED = 1 << 30
_PROMPT_ROWS = 4


def output_rows(text: str, marks: Marks) -> list[str]:
    """Return ``text`` as rows for standard output; only a terminal needs folds."""
    return exact_rows(text, _output_size().columns, marks, getattr(sys.stdout, "encoding", None) or "utf-8")


def bytes_rows(data: bytes) -> list[str]:
    r"""Return the content of a file as rows; a byte that is not UTF-8 becomes ``\u{dc80}`` to ``\u{dcff}``."""
    return output_rows(data.decode("utf-8", "surrogateescape").removesuffix("\n"), CONTENT_MARKS)


def diff_rows(lines: Iterable[str]) -> list[str]:
    """Return the lines of a unified diff as rows; the sign of a line precedes its text."""
    rows: list[str] = []
    for line in lines:
        sign = line[:1] if line[:1] in ("+", "-", " ") else ""
        rows += output_rows(line.removeprefix(sign), LINE_MARKS._replace(first=sign))
    return rows


def show_rows(rows: Sequence[str], *, is_question: bool) -> bool:
    """Print ``rows``; before a question page by page. Return whether all of them were shown as they should be."""
    size = _output_size()
    is_paged = is_question and are_terminals(sys.stdin, sys.stdout)
    if is_paged and size.columns < MIN_COLUMNS:
        print(f"upbeat: the terminal is too narrow; make it at least {MIN_COLUMNS} columns wide", file=sys.stderr)
        return False
    divided = pages(rows, size.lines - _PROMPT_ROWS) if is_paged else [rows]
    for number, page in enumerate(divided, 1):
        _print_lines(page)
        if number < len(divided):
            question = f"upbeat: page {number} of {len(divided)}; Enter shows the next one, q stops"
            discard_typeahead()
            print(f"{question} › ", end="", file=sys.stderr, flush=True)
            if sys.stdin.readline().strip(" ") != "\n":
                return False
    return True


def confirm_rows(rows: Sequence[str], question: str) -> bool:
    """Show ``rows``, then ask ``question``; return whether the answer is yes."""
    return show_rows(rows, is_question=True) and confirm(question)


def _print_lines(rows: Iterable[str]) -> None:
    for row in rows:
        print(row)
    sys.stdout.flush()


def _output_size() -> os.terminal_size:
    try:
        return os.get_terminal_size(sys.stdout.fileno())
    except (OSError, ValueError, AttributeError):
        return os.terminal_size((_UNLIMITED, _UNLIMITED))
