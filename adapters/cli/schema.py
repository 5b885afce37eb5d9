"""``upbeat schema [report|request]``: the JSON Schema of contract v1, as ``config/schema/v1`` holds it."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from typing import Any

NAMES = {"report": "turn-report.schema.json", "request": "prepare-request.schema.json"}


def run(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="upbeat schema", description=__doc__)
    parser.add_argument("name", choices=NAMES, nargs="?", default="report")
    print(schema_text(parser.parse_args(arguments).name), end="")
    return 0


def schema_text(name: str) -> str:
    """The schema called ``report`` or ``request``, as the bytes of its golden file."""
    from ...core.contract.report import TurnReport
    from ...core.contract.request import PrepareRequest

    models: dict[str, Any] = {"report": TurnReport, "request": PrepareRequest}
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    schema |= models[name].model_json_schema(mode="serialization" if name == "report" else "validation")
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
