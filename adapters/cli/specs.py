"""``upbeat specs``: the features in specs/features: what there is, a new one, and where one goes next.

A feature is a folder with ``tasks.md``; the folder that it stands in is its status.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from ...core.layers import did_you_mean
from ...core.turn.strip import strip
from ...core.workflow.phases import ready
from ...core.workflow.specs import FEATURES, MOVES, Status
from ..local.clock import SystemClock
from ..local.environment import read_environment
from ..local.git_root import find_root
from ..local.specs import Feature, SpecFiles
from .workflow import load_here

SCHEMA_VERSION = "1.0"
DEFAULT_WORKFLOW = "standard"


@dataclass(frozen=True, slots=True)
class Subcommand:
    """What ``upbeat specs NAME`` does: the features, the repository's root and options in, exit code out."""

    help: str
    run: Callable[[SpecFiles, str, argparse.Namespace], int]
    takes_name: bool = True


def run(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="upbeat specs", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, subcommand in SUBCOMMANDS.items():
        options = commands.add_parser(name, help=subcommand.help, description=subcommand.help)
        if subcommand.takes_name:
            options.add_argument("name", help="the feature, in lower case with hyphens")
        if name == "new":
            options.add_argument("--workflow", default=DEFAULT_WORKFLOW, help=f"default: {DEFAULT_WORKFLOW}")
            options.add_argument("--start", action="store_true", help="work on it now, instead of later")
        options.add_argument("--repo", default=".", help="the project (default: the one around this folder)")
        options.add_argument("--json", action="store_true")
    chosen = parser.parse_args(arguments)
    start = os.path.realpath(chosen.repo)
    return SUBCOMMANDS[chosen.command].run(SpecFiles(SystemClock()), find_root(start).worktree or start, chosen)


def _list(files: SpecFiles, root: str, options: argparse.Namespace) -> int:
    features = files.features(root)
    if options.json:
        return _print_json({"features": [_as_data(feature, root) for feature in features]})
    if not features:
        print(f"no features in {FEATURES}; upbeat specs new NAME makes one", file=sys.stderr)
    width = max((len(feature.name) for feature in features), default=0)
    for feature in features:
        when = f"  {feature.day}" if feature.day else ""
        print(f"{feature.name:<{width}}  {feature.status:<11}  {_count(feature)}{when}")
    return 0


def _new(files: SpecFiles, root: str, options: argparse.Namespace) -> int:
    environment = read_environment()
    loaded = load_here(options.repo, environment)
    for problem in loaded.problems:
        print(f"upbeat: {problem}", file=sys.stderr)
    registry = loaded.registry
    workflow = registry.workflows.get(options.workflow)
    if workflow is None:
        hint = did_you_mean(options.workflow, registry.workflows) or "; upbeat workflow list shows all"
        print(f"upbeat: no workflow '{options.workflow}'{hint}", file=sys.stderr)
        return 2
    status = Status.IN_PROGRESS if options.start else Status.BACKLOG
    return _tell(files.create(root, options.name, workflow, registry, status, environment.language), root, options)


def _move(verb: str, files: SpecFiles, root: str, options: argparse.Namespace) -> int:
    return _tell(files.move(root, options.name, verb), root, options)


def _tell(feature: Feature, root: str, options: argparse.Namespace) -> int:
    """Where the feature stands now."""
    if options.json:
        return _print_json({"feature": _as_data(feature, root)})
    print(f"{feature.name} is {feature.status}: {_folder(feature, root)}")
    return 0


def _show(files: SpecFiles, root: str, options: argparse.Namespace) -> int:
    feature = files.find(root, options.name)
    if options.json:
        return _print_json({"feature": _as_data(feature, root)})
    _tell(feature, root, options)
    if feature.tasks is None:
        print("it has no tasks.md that can be read", file=sys.stderr)
        return 0
    for name, value in feature.tasks.front.items():
        print(strip(f"  {name}: {value}"))
    print(f"  tasks: {_count(feature)}")
    for box in feature.tasks.boxes:
        print(strip(f"  {'  ' * box.depth}[{'x' if box.is_done else ' '}] {box.text}"))
    for phase in ready(feature.tasks.phases):
        print(strip(f"phase {phase.number} may start: {phase.title}"))
    for problem in (*feature.tasks.problems, *map(str, feature.tasks.overlaps)):
        print(strip(f"tasks.md: {problem}"), file=sys.stderr)
    return 0


def _count(feature: Feature) -> str:
    tasks = feature.tasks
    return f"{len(tasks.done)}/{len(tasks.boxes)}" if tasks else "no tasks.md"


def _folder(feature: Feature, root: str) -> str:
    return str(feature.folder.relative_to(root))


def _as_data(feature: Feature, root: str) -> dict[str, Any]:
    data = {"name": feature.name, "status": feature.status, "folder": _folder(feature, root), "archived": feature.day}
    tasks = feature.tasks
    if tasks is None:
        return data | {"tasks": None}
    return data | {
        "tasks": {
            "front": {strip(name): strip(value) for name, value in tasks.front.items()},
            "done": len(tasks.done),
            "open": len(tasks.open),
            "boxes": [
                {
                    "text": strip(box.text),
                    "done": box.is_done,
                    "line": box.line,
                    "depth": box.depth,
                    "parallel": box.is_parallel,
                    "files": [strip(file) for file in box.files],
                    "phase": box.phase or None,
                }
                for box in tasks.boxes
            ],
            "phases": [
                {
                    "number": phase.number,
                    "title": strip(phase.title),
                    "parallel": phase.is_parallel,
                    "depends": list(phase.depends),
                    "done": phase.is_done,
                    "ready": phase in ready(tasks.phases),
                }
                for phase in tasks.phases
            ],
            "problems": [strip(problem) for problem in (*tasks.problems, *map(str, tasks.overlaps))],
        }
    }


def _print_json(value: Mapping[str, Any]) -> int:
    print(json.dumps({"schema_version": SCHEMA_VERSION, **value}, indent=2, ensure_ascii=False))
    return 0


SUBCOMMANDS: Mapping[str, Subcommand] = {
    "list": Subcommand("all features, those in progress first", _list, takes_name=False),
    "show": Subcommand("one feature: its tasks, the phases that may start, what is wrong", _show),
    "new": Subcommand("make a feature, in the backlog", _new),
    **{verb: Subcommand(move.help, partial(_move, verb)) for verb, move in MOVES.items()},
}
