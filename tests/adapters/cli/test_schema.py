"""``upbeat schema`` prints the schemas of the contract."""

from __future__ import annotations

from pathlib import Path

import pytest
from commands import Here
from processes import ROOT


@pytest.mark.parametrize(
    ("arguments", "file"),
    [([], "turn-report"), (["report"], "turn-report"), (["request"], "prepare-request")],
)
def test_schema(here: Here, tmp_path: Path, arguments: list[str], file: str) -> None:
    """The schema that is printed is the one in config/schema/v1, byte for byte."""
    assert (ROOT / f"config/schema/v1/{file}.schema.json").read_bytes() == here(
        "schema", *arguments, cwd=tmp_path
    ).stdout
