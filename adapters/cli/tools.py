"""``upbeat tools list`` and ``upbeat tools call NAME --args JSON``: the ``ci_*`` tools by hand.

``call`` prints one item of the contract's ``tool_results``; it exits 0 when the tool answered, else 40.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence

from ...core.contract.codes import ExitCode
from ...core.contract.event import ClientName, Source
from ...core.pipeline import call_tool
from ...core.turn.plan import TOOLS
from ..wiring import build


def run(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="upbeat tools", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    listing = commands.add_parser("list", help="what there is")
    listing.add_argument("--json", action="store_true")
    call = commands.add_parser("call", help="run one tool")
    call.add_argument("name")
    call.add_argument("--args", default="{}", metavar="JSON", help='for example {"query": "retry limit"}')
    call.add_argument("--repo", help="the repository (default: the one around this folder)")
    options = parser.parse_args(arguments)
    return _list(as_json=options.json) if options.command == "list" else _call(options)


def _list(*, as_json: bool) -> int:
    offered = build().provider.tools()
    rows = [
        {"name": tool.name, "tier": tool.tier, "timeout_ms": tool.timeout_ms, "available": tool.name in offered}
        for tool in TOOLS
    ]
    if as_json:
        print(json.dumps({"schema_version": "1.0", "tools": rows}, indent=2))
        return 0
    for row in rows:
        state = offered.get(str(row["name"]), "not offered here")
        print(f"{row['name']:<16} tier {row['tier']}  {row['timeout_ms']:>5} ms  {state}")
    return 0


def _call(options: argparse.Namespace) -> int:
    try:
        args = json.loads(options.args)
    except ValueError as error:
        print(f"upbeat: --args is not JSON: {error}", file=sys.stderr)
        return 2
    if not isinstance(args, dict):
        print("upbeat: --args takes a JSON object", file=sys.stderr)
        return 2
    source = Source(ClientName.CLI, os.getcwd())
    called = call_tool(options.name, args, source, options.repo, build().runtime)
    print(called.result.model_dump_json(indent=2))
    for limit in called.limits:
        print(f"[Limits] {limit.text}", file=sys.stderr)
    return ExitCode.OK if called.result.status == "ok" else ExitCode.TOOL_FAILED
