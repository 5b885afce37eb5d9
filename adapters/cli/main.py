"""``upbeat``: parse the command line and dispatch.

Invariant: a subcommand does not import what only another one needs.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module

from upbeat import __version__
from upbeat.adapters.system.terminal import escaping_output
from upbeat.core.errors import UserError

COMMANDS = {
    "prepare": "prepare one turn from a prompt or request; print a JSON report",
    "hook": "answer one hook event: payload on stdin, answer on stdout",
    "mcp": "serve hooks and ci_* tools to a client over stdio",
    "install": "install the plugin for a client (shows a diff first)",
    "uninstall": "remove the plugin and restore the client's settings",
    "doctor": "check that upbeat's hooks are active; suggest fixes",
    "config": "list, get, set, unset and edit settings",
    "off": "switch upbeat off in this repository",
    "on": "switch upbeat on again in this repository",
    "workflow": "list, show and check workflows; start, stop, continue or resume one",
    "rules": "list, show, check, add and remove your rules and the project's",
    "features": "list, show, create and move the features in specs/features",
    "tools": "list, call and approve ci_* tools and the tools of your MCP servers",
    "index": "build or update this repository's index",
    "status": "show this repository's sessions and the state of the journal",
    "log": "list journal records; prune or verify the journal",
    "why": "explain one decision: who decided, why, and which file configured it",
    "context": "show exactly what context the last turn got",
    "data": "list what is stored on this machine, and purge it",
    "backtest": "replay your past sessions against a rule and count what it would have blocked",
    "stats": "show injected context per source, and how often it was used",
    "learned": "list the habits learned here; show, forget or clear them",
    "exec": "run a command and report its exit code even when the client hides it",
    "trust": "trust this project's settings, workflows and rules with their present content",
    "statusline": "print one line for Claude Code's status bar",
    "completion": "print a completion script for bash, zsh or fish",
    "schema": "print a JSON Schema of the contract",
}
"""Each is a module of this package with ``run(arguments) -> exit code``."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run ``upbeat`` with ``arguments`` (default: those of the process); return the exit code."""
    with escaping_output():
        return _run_words(list(sys.argv[1:] if arguments is None else arguments))


def _run_words(words: list[str]) -> int:
    match words:
        case ["help", command, *rest] if command in COMMANDS:
            return _dispatch(command, [*rest, "--help"])
        case [] | ["-h" | "--help" | "help"] | ["help", "help", *_]:
            print(usage_text())
            return 0 if words else 2
        case ["help", unknown, *_]:
            return _report_unknown(unknown)
        case ["-V" | "--version" | "version", *_]:
            print(f"upbeat {__version__}")
            return 0
        case [command, *rest] if command in COMMANDS:
            return _dispatch(command, rest)
        case _:
            return _report_unknown(words[0])


_GUARDED = frozenset(
    {"trust", "install", "uninstall", "log", "rules", "tools", "workflow", "config", "off", "on", "data", "learned"}
)
"""Commands of which some loosen what supervises an agent. Hooks are judged where they arrive."""


def _refusal(command: str, arguments: Sequence[str]) -> str:
    """Return why the caller may not run the command: it is an agent, whatever its options say; empty if it may."""
    if command not in _GUARDED:
        return ""
    from upbeat.core.policy.own_controls import is_reserved

    if not is_reserved((command, *arguments)) or (command, *arguments[:1]) == ("workflow", "start"):
        return ""
    from upbeat.adapters.clients.registry import calling_client
    from upbeat.adapters.system.environment import read_environment

    client = calling_client(read_environment())
    words = " ".join((command, *(word for word in arguments[:1] if not word.startswith("-"))))
    return client and (
        f"`upbeat {words}` is the user's to run, and this shell belongs to an agent of {client}; "
        "run it in a terminal of your own, outside of the session"
    )


def _dispatch(command: str, arguments: Sequence[str]) -> int:
    """Run the module of ``command``; report an error of the user or the system as one sentence and exit code 1."""
    if refusal := _refusal(command, arguments):
        print(f"upbeat: {refusal}", file=sys.stderr)
        return 1
    module = import_module(f".{command}", __package__)
    try:
        return int(module.run(arguments))
    except BrokenPipeError:
        with open(os.devnull, "w", encoding="utf-8") as null:  # for the interpreter's last flush
            os.dup2(null.fileno(), 1)
        return 1
    except (UserError, OSError) as error:
        print(f"upbeat: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


def usage_text() -> str:
    """Return the help text, from the table of commands."""
    width = max(map(len, COMMANDS))
    lines = [f"  {name:<{width}}  {text}" for name, text in COMMANDS.items()]
    return "\n".join(["usage: upbeat COMMAND [...]", "", *lines, "", "Run `upbeat help COMMAND` for details."])


def _report_unknown(word: str) -> int:
    from upbeat.core.settings_layers import did_you_mean

    hint = did_you_mean(word, (*COMMANDS, "help", "version")) or "; run `upbeat help` to list the commands"
    print(f"upbeat: no command '{word}'{hint}", file=sys.stderr)
    return 2
