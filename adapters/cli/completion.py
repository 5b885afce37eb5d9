"""``upbeat completion bash|zsh|fish``: print a script that completes commands and options of upbeat and codex-auto.

Save it as `~/.local/share/bash-completion/completions/upbeat`, as `_upbeat` in a folder of zsh's `$fpath`, or as
`~/.config/fish/completions/upbeat.fish`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib import import_module

from upbeat.adapters.cli.command_line import create_parser
from upbeat.adapters.system.option_parser import OptionParser

SHELLS = ("bash", "zsh", "fish")


def build_parser() -> OptionParser:
    """Return the parser of this command."""
    parser = create_parser("completion", __doc__)
    parser.add_argument("shell", choices=SHELLS)
    return parser


def run(arguments: Sequence[str]) -> int:
    import shtab

    from upbeat.adapters.codex_auto.app.options import build_parser as build_codex_auto_parser

    shell = build_parser().parse_args(arguments).shell
    parsers = (build_program_parser(), build_codex_auto_parser())
    print("\n".join(_without_dates(shtab.complete(parser, shell=shell)) for parser in parsers))
    return 0


def build_program_parser() -> OptionParser:
    """Return one parser with every command of ``upbeat``: for completion and the manual, not for parsing."""
    from upbeat.adapters.cli.main import COMMANDS

    parser = OptionParser(prog="upbeat", description="Prepare, guard and continue the turns of coding agents.")
    parser.add_argument("--version", action="store_true", help="print the version")
    commands = parser.add_subparsers(metavar="COMMAND")
    for name, summary in COMMANDS.items():
        module = import_module(f"{__package__}.{name}")
        parents = [module.build_parser()] if hasattr(module, "build_parser") else []
        commands.add_parser(name, help=summary, parents=parents, conflict_handler="resolve")
    return parser


def _without_dates(script: str) -> str:
    """Return the script without the line that says when it was made: the same version prints the same bytes."""
    return re.sub(r"(?m)^#.*\d{4}-\d\d-\d\d.*\n", "", script)
