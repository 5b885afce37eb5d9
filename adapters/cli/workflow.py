"""``upbeat workflow``: the workflows in force here, one of them in full, and what is wrong in the files of them.

``list`` and ``show`` work even while a file is wrong: that file does not count, and stderr says so.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...core.layers import did_you_mean
from ...core.workflow.registry import Registry, Stage, Workflow, mode_of, stage_of
from ..local.environment import Environment, read_environment
from ..local.git_root import find_root
from ..local.workflows import PROJECT_FILE, USER_FILE, Workflows, load_workflows

SCHEMA_VERSION = "1.0"


@dataclass(frozen=True, slots=True)
class Subcommand:
    """What ``upbeat workflow NAME`` takes, and what it does: options in, exit code out."""

    help: str
    run: Callable[[argparse.Namespace], int]
    add_options: Callable[[argparse.ArgumentParser], object]


def run(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="upbeat workflow", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, subcommand in SUBCOMMANDS.items():
        options = commands.add_parser(name, help=subcommand.help, description=subcommand.help)
        options.add_argument("--repo", default=".", help="the project (default: the one around this folder)")
        subcommand.add_options(options)
    chosen = parser.parse_args(arguments)
    return SUBCOMMANDS[chosen.command].run(chosen)


def load_here(repo: str, environment: Environment) -> Workflows:
    """The workflows in force in the project around the folder ``repo``."""
    start = os.path.realpath(repo)
    return load_workflows(find_root(start).worktree or start, environment)


def _json_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true")


def _show_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name")
    _json_option(parser)


def _list(options: argparse.Namespace) -> int:
    environment = read_environment()
    loaded = load_here(options.repo, environment)
    _tell_about_files(loaded)
    registry = loaded.registry
    if options.json:
        rows = [_as_data(workflow, registry) for workflow in registry.workflows.values()]
        return _print_json({"workflows": rows})
    width = max(map(len, registry.workflows), default=0)
    for name, workflow in registry.workflows.items():
        print(f"{name:<{width}}  {sentence(workflow.text, environment.language)}")
        print(f"{'':<{width}}  {in_order(workflow)}")
    return 0


def _show(options: argparse.Namespace) -> int:
    environment = read_environment()
    loaded = load_here(options.repo, environment)
    _tell_about_files(loaded)
    registry, language = loaded.registry, environment.language
    workflow = registry.workflows.get(options.name)
    if workflow is None:
        hint = did_you_mean(options.name, registry.workflows) or "; upbeat workflow list shows all"
        print(f"upbeat: no workflow '{options.name}'{hint}", file=sys.stderr)
        return 2
    if options.json:
        return _print_json({"workflow": _as_data(workflow, registry)})
    print(f"{workflow.name}: {sentence(workflow.text, language)}")
    print(f"files: {', '.join(workflow.files) or 'none'}; defined at {workflow.origin}")
    for group in workflow.groups:
        for position, key in enumerate(group):
            bar = "  " if len(group) == 1 else "┌ " if position == 0 else "└ " if key == group[-1] else "│ "
            below = "│ " if len(group) > 1 and key != group[-1] else "  "
            print(f"{bar}{_line(workflow, key, registry, language)}")
            print("".join(f"{below}{'':<19}{text}\n" for text in _after_bad(registry.stages[stage_of(key)])), end="")
    return 0


def _check(options: argparse.Namespace) -> int:
    environment = read_environment()
    loaded = load_here(options.repo, environment)
    _tell_about_files(loaded)
    if loaded.problems:
        return 1
    if not loaded.untrusted:
        print(f"nothing is wrong in {environment.config_home / USER_FILE} and {PROJECT_FILE}")
    return 0


def _tell_about_files(loaded: Workflows) -> None:
    for problem in loaded.problems:
        print(f"upbeat: {problem}", file=sys.stderr)
    if loaded.problems:
        print("upbeat: a file with a mistake does not count until it is mended", file=sys.stderr)
    for name in loaded.untrusted:
        print(f"upbeat: {name} does not count until you trust it (upbeat trust)", file=sys.stderr)


def sentence(text: Mapping[str, str], language: str) -> str:
    """The text in ``language``, or in English, or in whatever language there is."""
    return text.get(language) or text.get("en") or next(iter(text.values()), "")


def in_order(workflow: Workflow) -> str:
    """``DEV → REVIEW + TEST``."""
    return " → ".join(" + ".join(group) for group in workflow.groups)


def _line(workflow: Workflow, key: str, registry: Registry, language: str) -> str:
    stage = registry.stages[stage_of(key)]
    mode = mode_of(workflow, key, registry.stages)
    named = f"{key} ({mode})" if mode else key
    return f"{named:<18} {stage.agent}: {sentence(stage.text, language)}"


def _after_bad(stage: Stage) -> list[str]:
    return [
        f"{verdict}: {' → '.join(' + '.join(group) for group in groups)}, then again"
        for verdict, groups in stage.repairs.items()
    ]


def _as_data(workflow: Workflow, registry: Registry) -> dict[str, Any]:
    return {
        "name": workflow.name,
        "text": dict(workflow.text),
        "files": list(workflow.files),
        "origin": workflow.origin,
        "groups": [[_step(workflow, key, registry) for key in group] for group in workflow.groups],
    }


def _step(workflow: Workflow, key: str, registry: Registry) -> dict[str, Any]:
    stage = registry.stages[stage_of(key)]
    agent = registry.agents[stage.agent]
    return {
        "key": key,
        "stage": stage.key,
        "mode": mode_of(workflow, key, registry.stages),
        "agent": agent.name,
        "access": agent.access,
        "model": agent.model,
        "verdicts": list(stage.verdicts),
        "repairs": {verdict.value: [list(group) for group in groups] for verdict, groups in stage.repairs.items()},
        "tries": stage.tries,
        "moves_on": stage.moves_on,
        "witness": stage.witness,
    }


def _print_json(value: Mapping[str, Any]) -> int:
    print(json.dumps({"schema_version": SCHEMA_VERSION, **value}, indent=2, ensure_ascii=False))
    return 0


def _order(name: str) -> Callable[[argparse.Namespace], int]:
    """An order to a session's workflow; what it imports takes longer than all of this file."""

    def give(options: argparse.Namespace) -> int:
        from . import workflow_control

        return workflow_control.ORDERS[name](options)

    return give


def _session_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--session", default="", help="the client's session (default: the latest one here)")


def _start_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", help="the workflow (upbeat workflow list)")
    parser.add_argument("goal", nargs="*", help="what is to be done")
    _session_option(parser)


def _resume_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--in", dest="client", choices=("claude", "codex"), required=True, help="where to go on")
    parser.add_argument("--no-start", action="store_true", help="leave it to you to start the client")
    _session_option(parser)


SUBCOMMANDS: Mapping[str, Subcommand] = {
    "list": Subcommand("all workflows in force here", _list, _json_option),
    "show": Subcommand(
        "one workflow: its stages, who does them, what follows when one ends badly", _show, _show_options
    ),
    "start": Subcommand("start one in a client's session", _order("start"), _start_options),
    "stop": Subcommand("stop what runs in this project, or in one session", _order("stop"), _session_option),
    "continue": Subcommand("let a stopped one go on where it was", _order("continue"), _session_option),
    "resume": Subcommand("go on with it in another client", _order("resume"), _resume_options),
    "check": Subcommand("say what is wrong in your workflow file and the project's", _check, lambda _: None),
}
