"""``upbeat features``: list, show, create and move the features in `specs/features`.

A feature is a folder with a `tasks.md`. The folder that contains it is its status.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from upbeat.adapters.cli.command_line import (
    Subcommand,
    add_json_option,
    build_subcommand_parser,
    print_json,
    print_problems,
    project_root,
    run_subcommand,
)
from upbeat.adapters.system.clock import SystemClock
from upbeat.adapters.system.config.workflows import load_workflows
from upbeat.adapters.system.environment import read_environment
from upbeat.adapters.system.option_parser import OptionParser
from upbeat.adapters.system.terminal import print_lines, read_screen
from upbeat.adapters.system.workspace.workspace import Feature, LocalWorkspace
from upbeat.core.messages import layout
from upbeat.core.messages.catalogue import format_count, load_messages
from upbeat.core.sanitize.control_chars import strip_controls
from upbeat.core.settings_layers import did_you_mean
from upbeat.core.workflow.specs import FEATURES_FOLDER, STATUS_TRANSITIONS, FeatureStatus
from upbeat.core.workflow.tasks import find_ready_phases

DEFAULT_WORKFLOW = "standard"
_STATUS_MARKS = {FeatureStatus.IN_PROGRESS: layout.CURRENT, FeatureStatus.ARCHIVED: layout.GOOD}


def build_parser() -> OptionParser:
    """Return the parser of this command."""
    return build_subcommand_parser("features", __doc__, SUBCOMMANDS)


def run(arguments: Sequence[str]) -> int:
    return run_subcommand(build_parser(), arguments)


def _list(options: argparse.Namespace) -> int:
    root = project_root(options.repo)
    features = LocalWorkspace(SystemClock()).list_features(root)
    if options.json:
        return print_json({"features": [_as_data(feature, root) for feature in features]})
    if not features:
        print(f"no features in {FEATURES_FOLDER}; create one with `upbeat features new NAME`", file=sys.stderr)
        return 0
    environment = read_environment()
    screen, texts = read_screen(environment), load_messages("screens", environment.language).group("lists")
    active = sum(feature.status is FeatureStatus.IN_PROGRESS for feature in features)
    count = format_count("feature", len(features), environment.language)
    head = texts["features"].format(features=count, folder=FEATURES_FOLDER, active=active)
    cells = [(each.name, each.status, _task_count(each), each.archived_on or "") for each in features]
    marks = [_STATUS_MARKS.get(feature.status, layout.QUIET) for feature in features]
    print_lines(layout.headline(head, screen), environment)
    print_lines(layout.table(cells, screen, "  ", marks), environment)
    return 0


def _new(options: argparse.Namespace) -> int:
    environment, root = read_environment(), project_root(options.repo)
    loaded = load_workflows(root, environment)
    print_problems(loaded.problems)
    registry = loaded.registry
    workflow = registry.workflows.get(options.workflow)
    if workflow is None:
        hint = did_you_mean(options.workflow, registry.workflows) or "; run `upbeat workflow list` to see them all"
        print(f"upbeat: no workflow '{options.workflow}'{hint}", file=sys.stderr)
        return 2
    status = FeatureStatus.IN_PROGRESS if options.start else FeatureStatus.BACKLOG
    files = LocalWorkspace(SystemClock())
    return _report_feature(
        files.create(root, options.name, workflow, registry, status, environment.language), root, options
    )


def _move(verb: str, options: argparse.Namespace) -> int:
    root = project_root(options.repo)
    return _report_feature(LocalWorkspace(SystemClock()).move(root, options.name, verb), root, options)


def _report_feature(feature: Feature, root: str, options: argparse.Namespace) -> int:
    if options.json:
        return print_json({"feature": _as_data(feature, root)})
    print(f"{feature.name} is {feature.status}: {feature.folder.relative_to(root)}")
    return 0


def _show(options: argparse.Namespace) -> int:
    root = project_root(options.repo)
    feature = LocalWorkspace(SystemClock()).find(root, options.name)
    _report_feature(feature, root, options)
    if options.json:
        return 0
    if feature.tasks is None:
        print("it has no readable tasks.md", file=sys.stderr)
        return 0
    for name, value in feature.tasks.front_matter.items():
        print(strip_controls(f"  {name}: {value}"))
    print(f"  tasks: {_task_count(feature)}")
    for box in feature.tasks.checkboxes:
        print(strip_controls(f"  {'  ' * box.depth}[{'x' if box.is_done else ' '}] {box.text}"))
    for phase in find_ready_phases(feature.tasks.phases):
        print(strip_controls(f"phase {phase.number} can start: {phase.title}"))
    for problem in (*feature.tasks.problems, *map(str, feature.tasks.overlaps)):
        print(strip_controls(f"tasks.md: {problem}"), file=sys.stderr)
    return 0


def _task_count(feature: Feature) -> str:
    tasks = feature.tasks
    return f"{len(tasks.done_checkboxes)}/{len(tasks.checkboxes)}" if tasks else "no tasks.md"


def _as_data(feature: Feature, root: str) -> dict[str, Any]:
    data: dict[str, Any] = {
        "name": feature.name,
        "status": feature.status,
        "folder": str(feature.folder.relative_to(root)),
        "archived": feature.archived_on,
        "tasks": None,
    }
    tasks = feature.tasks
    if tasks is None:
        return data
    ready = find_ready_phases(tasks.phases)
    return data | {
        "tasks": {
            "front": {strip_controls(name): strip_controls(value) for name, value in tasks.front_matter.items()},
            "done": len(tasks.done_checkboxes),
            "open": len(tasks.open_checkboxes),
            "boxes": [
                {
                    "text": strip_controls(box.text),
                    "done": box.is_done,
                    "line": box.line_number,
                    "depth": box.depth,
                    "parallel": box.is_parallel,
                    "files": [strip_controls(file) for file in box.files],
                    "phase": box.phase or None,
                }
                for box in tasks.checkboxes
            ],
            "phases": [
                {
                    "number": phase.number,
                    "title": strip_controls(phase.title),
                    "parallel": phase.is_parallel,
                    "depends": list(phase.depends_on),
                    "done": phase.is_done,
                    "ready": phase in ready,
                }
                for phase in tasks.phases
            ],
            "problems": [strip_controls(problem) for problem in (*tasks.problems, *map(str, tasks.overlaps))],
        }
    }


def _name_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", help="the feature, in lower case with hyphens")
    add_json_option(parser)


def _new_options(parser: argparse.ArgumentParser) -> None:
    _name_options(parser)
    parser.add_argument("--workflow", default=DEFAULT_WORKFLOW, help=f"default: {DEFAULT_WORKFLOW}")
    parser.add_argument("--start", action="store_true", help="start it now instead of adding it to the backlog")


SUBCOMMANDS: Mapping[str, Subcommand] = {
    "list": Subcommand("list all features, those in progress first", _list, add_json_option),
    "show": Subcommand("show one feature: its tasks, the phases that can start, its problems", _show, _name_options),
    "new": Subcommand("create a feature in the backlog", _new, _new_options),
    **{verb: Subcommand(move.help, partial(_move, verb), _name_options) for verb, move in STATUS_TRANSITIONS.items()},
}
