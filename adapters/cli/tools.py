"""``upbeat tools list``, ``upbeat tools call NAME --args JSON``, ``upbeat tools approve SERVER[.TOOL]``.

The `ci_*` tools and the tools of your own MCP servers. `call` prints the answer as an agent gets it over MCP, or with
`--json` one item of the contract's `tool_results`, and exits with 0 if the tool answered, else with 40. `list` starts
your servers and shows the state of each of their tools: automatic, on_request, changed or unreachable. If your settings
have mistakes, it prints them and exits with 20.
`approve` shows tools as their server declares them now, exactly, and approves them; at a terminal it asks first.
"""

from __future__ import annotations

import argparse
import json
import sys
import threading
from collections.abc import Callable, Sequence
from typing import Any

from upbeat.adapters.cli.command_line import (
    Subcommand,
    add_json_option,
    build_subcommand_parser,
    exit_on_signals,
    print_json,
    run_subcommand,
)
from upbeat.adapters.cli.exact_output import LINE_MARKS, confirm_rows, output_rows, show_rows
from upbeat.adapters.mcp_client.declarations import ToolDeclaration
from upbeat.adapters.mcp_server.protocol import TOOL_DEFINITIONS
from upbeat.adapters.system.config.resolver import resolve_root, working_directory
from upbeat.adapters.system.config.settings import load_settings
from upbeat.adapters.system.option_parser import OptionParser
from upbeat.adapters.system.terminal import are_terminals, print_lines, read_screen
from upbeat.adapters.wiring import Application, ServerLifetime, build_application
from upbeat.core.contract.codes import ExitCode
from upbeat.core.contract.event import ClientName, EventSource
from upbeat.core.engine.pipeline import call_tool
from upbeat.core.errors import ToolFailure
from upbeat.core.messages import layout
from upbeat.core.messages.catalogue import load_messages
from upbeat.core.sanitize.exact import escape_exactly
from upbeat.core.sanitize.text import sanitize_text
from upbeat.core.settings_layers import did_you_mean
from upbeat.core.tool_servers import qualified_tool_name, split_tool_name
from upbeat.core.turn.plan import TOOLS


def build_parser() -> OptionParser:
    """Return the parser of this command."""
    return build_subcommand_parser("tools", __doc__, SUBCOMMANDS)


def run(arguments: Sequence[str]) -> int:
    return run_subcommand(build_parser(), arguments)


def _with_application(
    command: Callable[[Application, argparse.Namespace], int],
) -> Callable[[argparse.Namespace], int]:
    """Run ``command`` with the application, and stop the user's servers afterwards."""

    def run_command(options: argparse.Namespace) -> int:
        exit_on_signals()
        application = build_application(server_lifetime=ServerLifetime.MANUAL)
        try:
            return command(application, options)
        finally:
            application.close()

    return run_command


def _list(application: Application, options: argparse.Namespace) -> int:
    offered = application.tool_provider.tools()
    definitions = {tool["name"]: tool for tool in TOOL_DEFINITIONS}
    embedded: list[dict[str, Any]] = [
        {
            "name": tool.name,
            "tier": tool.tier,
            "timeout_ms": tool.timeout_ms,
            "available": tool.name in offered,
            "description": definitions[tool.name]["description"],
            "input_schema": definitions[tool.name]["inputSchema"],
        }
        for tool in TOOLS
    ]
    rows = embedded + _server_rows(application, options)
    environment = application.environment
    problems = load_settings(resolve_root(options.repo, environment), environment).problems
    for problem in problems:
        print(f"upbeat: {problem}", file=sys.stderr)
    code = ExitCode.CONFIG if problems else ExitCode.OK
    if options.json:
        print_json({"tools": rows})
        return code
    screen, texts = read_screen(environment), load_messages("screens", environment.language).group("lists")
    cells = []
    for row in rows:
        state = row.get("state") or offered.get(row["name"], texts["not_offered"])
        about = f"{state}: {row['detail']}" if row.get("detail") else state
        cells.append((row["name"], texts[f"tier_{row['tier']}"], f"≤{row['timeout_ms']:>5} ms", about))
    marks = [layout.GOOD if row["available"] else layout.ATTENTION for row in rows]
    head = texts["tools"].format(available=sum(bool(row["available"]) for row in rows), all=len(rows))
    print_lines(layout.headline(head, screen), environment)
    print_lines(layout.table(cells, screen, "  ", marks), environment)
    return code


def _server_rows(application: Application, options: argparse.Namespace) -> list[dict[str, Any]]:
    servers = application.user_servers
    if servers is None or not servers.servers():
        return []
    return [
        {
            "name": _sanitize_line(status.name),
            "tier": 1,
            "timeout_ms": status.timeout_ms,
            "available": status.state in ("automatic", "on_request"),
            "server": split_tool_name(status.name)[0] or status.name,
            "state": status.state,
            "detail": _sanitize_line(status.detail),
        }
        for status in servers.tool_statuses(resolve_root(options.repo, application.environment), threading.Event())
    ]


def _sanitize_line(text: str) -> str:
    """Return text from a server, sanitized and on one line."""
    return " ".join(sanitize_text(text).text.split())


def _call(application: Application, options: argparse.Namespace) -> int:
    try:
        args = json.loads(options.args)
    except ValueError as error:
        print(f"upbeat: --args is not JSON: {error}", file=sys.stderr)
        return 2
    if not isinstance(args, dict):
        print("upbeat: --args must be a JSON object", file=sys.stderr)
        return 2
    source = EventSource(ClientName.CLI, working_directory())
    called = call_tool(options.name, args, source, options.repo, application.runtime)
    if options.json:
        print(called.result.model_dump_json(indent=2))
    else:
        print(called.model_text, file=sys.stderr if called.result.error else sys.stdout)
    offered = application.tool_provider.tools()
    if options.name not in offered and (hint := did_you_mean(options.name, offered)):
        print(f"upbeat: no tool '{escape_exactly(options.name)}'{hint}", file=sys.stderr)
    for limit in called.limits:
        print(f"[Limits] {limit.text}", file=sys.stderr)
    return ExitCode.OK if called.result.status == "ok" else ExitCode.TOOL_FAILED


def _approve(application: Application, options: argparse.Namespace) -> int:
    """Show the whole declarations of tools, all that a model may see, and approve them; a terminal is asked first."""
    server, tool = split_tool_name(options.name) if "." in options.name else (options.name, "")
    assert application.user_servers
    root = resolve_root(options.repo, application.environment)
    confirmed = _confirm_declarations if not (options.yes or options.json) else lambda _declarations: True
    try:
        approved = application.user_servers.approve(server, tool, root, threading.Event(), confirmed)
    except ToolFailure as failure:
        print(f"upbeat: {sanitize_text(str(failure)).text}", file=sys.stderr)
        return ExitCode.TOOL_FAILED
    if not approved:
        print("upbeat: nothing was approved", file=sys.stderr)
        return 1
    if options.json:
        return print_json({"approved": [json.loads(declaration.json_text) for declaration in approved]})
    if options.yes:
        show_rows(_declaration_rows(approved), is_question=False)
    names = ", ".join(escape_exactly(qualified_tool_name(server, declaration.name)) for declaration in approved)
    print(f"upbeat: approved as shown: {names}; approve again if a declaration changes", file=sys.stderr)
    return 0


def _confirm_declarations(declarations: Sequence[ToolDeclaration]) -> bool:
    """Show ``declarations``; return whether the user approves them, or called the command without a terminal."""
    rows = _declaration_rows(declarations)
    if are_terminals(sys.stdin, sys.stdout):
        return confirm_rows(rows, "upbeat: approve as shown?")
    return show_rows(rows, is_question=False)


def _declaration_rows(declarations: Sequence[ToolDeclaration]) -> list[str]:
    """Return the declarations as JSON: exact rows for a terminal, plain ASCII for a program."""
    is_terminal = are_terminals(sys.stdout)
    rows: list[str] = []
    for declaration in declarations:
        text = json.dumps(json.loads(declaration.json_text), indent=2, ensure_ascii=not is_terminal)
        rows += output_rows(text, LINE_MARKS) if is_terminal else text.split("\n")
    return rows


def _call_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name")
    parser.add_argument("--args", default="{}", metavar="JSON", help='for example {"query": "retry limit"}')
    add_json_option(parser)


def _approve_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="SERVER[.TOOL]")
    parser.add_argument("--yes", action="store_true", help="do not ask")
    add_json_option(parser)


SUBCOMMANDS = {
    "list": Subcommand("list all tools and their state", _with_application(_list), add_json_option),
    "call": Subcommand("call one tool", _with_application(_call), _call_options),
    "approve": Subcommand(
        "approve tools of your server as they are declared now", _with_application(_approve), _approve_options
    ),
}
