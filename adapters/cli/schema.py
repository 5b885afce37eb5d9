"""``upbeat schema [NAME]``: print a JSON Schema of contract v1 (the files in `config/schema/v1`).

NAME is report (the default), request, backtest, stats, doctor, why or context.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from upbeat.adapters.cli.command_line import create_parser
from upbeat.adapters.system.option_parser import OptionParser

SCHEMA_FILES = {
    "report": "turn-report.schema.json",
    "request": "prepare-request.schema.json",
    "backtest": "backtest.schema.json",
    "stats": "stats.schema.json",
    "doctor": "doctor.schema.json",
    "why": "why.schema.json",
    "context": "context.schema.json",
}


def build_parser() -> OptionParser:
    """Return the parser of this command."""
    parser = create_parser("schema", __doc__)
    parser.add_argument("name", choices=tuple(SCHEMA_FILES), nargs="?", default="report")
    return parser


def run(arguments: Sequence[str]) -> int:
    print(schema_text(build_parser().parse_args(arguments).name), end="")
    return 0


def schema_text(name: str) -> str:
    """Return the text of the schema ``name``, equal to its golden file."""
    from pydantic import TypeAdapter

    from upbeat.core.contract.report import PrepareRequest, TurnReport
    from upbeat.core.doctor import findings
    from upbeat.core.journal import explain, stats, turn_context
    from upbeat.core.rules import backtest

    models: dict[str, Any] = {
        "report": TurnReport,
        "request": PrepareRequest,
        "backtest": backtest.BacktestReport,
        "stats": stats.StatsReport,
        "doctor": findings.DoctorReport,
        "why": explain.Explained,
        "context": turn_context.TurnContext,
    }
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    schema |= TypeAdapter(models[name]).json_schema(mode="validation" if name == "request" else "serialization")
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
