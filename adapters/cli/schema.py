"""``upbeat schema [NAME]``: the JSON Schema of contract v1, as ``config/schema/v1`` holds it.

NAME is report (the default), request, backtest, stats or doctor.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from typing import Any

NAMES = {
    "report": "turn-report.schema.json",
    "request": "prepare-request.schema.json",
    "backtest": "backtest.schema.json",
    "stats": "stats.schema.json",
    "doctor": "doctor.schema.json",
}


def run(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="upbeat schema", description=__doc__)
    parser.add_argument("name", choices=NAMES, nargs="?", default="report")
    print(schema_text(parser.parse_args(arguments).name), end="")
    return 0


def schema_text(name: str) -> str:
    """The schema called ``name``, as the bytes of its golden file."""
    from pydantic import TypeAdapter

    from ...core.contract.report import TurnReport
    from ...core.contract.request import PrepareRequest
    from ...core.doctor import findings
    from ...core.journal import stats
    from ...core.rules import backtest

    models: dict[str, Any] = {
        "report": TurnReport,
        "request": PrepareRequest,
        "backtest": backtest.Report,
        "stats": stats.Report,
        "doctor": findings.Report,
    }
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    schema |= TypeAdapter(models[name]).json_schema(mode="validation" if name == "request" else "serialization")
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
