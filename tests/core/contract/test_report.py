"""Reports of any 1.x are readable, and every report is valid by the schema."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from fakes.context import repo_context
from fakes.runtime import fake_world
from hypothesis import given
from hypothesis import strategies as st
from journal_values import JSON
from pydantic import ValidationError

from upbeat.adapters.cli.schema import schema_text
from upbeat.core.contract.codes import ErrorCode
from upbeat.core.contract.event import ClientName, EventSource
from upbeat.core.contract.finding import Finding, ToolOutput
from upbeat.core.contract.report import SCHEMA_VERSION, TurnReport
from upbeat.core.engine.pipeline import TurnRequest, prepare_turn

STORED = Path(__file__).parents[2] / "recorded" / "contract"
SCHEMA = jsonschema_rs.validator_for(json.loads(schema_text("report")))


def stored(pattern: str) -> list[Any]:
    return [pytest.param(json.loads(path.read_text(encoding="utf-8")), id=path.name) for path in STORED.glob(pattern)]


@pytest.mark.parametrize("document", [*stored("1.0-*.json"), *stored("1.7-*.json")])
def test_stored_documents_stay_readable(document: dict[str, Any]) -> None:
    """A document of 1.0 or a later 1.x is valid, and reading and writing keep all of it, unknown values included."""
    report = TurnReport.model_validate(document)

    SCHEMA.validate(document)
    assert document["schema_version"] == report.schema_version
    assert document == json.loads(report.to_json())


def test_there_are_stored_documents() -> None:
    """The compatibility tests have something to read."""
    assert 3 <= len(stored("1.0-*.json"))
    assert stored("1.7-*.json")


@pytest.mark.parametrize("version", ["2.0", "1", "1.x", "", "01.0", "1.0\n"])
def test_other_major_versions_are_rejected(version: str) -> None:
    """A document of another major version is rejected."""
    document = stored("1.0-*.json")[0].values[0] | {"schema_version": version}

    with pytest.raises(ValidationError):
        TurnReport.model_validate(document)


def test_reports_are_values() -> None:
    """A report cannot be changed."""
    report = made("fix the bug in parser.py", {})

    with pytest.raises(ValidationError):
        report.run_id = "x"  # type: ignore[misc]


def made(prompt: str, answers: dict[str, ToolOutput | ErrorCode], plan: bool = False, **settings: Any) -> TurnReport:
    world = fake_world(repo_context(**settings), answers)
    return prepare_turn(TurnRequest(EventSource(ClientName.CLI, "/repo"), prompt, is_plan=plan), world.runtime)


TEXTS = st.text(max_size=60)
FINDINGS = st.builds(
    Finding,
    path=TEXTS,
    title=TEXTS,
    symbol=TEXTS,
    start_line=st.integers(0, 99),
    end_line=st.integers(0, 99),
    score=st.floats(0, 1),
    why=TEXTS,
    text=TEXTS,
    claim=st.sampled_from(["", "dead"]),
    supports_claim=st.booleans(),
)
OUTPUTS = st.builds(
    ToolOutput, TEXTS, st.lists(FINDINGS, max_size=4).map(tuple), st.dictionaries(TEXTS, JSON, max_size=3)
)


@given(
    st.sampled_from(["fix the bug in parser.py", "hello", "", "修复 parse 函数的错误", "\ud800 fix a.py"]),
    st.dictionaries(st.sampled_from(["ci_index_status", "ci_search"]), st.one_of(OUTPUTS, st.sampled_from(ErrorCode))),
    st.booleans(),
    st.booleans(),
)
def test_every_report_is_valid(
    prompt: str, answers: dict[str, ToolOutput | ErrorCode], plan: bool, legacy: bool
) -> None:
    """With any prompt and results, the report is valid, of this version, and equal after reading."""
    report = made(prompt, answers, plan, legacy=legacy)
    document = json.loads(report.to_json())

    SCHEMA.validate(document)
    assert SCHEMA_VERSION == document["schema_version"]
    assert report == TurnReport.model_validate(document)
