"""``upbeat off``: switch upbeat off in this repository, on this machine, for you.

Nothing is added, guarded or continued there, in folders below it, or in its linked worktrees, whatever its settings or
the environment say. Sessions that are open follow with your next prompt. Your own file stores it (`off.repositories`);
the repository is not changed. `upbeat on` switches it on again; `upbeat status` and `upbeat doctor` show it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from upbeat.adapters.cli.command_line import add_repo_option, create_parser, project_root
from upbeat.adapters.system.config.settings import USER_FILE, load_user_settings
from upbeat.adapters.system.config.user_file import find_table, read_document, write_document
from upbeat.adapters.system.environment import Environment, read_environment
from upbeat.adapters.system.git.root import main_worktree
from upbeat.adapters.system.option_parser import OptionParser


def build_parser() -> OptionParser:
    """Return the parser of this command."""
    parser = create_parser("off", __doc__)
    add_repo_option(parser)
    return parser


def run(arguments: Sequence[str]) -> int:
    options = build_parser().parse_args(arguments)
    root = main_worktree(project_root(options.repo))
    change_folders(read_environment(), lambda folders: [*folders, root] if root not in folders else folders)
    print(f"upbeat is off in {root} and below; open sessions follow with your next prompt. `upbeat on` ends it.")
    return 0


def change_folders(environment: Environment, change: Callable[[list[str]], list[str]]) -> None:
    """Set ``off.repositories`` in the user's file to what ``change`` makes of it. Raises UserError and OSError."""
    path = environment.config_home / USER_FILE
    document = read_document(path)
    folders = change(list(load_user_settings(environment).off_repositories))
    table, name = find_table(document, "off.repositories")
    table[name] = folders
    if not folders:
        del table[name]
        if not table:
            del document["off"]
    write_document(path, document)
