"""``upbeat tools list``, ``upbeat tools call NAME --args JSON``, ``upbeat tools approve SERVER[.TOOL]``.

The ``ci_*`` tools and those of your own servers, by hand. ``call`` prints one item of the contract's ``tool_results``;
it exits 0 when the tool answered, else 40. ``list`` starts your servers and says of each of their tools whether it is
automatic, by request, changed or not reachable. ``approve`` shows tools as they are declared now, and approves them.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
import threading
from collections.abc import Iterator, Sequence
from typing import Any

from ...core.contract.codes import ExitCode
from ...core.contract.event import ClientName, Source
from ...core.errors import ToolFailure
from ...core.pipeline import call_tool
from ...core.servers import split_name, tool_name
from ...core.turn.clean import clean
from ...core.turn.plan import TOOLS
from ...core.turn.strip import strip
from ..local.surroundings import root_of, working_directory
from ..wiring import Application, Use, build
from .ending import end_in_order


def run(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="upbeat tools", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    listing = commands.add_parser("list", help="what there is")
    listing.add_argument("--json", action="store_true")
    call = commands.add_parser("call", help="run one tool")
    call.add_argument("name")
    call.add_argument("--args", default="{}", metavar="JSON", help='for example {"query": "retry limit"}')
    approve = commands.add_parser("approve", help="approve the tools of a server of yours as they are now")
    approve.add_argument("name", metavar="SERVER[.TOOL]")
    approve.add_argument("--json", action="store_true")
    for command in (listing, call, approve):
        command.add_argument("--repo", help="the repository (default: the one around this folder)")
    options = parser.parse_args(arguments)
    with _application() as application:
        match options.command:
            case "list":
                return _list(application, options)
            case "call":
                return _call(application, options)
            case _:
                return _approve(application, options)


@contextlib.contextmanager
def _application() -> Iterator[Application]:
    end_in_order()
    application = build(use=Use.BY_HAND)
    try:
        yield application
    finally:
        application.close()


def _list(application: Application, options: argparse.Namespace) -> int:
    offered = application.provider.tools()
    rows: list[dict[str, Any]] = [
        {"name": tool.name, "tier": tool.tier, "timeout_ms": tool.timeout_ms, "available": tool.name in offered}
        for tool in TOOLS
    ]
    ours = len(rows)
    rows += _rows_of_servers(application, options)
    if options.json:
        print(json.dumps({"schema_version": "1.0", "tools": rows}, indent=2))
        return 0
    width = max(16, *(len(row["name"]) for row in rows))
    for number, row in enumerate(rows):
        state = offered.get(row["name"], "not offered here") if number < ours else _said(row)
        print(f"{row['name']:<{width}} tier {row['tier']}  {row['timeout_ms']:>5} ms  {state}")
    return 0


def _rows_of_servers(application: Application, options: argparse.Namespace) -> list[dict[str, Any]]:
    servers = application.servers
    if servers is None or not servers.servers():
        return []
    return [
        {
            "name": _line(one.name),
            "tier": 1,
            "timeout_ms": one.timeout_ms,
            "available": one.state in ("automatic", "by request"),
            "server": split_name(one.name)[0] or one.name,
            "state": one.state,
            "detail": _line(one.detail),
        }
        for one in servers.show(root_of(options.repo, application.environment), threading.Event())
    ]


def _line(text: str) -> str:
    """What a server named, on one line and harmless."""
    return " ".join(clean(text).text.split())


def _said(row: dict[str, Any]) -> str:
    return f"{row['state']}: {row['detail']}" if row["detail"] else str(row["state"])


def _call(application: Application, options: argparse.Namespace) -> int:
    try:
        args = json.loads(options.args)
    except ValueError as error:
        print(f"upbeat: --args is not JSON: {error}", file=sys.stderr)
        return 2
    if not isinstance(args, dict):
        print("upbeat: --args takes a JSON object", file=sys.stderr)
        return 2
    source = Source(ClientName.CLI, working_directory())
    called = call_tool(options.name, args, source, options.repo, application.runtime)
    print(called.result.model_dump_json(indent=2))
    for limit in called.limits:
        print(f"[Limits] {limit.text}", file=sys.stderr)
    return ExitCode.OK if called.result.status == "ok" else ExitCode.TOOL_FAILED


def _approve(application: Application, options: argparse.Namespace) -> int:
    """Show what is approved from now on, in full: what a model or a turn may meet is what its user has seen."""
    server, tool = split_name(options.name) if "." in options.name else (options.name, "")
    assert application.servers
    try:
        approved = application.servers.approve(
            server, tool, root_of(options.repo, application.environment), threading.Event()
        )
    except ToolFailure as failure:
        print(f"upbeat: {clean(str(failure)).text}", file=sys.stderr)
        return ExitCode.TOOL_FAILED
    declared = [json.loads(strip(one.text)) for one in approved]
    if options.json:
        print(json.dumps({"schema_version": "1.0", "approved": declared}, indent=2))
        return 0
    for one in declared:
        print(json.dumps(one, indent=2, ensure_ascii=False))
    names = ", ".join(tool_name(server, one.name) for one in approved)
    print(f"upbeat: approved as shown: {strip(names)}; a change of one ends that", file=sys.stderr)
    return 0
