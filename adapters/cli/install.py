"""``upbeat install claude|codex``: give the client its plugin, and show every change before it is made.

What is written: the plugin in upbeat's data folder, and a few lines in the client's own settings (`settings.json` of
Claude Code; `config.toml`, a copy of the plugin and the agents for Codex). All else in those files stays byte by byte,
and links stay links. Twice is a no-op; `upbeat uninstall` gives back the bytes that were there. The hooks of Codex
run once you have reviewed them there: upbeat never grants itself that trust.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from types import ModuleType

from ..claude import install as claude
from ..codex import install as codex
from ..installation.carry_out import carry_out, sweep
from ..installation.plan import Plan, plan_install
from ..installation.show import shown
from ..local.byte_code import compile_missing
from ..local.environment import read_environment
from ..local.receipt import receipt_path
from ..terminal import are_terminals

CLIENTS: dict[str, ModuleType] = {"claude": claude, "codex": codex}
NOT_ASKED = 2


def run(arguments: Sequence[str]) -> int:
    parser = parser_for("install", __doc__ or "")
    parser.add_argument(
        "--route",
        choices=("mcp", "command"),
        default="mcp",
        help="mcp: hooks go to the session's server, no process each; command: for clients without mcp_tool hooks",
    )
    options = parser.parse_args(arguments)
    client, environment = CLIENTS[options.client], read_environment()
    plan = plan_install(options.client, client.wanted(environment, options.route), environment, options.route)
    if plan.is_done:
        if not options.dry_run:
            sweep(plan.places())
            compile_missing()
        print(f"upbeat: {options.client}: all is installed and up to date; nothing to do")
        return 0
    refused = ask(plan, options)
    if refused is not None:
        return refused
    carry_out(plan, environment)
    print(f"upbeat: {options.client}: installed; {receipt_path(environment, options.client)} knows every change")
    print(f"- {compile_missing().text}")
    print("\n".join(f"- {step}" for step in (*client.next_steps(), "prove that it works: upbeat doctor --probe")))
    return 0


def ask(plan: Plan, options: argparse.Namespace) -> int | None:
    """Show the plan, and ask whether to carry it out; None for yes, else the exit code."""
    print("\n".join(shown(plan)), flush=True)
    if options.dry_run:
        print(f"upbeat: {len(plan.changes)} files would be changed; nothing was")
        return 0
    if options.yes or not plan.changes:
        return None
    if not are_terminals(sys.stdin):
        print("upbeat: nothing was changed, for there is no terminal to ask at; --yes does it", file=sys.stderr)
        return NOT_ASKED
    try:
        answer = input(f"Change these {len(plan.changes)} files? [y/N] ")
    except EOFError:
        answer = ""
    if answer.strip().lower() in ("y", "yes"):
        return None
    print("upbeat: nothing was changed")
    return 1


def parser_for(command: str, description: str) -> argparse.ArgumentParser:
    """The options that install and uninstall share."""
    parser = argparse.ArgumentParser(prog=f"upbeat {command}", description=description)
    parser.add_argument("client", choices=sorted(CLIENTS))
    parser.add_argument("--dry-run", action="store_true", help="only show what would be changed")
    parser.add_argument("--yes", action="store_true", help="do not ask")
    return parser
