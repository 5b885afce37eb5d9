"""``upbeat uninstall claude|codex``: remove the plugin and restore the files from before ``upbeat install``.

A settings file that was changed since, by you or the client, keeps those changes and loses only upbeat's entries; any
other changed file is left alone. Codex's record of your trust in upbeat's hooks is removed, too.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from upbeat.adapters.cli.exact_output import diff_rows, show_rows
from upbeat.adapters.cli.install import confirm_plan, parser_for
from upbeat.adapters.clients.registry import CLIENT_BY_CLI_NAME
from upbeat.adapters.install.apply import apply_plan, remove_leftovers
from upbeat.adapters.install.disk import resolve_link
from upbeat.adapters.install.plan import InstallationPlan, plan_uninstall
from upbeat.adapters.install.receipt import read_receipt
from upbeat.adapters.install.show import diff_lines
from upbeat.adapters.install.status_line import Owner, find_status_line, with_status_line
from upbeat.adapters.system.environment import read_environment
from upbeat.adapters.system.journal.heads import remove_heads
from upbeat.adapters.system.option_parser import OptionParser

EXIT_REFUSED = 1


def build_parser() -> OptionParser:
    """Return the parser of this command."""
    parser = parser_for("uninstall", __doc__ or "")
    parser.add_argument("--merge", action="store_true", help=argparse.SUPPRESS)  # for scripts; always the case
    return parser


def run(arguments: Sequence[str]) -> int:
    options = build_parser().parse_args(arguments)
    name, client, environment = options.client, CLIENT_BY_CLI_NAME[options.client], read_environment()
    desired = client.desired_installation(environment, "mcp")
    line = find_status_line(client.status_line_entry(), desired, name, environment)
    if line is not None and line.owner is Owner.UPBEAT:
        desired = with_status_line(desired, line.entry)
    plan = plan_uninstall(name, desired, environment)
    if plan is None:
        if not options.dry_run:
            remove_leftovers(environment, name)
        print(f"upbeat: {name}: upbeat is not installed")
        return 0
    if plan.drifts:
        _explain_drifts(plan)
        return EXIT_REFUSED
    if (exit_code := confirm_plan(plan, options)) is not None:
        return exit_code
    own = set(map(resolve_link, desired.own_folders))
    left = [folder for folder in apply_plan(plan, environment) if folder in own]
    if not any(read_receipt(environment, other) for other in CLIENT_BY_CLI_NAME):
        remove_heads(environment.data_home)
    if plan.merged or plan.kept:
        print(f"upbeat: {name}: uninstalled; upbeat's entries are removed, and changes since the install are kept")
    else:
        print(f"upbeat: {name}: uninstalled; the previous files are restored")
    notes = [f"{path} keeps what was changed since the install" for path in plan.merged]
    notes += [f"{path} was changed since the install, so it was left alone" for path in plan.kept]
    notes += [f"{folder} is not empty, so it was left alone" for folder in left]
    print("\n".join(f"- {note}" for note in [*notes, *client.steps_after_uninstall()]))
    return 0


def _explain_drifts(plan: InstallationPlan) -> None:
    """Show what was changed since the install in files that upbeat's entries cannot be taken out of."""
    for drift in plan.drifts:
        print(f"{drift.path}: {drift.reason}:")
        show_rows(diff_rows(diff_lines(drift.path, drift.installed, drift.current)), is_question=False)
    print("upbeat: nothing was removed; correct these files (see above), then run the command again", file=sys.stderr)
