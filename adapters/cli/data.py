"""``upbeat data``: list what upbeat stores on this machine, where, how much and for how long; purge it.

`upbeat data list` reads names and sizes only. `upbeat data purge KIND...` deletes one or more kinds (`all` for every
kind that can be purged) after a question, or with `--yes`; `--repo DIR` deletes only what is of that repository.
Examples: `upbeat data purge index`, `upbeat data purge index habits --repo ~/work/shop --yes`.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from upbeat.adapters.cli.command_line import add_json_option, confirm, create_parser, print_json, project_root
from upbeat.adapters.cli.stored_data import KINDS, PURGEABLE, StoredKind, purge_kind
from upbeat.adapters.system.environment import Environment, read_environment
from upbeat.adapters.system.option_parser import OptionParser
from upbeat.adapters.system.terminal import are_terminals
from upbeat.core.errors import UserError
from upbeat.core.settings_layers import did_you_mean

ALL = "all"
UNITS = (("GB", 1024**3), ("MB", 1024**2), ("KB", 1024))


def build_parser() -> OptionParser:
    """Return the parser of this command."""
    parser = create_parser("data", __doc__)
    parser.add_argument("action", choices=("list", "purge"), help="list everything; delete some of it")
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=f"with purge: {', '.join((*PURGEABLE, ALL))}")
    parser.add_argument("--repo", metavar="DIR", help="with purge: only what is of this repository")
    parser.add_argument("--yes", action="store_true", help="do not ask")
    add_json_option(parser)
    return parser


def run(arguments: Sequence[str]) -> int:
    parser = build_parser()
    options = parser.parse_args(arguments)
    environment = read_environment()
    if options.action == "purge":
        kinds = _chosen(options.kinds)
        root = project_root(options.repo) if options.repo else ""
        return _purge(kinds, root, environment, is_agreed=options.yes, is_json=options.json)
    if options.kinds or options.repo or options.yes:
        parser.error("list takes only --json")
    return _list(environment, is_json=options.json)


def _list(environment: Environment, *, is_json: bool) -> int:
    rows = [(kind, kind.measure(environment)) for kind in KINDS]
    if is_json:
        return print_json({"data": [_row(kind, environment, files, size) for kind, (files, size) in rows]})
    total = sum(size for _, (_, size) in rows)
    print(f"{format_size(total)} in {sum(files for _, (files, _) in rows)} files; nothing of it leaves this machine\n")
    for kind, (files, size) in rows:
        print(f"{kind.name:<10}{format_size(size):>9}  {kind.what}")
        if files:
            print(f"{'':<21}{kind.location(environment)}")
        print(f"{'':<21}kept {kind.kept}")
        print(f"{'':<21}remove: {kind.removal}")
    return 0


def _row(kind: StoredKind, environment: Environment, files: int, size: int) -> dict[str, object]:
    return {
        "kind": kind.name,
        "what": kind.what,
        "path": kind.location(environment),
        "files": files,
        "bytes": size,
        "kept": kind.kept,
        "remove_with": kind.removal,
    }


def _chosen(names: Sequence[str]) -> list[StoredKind]:
    """Return the kinds called ``names``. Raises UserError."""
    if not names:
        raise UserError(f"name what to purge: {', '.join((*PURGEABLE, ALL))}; `upbeat data list` shows what each is")
    for name in names:
        if name not in (*PURGEABLE, ALL):
            known = next((kind for kind in KINDS if kind.name == name), None)
            hint = f"; use `{known.removal}`" if known else did_you_mean(name, (*PURGEABLE, ALL))
            raise UserError(f"'{name}' cannot be purged{hint}" if known else f"no kind '{name}'{hint}")
    return [PURGEABLE[name] for name in PURGEABLE if name in names or ALL in names]


def _purge(kinds: Sequence[StoredKind], root: str, environment: Environment, *, is_agreed: bool, is_json: bool) -> int:
    if root and (wrong := [kind.name for kind in kinds if not kind.is_per_repository]):
        raise UserError(f"{', '.join(wrong)} is stored for all repositories together; purge it without --repo")
    names = ", ".join(kind.name for kind in kinds)
    where = f" of {root}" if root else " of all repositories"
    if not is_agreed and not are_terminals(sys.stdin, sys.stderr):
        raise UserError("nothing was purged: cannot prompt without a terminal; pass --yes to purge")
    if not is_agreed and not confirm(f"upbeat: delete {names}{where}? This cannot be undone."):
        print("upbeat: nothing was purged", file=sys.stderr)
        return 1
    before = sum(kind.measure(environment)[1] for kind in kinds)
    problems = [problem for kind in kinds if (problem := purge_kind(kind, root, environment))]
    freed = max(before - sum(kind.measure(environment)[1] for kind in kinds), 0)
    for problem in problems:
        print(f"upbeat: {problem}", file=sys.stderr)
    if is_json:
        print_json({"purged": [kind.name for kind in kinds], "repository": root, "bytes": freed, "problems": problems})
    else:
        print(f"purged {names}{where}: {format_size(freed)} freed")
    return 1 if problems else 0


def format_size(size: int) -> str:
    """Return bytes for people: ``12 KB``."""
    unit, factor = next(((unit, factor) for unit, factor in UNITS if size >= factor), ("B", 1))
    return f"{size / factor:.1f} {unit}" if factor > 1 else f"{size} B"
