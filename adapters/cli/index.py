"""``upbeat index``: build or update the index of a repository and print its state."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from upbeat.adapters.cli.command_line import add_json_option, add_repo_option, create_parser, print_json, progress
from upbeat.adapters.code.index.build import UpdateResult
from upbeat.adapters.code.index.manager import IndexState
from upbeat.adapters.system.config.resolver import resolve_root
from upbeat.adapters.system.environment import read_environment
from upbeat.adapters.system.journal.faults import StorageError
from upbeat.adapters.system.option_parser import OptionParser
from upbeat.adapters.system.terminal import print_lines, read_screen
from upbeat.adapters.wiring import build_index_manager, collect_seldom
from upbeat.core.errors import UserError
from upbeat.core.messages import layout
from upbeat.core.messages.catalogue import load_messages
from upbeat.core.messages.layout import Line, Screen


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
    manager = build_index_manager(environment)
    collect_seldom()  # a build makes a million objects and hardly any garbage
    try:
        with progress("files", is_shown=not options.json) as draw:
            result = manager.build(root, draw)
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
        print_lines(_lines(root, state, result, history_problem, read_screen(environment)), environment)
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


def _lines(root: str, state: IndexState, result: UpdateResult, history_problem: str, screen: Screen) -> Iterator[Line]:
    """Yield how the index is, what this run has done, where, and what went wrong."""
    texts = load_messages("screens", screen.language).group("index")
    parts: list[str] = [texts[state.state]]
    if state.files:
        parts.append(texts["size"].format(indexed=state.indexed, files=state.files, size=state.bytes / 1e6))
    if result.is_complete and (result.files_read or result.files_dropped):
        parts.append(texts["read"].format(read=result.files_read, dropped=result.files_dropped))
    elif result.is_complete:
        parts.append(texts["up_to_date"])
    problem = "" if result.is_complete or state.state == "off" else result.problem
    is_good = state.state == "ready" and not problem
    yield from layout.marked(layout.GOOD if is_good else layout.ATTENTION, layout.join(parts), screen)
    yield from layout.paragraph(root, screen, "  ")
    for each in filter(None, (problem, history_problem)):
        yield from layout.marked(layout.ATTENTION, each, screen)
