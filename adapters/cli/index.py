"""``upbeat index``: builds the index of a repository, or brings it up to date, and says how it is."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from ...core.errors import UserError
from ..code.index_build import Update
from ..code.library import IndexState, Library
from ..local.environment import read_environment
from ..local.journal_trouble import StorageError
from ..local.surroundings import root_of
from ..terminal import are_terminals, control
from ..wiring import library

BAR = 30
"""Characters of the progress bar."""

STATES = {
    "off": "switched off (index.enabled)",
    "none": "not indexed",
    "building": "being indexed",
    "partial": "indexed in part; questions read the files",
    "ready": "indexed",
    "too_large": "larger than index.max_mb allows; questions read the files",
}


def run(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="upbeat index", description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--repo", help="the repository (default: the one around this folder)")
    options = parser.parse_args(arguments)
    environment = read_environment()
    root = root_of(options.repo, environment)
    if not root or not Path(root).is_dir():
        raise UserError(f"{root or options.repo} is not a folder")
    found = library(environment)
    try:
        done = _build(found, root, show=are_terminals(sys.stderr) and not options.json)
        state = found.state(root)
    except StorageError as error:
        raise UserError(f"the index cannot be kept: {error}") from None
    finally:
        found.close()
    if options.json:
        print(json.dumps(index_document(root, state, done), indent=2, ensure_ascii=False))
    else:
        print(_sentence(root, state, done))
    return 0 if done.complete or state.state == "off" else 1


def index_document(root: str, state: IndexState, done: Update) -> dict[str, object]:
    """The state as ``--json`` prints it. ``read`` and ``dropped`` count files of this run."""
    return {
        "schema_version": "1.0",
        "root": root,
        "state": state.state,
        "files": state.files,
        "indexed": state.indexed,
        "bytes": state.bytes,
        "read": done.read,
        "dropped": done.dropped,
        "problem": done.problem or state.problem,
    }


def _build(found: Library, root: str, *, show: bool) -> Update:
    done = found.build(root, _draw if show else None)
    if show and done.read:
        print(file=sys.stderr)
    found.histories.get(root)
    return done


def _draw(done: int, total: int) -> None:
    """One line that is written over."""
    filled = BAR * done // (total or 1)
    control(sys.stderr, f"\r[{'#' * filled}{'.' * (BAR - filled)}] {done}/{total} files")


def _sentence(root: str, state: IndexState, done: Update) -> str:
    parts = [f"{root}: {STATES[state.state]}"]
    if state.files:
        parts.append(f"{state.indexed} of {state.files} files, {state.bytes / 1e6:.1f} MB")
    if done.complete:
        parts.append(
            f"{done.read} read, {done.dropped} dropped" if done.read or done.dropped else "nothing had changed"
        )
    elif done.problem and state.state != "off":
        parts.append(done.problem)
    return "; ".join(parts)
