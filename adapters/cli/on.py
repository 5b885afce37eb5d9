"""``upbeat on``: switch upbeat on again in this repository, where ``upbeat off`` has switched it off."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from upbeat.adapters.cli.command_line import add_repo_option, create_parser, project_root
from upbeat.adapters.cli.off import change_folders
from upbeat.adapters.system.config.settings import load_settings, switched_off_by
from upbeat.adapters.system.environment import read_environment
from upbeat.adapters.system.git.root import main_worktree
from upbeat.adapters.system.option_parser import OptionParser
from upbeat.core.settings import Activation


def build_parser() -> OptionParser:
    """Return the parser of this command."""
    parser = create_parser("on", __doc__)
    add_repo_option(parser)
    return parser


def run(arguments: Sequence[str]) -> int:
    options, environment = build_parser().parse_args(arguments), read_environment()
    root = main_worktree(project_root(options.repo))
    change_folders(environment, lambda folders: [each for each in folders if os.path.realpath(each) != root])
    settings = load_settings(root, environment).settings
    if around := switched_off_by(settings.off_repositories, root):
        print(
            f"upbeat: still off in {root}, because it is off in {around}: `upbeat on --repo {around}`", file=sys.stderr
        )
        return 1
    if settings.enabled is Activation.OFF:
        origin = settings.origins.get("enabled", "the default")
        print(f"upbeat: still off in {root}: `enabled` is off by {origin}; change it there", file=sys.stderr)
        return 1
    print(f"upbeat is on in {root}")
    return 0
