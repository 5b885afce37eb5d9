"""``upbeat install claude|codex``: install the plugin into a client; shows every change first.

It writes the plugin into upbeat's data folder, and a few entries into the client's own settings (`settings.json` of
Claude Code; `config.toml`, a copy of the plugin and the agents for Codex). Everything else in those files stays byte
for byte, and links stay links. A second install changes nothing; `upbeat uninstall` restores the previous files. Codex
runs the hooks once you have reviewed them there: upbeat never grants itself that trust. At a terminal the first install
offers Claude Code's status line; it never replaces one of yours.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from upbeat.adapters.cli.command_line import confirm, create_parser, progress
from upbeat.adapters.cli.exact_output import diff_rows, show_rows
from upbeat.adapters.clients.registry import CLIENT_BY_CLI_NAME, to_cli_name
from upbeat.adapters.install.apply import apply_plan, remove_drafts
from upbeat.adapters.install.byte_code import CompileResult, compile_missing
from upbeat.adapters.install.plan import InstallationPlan, plan_install
from upbeat.adapters.install.receipt import receipt_path
from upbeat.adapters.install.show import plan_lines
from upbeat.adapters.install.status_line import Owner, StatusLine, find_status_line, with_status_line
from upbeat.adapters.system.environment import read_environment
from upbeat.adapters.system.option_parser import OptionParser
from upbeat.adapters.system.terminal import are_terminals

EXIT_NO_TERMINAL = 2


def build_parser() -> OptionParser:
    """Return the parser of this command."""
    parser = parser_for("install", __doc__ or "")
    parser.add_argument(
        "--route",
        choices=("mcp", "command"),
        default="mcp",
        help="mcp: hooks call the session's server, without a process for each; "
        "command: for clients without mcp_tool hooks",
    )
    parser.add_argument(
        "--status-line",
        action="store_true",
        help="show the workflow and the context usage below the prompt, too (Claude Code; asked at a terminal)",
    )
    return parser


def run(arguments: Sequence[str]) -> int:
    parser = build_parser()
    options = parser.parse_args(arguments)
    client, environment = CLIENT_BY_CLI_NAME[options.client], read_environment()
    if options.status_line and client.status_line_entry() is None:
        parser.error(f"{client.title} has no status line that runs a command")
    desired = client.desired_installation(environment, options.route)
    line = find_status_line(client.status_line_entry(), desired, options.client, environment)
    has_line = line is not None and _wants_status_line(line, options)
    if line is not None and has_line:
        desired = with_status_line(desired, line.entry)
    plan = plan_install(options.client, desired, environment, options.route)
    if plan.is_up_to_date:
        if not options.dry_run:
            remove_drafts(plan.draft_folders())
            _compile()
        print(f"upbeat: {options.client}: already installed and up to date")
        return 0
    if (exit_code := confirm_plan(plan, options)) is not None:
        return exit_code
    apply_plan(plan, environment)
    print(
        f"upbeat: {options.client}: installed; all changes are recorded in {receipt_path(environment, options.client)}"
    )
    print(f"- {_compile().text}")
    steps = [*client.steps_after_install(), *([] if line is None or has_line else [_status_line_step(line)])]
    print("\n".join(f"- {step}" for step in (*steps, "verify the hooks: upbeat doctor --probe")))
    if not options.yes and are_terminals(sys.stdin, sys.stdout):
        _offer_probe(options.client)
    return 0


def _compile() -> CompileResult:
    with progress("modules compiled") as draw:
        return compile_missing(draw)


def _wants_status_line(line: StatusLine, options: argparse.Namespace) -> bool:
    """Return whether upbeat's status line is part of the installation; ask at the first one."""
    if line.owner is not Owner.NOBODY or options.status_line:
        return line.owner is not Owner.USER
    can_ask = not (options.yes or options.dry_run) and are_terminals(sys.stdin, sys.stdout)
    if line.is_removed or not line.is_first_install or not can_ask:
        return False
    return confirm("Show the workflow and the context usage below the prompt (status line)?")


def _status_line_step(line: StatusLine) -> str:
    """Return how to get the status line, or why it was left alone."""
    if line.owner is Owner.USER:
        return f"your own status line stays; upbeat's is: {' '.join(line.entry.value['command'].split())}"
    return "to show the workflow below the prompt: upbeat install claude --status-line"


def _offer_probe(client_name: str) -> None:
    """Ask whether to start the client once with a stub model, and show which hooks arrive."""
    from upbeat.adapters.cli import doctor

    question = "Verify the hooks now? It starts the client once; the model is a stub, nothing is billed."
    if confirm(question, is_yes_default=True):
        doctor.run([client_name, "--probe"])


def confirm_plan(plan: InstallationPlan, options: argparse.Namespace) -> int | None:
    """Show the plan, and ask whether to apply it; return None for yes, else the exit code."""
    is_asked = not (options.dry_run or options.yes) and bool(plan.changes)
    is_shown = show_rows(diff_rows(plan_lines(plan)), is_question=is_asked)
    if options.dry_run:
        print(f"upbeat: would change {len(plan.changes)} files; nothing was changed")
        return 0
    if options.yes or not plan.changes:
        return None
    if not are_terminals(sys.stdin):
        print(
            "upbeat: nothing was changed, because there is no terminal for the confirmation; pass --yes to skip it",
            file=sys.stderr,
        )
        return EXIT_NO_TERMINAL
    if is_shown and confirm(f"Change these {len(plan.changes)} files?"):
        return None
    print("upbeat: nothing was changed")
    return 1


def parser_for(command: str, description: str) -> OptionParser:
    """Return a parser with the options that install and uninstall share."""
    parser = create_parser(command, description)
    parser.add_argument("client", type=to_cli_name, choices=sorted(CLIENT_BY_CLI_NAME))
    parser.add_argument("--dry-run", action="store_true", help="only show the changes")
    parser.add_argument("--yes", action="store_true", help="skip the confirmation")
    return parser
