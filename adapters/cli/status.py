"""``upbeat status``: show where the workflows of this repository stand, its sessions, and the state of the journal.

A workflow that cannot go on without you `needs you`, with the steps that have not passed: a step has used all its
attempts, the loop has ended at a limit, the last turn asked you something, failed or was interrupted, or the session
was closed with work left. Say `continue` in that session to resume it, or `upbeat workflow stop` to end it. The exit
code is 0, or 3 if a workflow of a listed session needs you, or 4 if nothing can be stored. `--json` also gives each
step with its result, tries and failures, the agents at work, and the commands that count as evidence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from upbeat.adapters.cli.command_line import add_json_option, add_repo_option, create_parser, parse_count, print_json
from upbeat.adapters.system.config.resolver import resolve_root
from upbeat.adapters.system.config.settings import load_settings
from upbeat.adapters.system.config.workflows import load_workflows
from upbeat.adapters.system.environment import read_environment
from upbeat.adapters.system.option_parser import OptionParser
from upbeat.adapters.system.terminal import print_lines, read_screen
from upbeat.adapters.wiring import build_journal
from upbeat.core.contract.codes import NEEDS_USER_EXIT_CODE, UNSTORED_EXIT_CODE
from upbeat.core.errors import JournalError
from upbeat.core.journal.record import StoredSession
from upbeat.core.journal.show import status_document
from upbeat.core.journal.status_screen import status_lines
from upbeat.core.messages.catalogue import load_messages
from upbeat.core.settings import Activation

DEFAULT_COUNT = 10


def build_parser() -> OptionParser:
    """Return the parser of this command."""
    parser = create_parser("status", __doc__)
    add_json_option(parser)
    add_repo_option(parser)
    parser.add_argument(
        "--last", type=parse_count, default=DEFAULT_COUNT, metavar="N", help=f"sessions (default: {DEFAULT_COUNT})"
    )
    return parser


def run(arguments: Sequence[str]) -> int:
    options = build_parser().parse_args(arguments)
    environment = read_environment()
    root = resolve_root(options.repo, environment)
    settings = load_settings(root, environment).settings
    disabled_by = settings.origins.get("enabled", "") if settings.enabled is Activation.OFF else ""
    journal = build_journal(environment)
    health = journal.health()
    sessions: tuple[StoredSession, ...] = ()
    other_roots: tuple[str, ...] = ()
    try:
        sessions = journal.sessions(root, options.last)
        other_roots = () if sessions else journal.recorded_roots()
    except JournalError as error:
        health = health if health.problem else replace(health, problem=str(error))
    if options.json:
        stages = load_workflows(root, environment).registry.stages
        print_json(status_document(root, sessions, health, stages) | {"disabled_by": disabled_by})
    else:
        if disabled_by:
            texts = load_messages("journal", environment.language)
            print(texts["disabled"].format(origin=disabled_by))
        print_lines(status_lines(root, sessions, health, read_screen(environment), other_roots), environment)
    if health.problem:
        return UNSTORED_EXIT_CODE
    return NEEDS_USER_EXIT_CODE if any(session.state.awaits_user for session in sessions) else 0
