"""``docs/upbeat.1``: the manual page, from the parsers and the docstrings of the commands."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from importlib import import_module

from upbeat.adapters.cli.completion import build_program_parser
from upbeat.adapters.cli.main import COMMANDS

EXIT_CODES = {
    0: "done; of `hook` always",
    1: "not done, with a sentence on stderr; `doctor`: something must be done; `index`: incomplete",
    2: "wrong usage, or a question where there is no terminal; nothing was changed",
    3: "`status`, `codex-auto --once`: a workflow waits for you",
    4: "`status`: nothing can be stored",
    5: "`doctor`: no client here has upbeat",
    10: "`prepare`: the core failed; the report is empty",
    20: "`prepare`, `tools list`, `codex-auto`: the configuration has mistakes",
    30: "`prepare`: the request cannot be read",
    40: "`prepare --strict`, `tools call`: a tool failed",
    50: "`prepare --strict`: time or characters ran out",
    127: "`codex-auto`: Codex was not found; `exec`: the command was not found (126: it cannot be executed)",
    130: "stopped by Ctrl-C (143 SIGTERM, 129 SIGHUP)",
}


def manual_page() -> str:
    """Return the page as roff."""
    parser = build_program_parser()
    lines = [
        '.TH UPBEAT 1 "" "upbeat" "User Commands"',
        ".SH NAME",
        r"upbeat \- prepare, guard and continue turns of coding agents",
    ]
    lines += [".SH SYNOPSIS", r"\fBupbeat\fR \fICOMMAND\fR [\fIOPTIONS\fR]", ".SH COMMANDS"]
    [commands] = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    for name, summary in COMMANDS.items():
        lines += [rf".SS {name}", _roff(summary[0].upper() + summary[1:] + "."), *_paragraphs(name)]
        lines += _options(commands.choices[name])
    lines.append(".SH EXIT STATUS")
    for code, meaning in EXIT_CODES.items():
        lines += [".TP", str(code), _roff(meaning)]
    return "\n".join(lines) + "\n"


def exit_code_rows() -> str:
    """Return the rows of a Markdown table."""
    return "\n".join(f"| {code} | {meaning} |" for code, meaning in EXIT_CODES.items())


def _paragraphs(name: str) -> Iterator[str]:
    docstring = import_module(f"upbeat.adapters.cli.{name}").__doc__ or ""
    for paragraph in docstring.split("\n\n")[1:]:
        if not paragraph.startswith("Invariant:"):
            yield f".PP\n{_roff(' '.join(paragraph.split()))}"


def _options(parser: argparse.ArgumentParser) -> Iterator[str]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for choice in action._choices_actions:
                yield f".TP\n\\fB{_roff(choice.dest)}\\fR\n{_roff(choice.help or '')}"
        elif action.dest != "help" and action.help:
            value = action.metavar or (action.dest.upper() if action.nargs != 0 else "")
            names = (
                ", ".join(rf"\fB{_roff(name)}\fR" for name in action.option_strings) or rf"\fI{_roff(str(value))}\fR"
            )
            shown = rf" \fI{_roff(str(value))}\fR" if action.option_strings and value else ""
            yield f".TP\n{names}{shown}\n{_roff(action.help)}"


def _roff(text: str) -> str:
    """Return ``text`` with roff's own characters escaped; code marks are bold."""
    escaped = text.replace("\\", r"\e").replace("-", r"\-")
    escaped = re.sub(r"``?([^`]+)``?", r"\\fB\1\\fR", escaped)
    return re.sub(r"(?m)^([.'])", r"\\&\1", escaped)
