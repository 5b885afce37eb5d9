"""``upbeat index``: build or update the index of a repository and print its state."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from functools import partial

from upbeat.adapters.cli.command_line import add_json_option, add_repo_option, create_parser, draw_progress, print_json
from upbeat.adapters.code.index.build import UpdateResult
from upbeat.adapters.code.index.manager import IndexState
from upbeat.adapters.system.config.resolver import resolve_root
from upbeat.adapters.system.environment import read_environment
from upbeat.adapters.system.journal.faults import StorageError
from upbeat.adapters.system.option_parser import OptionParser
from upbeat.adapters.system.terminal import are_terminals
from upbeat.adapters.wiring import build_index_manager, collect_seldom
from upbeat.core.errors import UserError

STATE_TEXTS = {
    "off": "indexing is disabled (index.enabled)",
    "none": "not indexed",
    "building": "indexing in progress",
    "partial": "partly indexed; lookups scan the files",
    "ready": "indexed",
    "too_large": "larger than index.max_mb; lookups scan the files",
}


def build_parser() -> OptionParser:
    """Return the parser of this command."""
    parser = create_parser("index", __doc__)
    add_json_option(parser)
    add_repo_option(parser)
    return parser


def run(arguments: Sequence[str]) -> int:
    options = build_parser().parse_args(arguments)
    environment = read_environment()
    root = resolve_root(options.repo, environment)
    if not root or not os.path.isdir(root):
        raise UserError(f"{root or options.repo} is not a folder")
    shows_progress = are_terminals(sys.stderr) and not options.json
    manager = build_index_manager(environment)
    collect_seldom()  # a build makes a million objects and hardly any garbage
    try:
        result = manager.build(root, partial(draw_progress, unit=" files") if shows_progress else None)
        if shows_progress and result.files_read:
            print(file=sys.stderr)
        manager.histories.get(root)
        history_problem = manager.histories.problem(root)
        state = manager.index_state(root)
    except StorageError as error:
        raise UserError(f"cannot store the index: {error}") from None
    finally:
        manager.close()
    if options.json:
        print_json(index_document(root, state, result, history_problem))
    else:
        print("; ".join(filter(None, (_summary(root, state, result), history_problem))))
    return 0 if result.is_complete or state.state == "off" else 1


def index_document(root: str, state: IndexState, result: UpdateResult, history_problem: str = "") -> dict[str, object]:
    """Return the state as ``--json`` prints it; ``files_read`` and ``files_dropped`` count the files of this run."""
    return {
        "root": root,
        "state": state.state,
        "files": state.files,
        "indexed": state.indexed,
        "bytes": state.bytes,
        "files_read": result.files_read,
        "files_dropped": result.files_dropped,
        "problem": result.problem or state.problem,
        "history_problem": history_problem,
    }


def _summary(root: str, state: IndexState, result: UpdateResult) -> str:
    parts = [f"{root}: {STATE_TEXTS[state.state]}"]
    if state.files:
        parts.append(f"{state.indexed} of {state.files} files, {state.bytes / 1e6:.1f} MB")
    if result.is_complete and (result.files_read or result.files_dropped):
        parts.append(f"{result.files_read} files read, {result.files_dropped} dropped")
    elif result.is_complete:
        parts.append("up to date")
    elif result.problem and state.state != "off":
        parts.append(result.problem)
    return "; ".join(parts)
