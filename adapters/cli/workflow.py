"""``upbeat workflow``: list, show and check the workflows; start, stop, continue or resume one.

`list` and `show` work even if a workflow file has mistakes: they ignore that file and say so on stderr.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
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
from upbeat.adapters.clients.registry import CLIENT_BY_CLI_NAME, to_cli_name
from upbeat.adapters.system.config.workflows import PROJECT_FILE, USER_FILE, load_workflows
from upbeat.adapters.system.environment import Environment, read_environment
from upbeat.adapters.system.option_parser import OptionParser
from upbeat.adapters.system.terminal import print_lines, read_screen
from upbeat.adapters.wiring import build_journal
from upbeat.core.journal.status_screen import open_workflow_lines
from upbeat.core.messages.catalogue import load_messages
from upbeat.core.messages.layout import Line, table
from upbeat.core.settings_layers import did_you_mean
from upbeat.core.workflow.drawing import draw_workflow, format_order
from upbeat.core.workflow.registry import (
    Registry,
    Workflow,
    localized_text,
    mode_of_step,
    stage_of_step_key,
)
from upbeat.core.workflow.registry_file import LoadedRegistry

MAX_SESSIONS = 20
"""Latest sessions that are searched for the workflow."""


def build_parser() -> OptionParser:
    """Return the parser of this command."""
    return build_subcommand_parser("workflow", __doc__, SUBCOMMANDS)


def run(arguments: Sequence[str]) -> int:
    return run_subcommand(build_parser(), arguments)


def _list(options: argparse.Namespace) -> int:
    environment = read_environment()
    loaded = _load(options, environment)
    registry = loaded.registry
    if options.json:
        rows = [_as_data(workflow, registry) for workflow in registry.workflows.values()]
        return print_json({"workflows": rows})
    listed = [
        (name, f"{localized_text(workflow.text, environment.language)}\n{format_order(workflow.groups)}")
        for name, workflow in registry.workflows.items()
    ]
    print_lines(table(listed, read_screen(environment)), environment)
    return 0


def _show(options: argparse.Namespace) -> int:
    environment = read_environment()
    loaded = _load(options, environment)
    registry, language = loaded.registry, environment.language
    workflow = registry.workflows.get(options.name)
    if workflow is None:
        return print_unknown_workflow(options.name, registry)
    if options.json:
        return print_json({"workflow": _as_data(workflow, registry)})
    screen = read_screen(environment)
    print_lines(draw_workflow(workflow, registry, screen), environment)
    sessions = build_journal(environment).sessions(project_root(options.repo), MAX_SESSIONS)
    for session in sessions:
        if session.state.run and session.state.run.is_open and session.state.run.workflow == workflow.name:
            stands = load_messages("screens", language).group("workflow")["stands"]
            print_lines([Line(""), Line(stands), *open_workflow_lines(session, screen)], environment)
    return 0


def print_unknown_workflow(name: str, registry: Registry) -> int:
    """Print that there is no workflow ``name``, with the nearest one, and return the exit code."""
    hint = did_you_mean(name, registry.workflows) or "; run `upbeat workflow list` to see them all"
    print_problems([f"no workflow '{name}'{hint}"])
    return 2


def _check(options: argparse.Namespace) -> int:
    environment = read_environment()
    loaded = _load(options, environment)
    if loaded.problems:
        return 1
    checked = [str(environment.config_home / USER_FILE), *([] if loaded.untrusted_files else [PROJECT_FILE])]
    print(f"no problems found in {' and '.join(checked)}")
    return 0


def _load(options: argparse.Namespace, environment: Environment) -> LoadedRegistry:
    """Load the workflows of the project, and print what is wrong with their files."""
    loaded = load_workflows(project_root(options.repo), environment)
    print_problems(loaded.problems)
    if loaded.problems:
        print_problems(["a file with a mistake is ignored until you fix it"])
    for name in loaded.untrusted_files:
        print_problems([f"{name} is skipped until you trust it; run `upbeat trust` here"])
    return loaded


def _as_data(workflow: Workflow, registry: Registry) -> dict[str, Any]:
    return {
        "name": workflow.name,
        "text": dict(workflow.text),
        "files": list(workflow.files),
        "origin": workflow.origin,
        "groups": [[_step(workflow, key, registry) for key in group] for group in workflow.groups],
    }


def _step(workflow: Workflow, key: str, registry: Registry) -> dict[str, Any]:
    stage = registry.stages[stage_of_step_key(key)]
    agent = registry.agents[stage.agent]
    return {
        "key": key,
        "stage": stage.key,
        "mode": mode_of_step(workflow, key, registry.stages),
        "agent": agent.name,
        "access": agent.access,
        "model": agent.model,
        "verdicts": list(stage.verdicts),
        "repairs": {verdict.value: [list(group) for group in groups] for verdict, groups in stage.repairs.items()},
        "max_attempts": stage.max_attempts,
        "continues_on_failure": stage.continues_on_failure,
        "needs_agent": stage.needs_agent,
        "required_evidence": stage.required_evidence,
    }


def _control_command(name: str) -> Callable[[argparse.Namespace], int]:
    """Return the command ``name`` for a session's workflow, imported when it runs (its imports are slow)."""

    def run_command(options: argparse.Namespace) -> int:
        from upbeat.adapters.cli import workflow_control

        return workflow_control.CONTROL_COMMANDS[name](options)

    return run_command


def _show_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name")
    add_json_option(parser)


def _session_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--session", default="", help="the client's session (default: the latest one here)")


def _start_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", help="the workflow (see `upbeat workflow list`)")
    parser.add_argument("goal", nargs="*", help="what the workflow should achieve")
    _session_option(parser)


def _resume_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--client",
        type=to_cli_name,
        choices=sorted(CLIENT_BY_CLI_NAME),
        required=True,
        help="the client to continue in",
    )
    parser.add_argument("--no-start", action="store_true", help="do not start the client")
    parser.add_argument("--force", action="store_true", help="even if the session that has the workflow did not end")
    _session_option(parser)


SUBCOMMANDS: Mapping[str, Subcommand] = {
    "list": Subcommand("list all workflows that apply here", _list, add_json_option),
    "show": Subcommand(
        "show one workflow: its stages, their agents, and what happens after a failure", _show, _show_options
    ),
    "start": Subcommand("start a workflow in a client's session", _control_command("start"), _start_options),
    "stop": Subcommand(
        "stop every workflow of this project, or that of one session", _control_command("stop"), _session_option
    ),
    "continue": Subcommand(
        "continue a stopped workflow where it stopped", _control_command("continue"), _session_option
    ),
    "resume": Subcommand("continue a workflow in the other client", _control_command("resume"), _resume_options),
    "check": Subcommand("report the mistakes in your workflow file and the project's", _check),
}
