"""``upbeat``: reads the command line and dispatches. Law: no subcommand's imports are paid by another one."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module

from ... import __version__
from ...core.errors import UserError
from ..terminal import guarded

COMMANDS = {
    "prepare": "prepare one turn: a prompt or a request in, a report out (JSON)",
    "hook": "answer one hook event of a client: payload on stdin, output on stdout",
    "mcp": "serve a client over stdio: hooks and ci_* tools",
    "install": "give a client its plugin; every change is shown first",
    "uninstall": "give back what was there before a client had its plugin",
    "doctor": "say of each guard whether it is armed, how that is known, and what to do where it is not",
    "workflow": "list, show and check the workflows; start, stop, continue, resume one",
    "rules": "list, show, check, add and remove rules of your own and of the project",
    "specs": "list, make and move the features in specs/features",
    "tools": "list the ci_* tools, or call one",
    "index": "index this repository for the ci_* tools, or bring its index up to date",
    "status": "show this repository's sessions, and how the journal is",
    "log": "list the records of all sessions; log prune, log verify",
    "why": "explain one record: what decided, on what grounds, from which file",
    "backtest": "what a rule would have done in your past sessions, and what became of those calls",
    "stats": "what was put before models, by which part, and how often what it named was used",
    "observations": "list what upbeat has learnt here; show, forget, clear",
    "run": "run a command and tell its exit code, also where the client hides it",
    "trust": "trust this project's settings, workflows and rules as they are now",
    "statusline": "print one line for Claude Code's status bar, from its JSON on stdin",
    "schema": "print the JSON Schema of the contract",
}
"""Each is a module of this package with ``run(arguments) -> exit code``."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run ``upbeat`` with ``arguments`` (default: the process's own); the exit code."""
    with guarded():
        return _run(list(sys.argv[1:] if arguments is None else arguments))


def _run(words: list[str]) -> int:
    match words:
        case [] | ["-h" | "--help", *_]:
            print(usage())
            return 0 if words else 2
        case ["-V" | "--version", *_]:
            print(f"upbeat {__version__}")
            return 0
        case [command, *rest] if command in COMMANDS:
            return _dispatch(command, rest)
        case _:
            return _unknown(words[0])


def _dispatch(command: str, arguments: Sequence[str]) -> int:
    """Run the module of ``command``; what a person or the machine got wrong becomes one sentence and a 1."""
    module = import_module(f".{command}", __package__)
    try:
        return int(module.run(arguments))
    except BrokenPipeError:
        _forget_stdout()
        return 1
    except (UserError, OSError) as error:
        print(f"upbeat: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


def _forget_stdout() -> None:
    """Nobody reads any more: let the interpreter's last flush go nowhere."""
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        os.dup2(nowhere.fileno(), 1)


def usage() -> str:
    """The help text, from the table of commands."""
    width = max(map(len, COMMANDS))
    lines = [f"  {name:<{width}}  {text}" for name, text in COMMANDS.items()]
    return "\n".join(["usage: upbeat COMMAND [...]", "", *lines, "", "upbeat COMMAND --help says more."])


def _unknown(word: str) -> int:
    from difflib import get_close_matches

    close = get_close_matches(word, COMMANDS, n=1)
    hint = f"; did you mean '{close[0]}'?" if close else "; upbeat --help lists the commands"
    print(f"upbeat: no command '{word}'{hint}", file=sys.stderr)
    return 2
