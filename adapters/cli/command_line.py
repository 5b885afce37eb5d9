"""Options, subcommands, JSON output, progress and signals that several commands share."""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import Any, NoReturn

from upbeat.adapters.system.git.root import find_root
from upbeat.adapters.system.option_parser import OptionParser
from upbeat.adapters.system.terminal import are_terminals, discard_typeahead, write_control
from upbeat.core.sanitize.control_chars import strip_controls

SCHEMA_VERSION = "1.0"
BAR_WIDTH = 30
"""Characters of the progress bar."""

_LINK = re.compile(r"\[([^]]+)]\([^)]+\)")


@dataclass(frozen=True, slots=True)
class Subcommand:
    """What ``upbeat COMMAND NAME`` does: options in, exit code out."""

    help: str
    run: Callable[[argparse.Namespace], int]
    add_options: Callable[[argparse.ArgumentParser], object] = lambda _parser: None


def build_subcommand_parser(
    command: str, description: str | None, subcommands: Mapping[str, Subcommand]
) -> OptionParser:
    """Return the parser of a command that has ``subcommands``."""
    parser = create_parser(command, description)
    choices = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, subcommand in subcommands.items():
        options = choices.add_parser(name, help=subcommand.help, description=subcommand.help)
        add_repo_option(options)
        subcommand.add_options(options)
        options.set_defaults(run=subcommand.run)
    return parser


def run_subcommand(parser: OptionParser, arguments: Sequence[str]) -> int:
    """Parse ``arguments`` and run the subcommand they name; return its exit code."""
    options = parser.parse_args(arguments)
    code: int = options.run(options)
    return code


def create_parser(command: str, description: str | None) -> OptionParser:
    """Return the parser of ``upbeat COMMAND``; its help is ``description``, a docstring, as plain text."""
    plain = _LINK.sub(r"\1", (description or "").replace("``", "`"))
    paragraphs = [paragraph for paragraph in plain.split("\n\n") if not paragraph.startswith("Invariant:")]
    return OptionParser(prog=f"upbeat {command}", description="\n\n".join(paragraphs))


def add_repo_option(
    parser: argparse.ArgumentParser, meaning: str = "the repository (default: the one around this folder)"
) -> None:
    """Add ``--repo``, which takes an existing folder."""
    parser.add_argument("--repo", metavar="DIR", type=_existing_folder, help=meaning)


def _existing_folder(text: str) -> str:
    if not os.path.isdir(text):
        raise argparse.ArgumentTypeError(f"{text} is not a folder")
    return text


MAX_COUNT = 10**9


def parse_count(text: str) -> int:
    """Return an option's whole number from 1. Raises argparse.ArgumentTypeError."""
    if not (text.isascii() and text.isdigit() and 0 < int(text) < MAX_COUNT):
        raise argparse.ArgumentTypeError(f"expected a whole number from 1; got {text!r}")
    return int(text)


def add_json_option(parser: argparse.ArgumentParser) -> None:
    """Add ``--json``."""
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def project_root(repo: str | None) -> str:
    """Return the real path of the working tree around ``repo`` (default: this folder), or of the folder itself."""
    start = os.path.realpath(repo or ".")
    return find_root(start).worktree or start


def print_json(document: Mapping[str, Any]) -> int:
    """Print ``document`` with the version of its schema; return exit code 0."""
    print(json.dumps({"schema_version": SCHEMA_VERSION, **document}, indent=2, ensure_ascii=False))
    return 0


def print_problems(problems: Iterable[str]) -> None:
    """Print each problem on stderr, without control characters."""
    for problem in problems:
        print(f"upbeat: {strip_controls(problem)}", file=sys.stderr)


def confirm(question: str, *, is_yes_default: bool = False) -> bool:
    """Ask ``question`` on stderr; return whether the answer is yes. Keys pressed before do not answer it."""
    discard_typeahead()
    print(f"{question} {'[Y/n]' if is_yes_default else '[y/N]'} ", end="", file=sys.stderr, flush=True)
    answer = sys.stdin.readline()  # empty at the end of the input, which is no answer
    return answer.strip().lower() in ("y", "yes") or (is_yes_default and answer != "" and not answer.strip())


ProgressCallback = Callable[[int, int], None]


@contextmanager
def progress(unit: str, *, is_shown: bool = True) -> Iterator[ProgressCallback | None]:
    """Yield a function that draws how much of long work is done, of how much; the line is removed afterwards.

    It is drawn on stderr, and only at a terminal; elsewhere this yields None.
    """
    if not is_shown or not are_terminals(sys.stderr):
        yield None
        return

    def draw(done: int, total: int) -> None:
        filled = BAR_WIDTH * done // (total or 1)
        write_control(sys.stderr, f"\r[{'#' * filled}{'.' * (BAR_WIDTH - filled)}] {done}/{total} {unit}\033[K")

    try:
        yield draw
    finally:
        write_control(sys.stderr, "\r\033[K")


def exit_on_signals() -> None:
    """Raise ``SystemExit(128 + number)`` on SIGTERM and SIGHUP, so that ``finally`` clauses stop the user's servers.

    A signal that the parent process had ignored (nohup) stays ignored. Call this from the main thread.
    """
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _exit)


def _exit(number: int, _frame: FrameType | None) -> NoReturn:
    for each in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(each, signal.SIG_IGN)  # a second signal must not interrupt the cleanup
    raise SystemExit(128 + number)
