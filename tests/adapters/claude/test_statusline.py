"""What Claude Code tells its status line is read from its recorded stdin."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from case_files import read_json_groups

from upbeat.adapters.claude.statusline import parse_status_payload

RECORDED = Path(__file__).parents[2] / "recorded/claude-code/statusline.json"

CASES = read_json_groups(Path(__file__).with_name("cases.jsonl"))


def test_a_recorded_payload() -> None:
    """It has the session and the used share of the context."""
    payload = json.loads(RECORDED.read_text(encoding="utf-8"))

    assert (payload["session_id"], 0) == parse_status_payload(payload)


@pytest.mark.parametrize(
    ("payload", "expected"),
    [*CASES["status_lines"], ({"session_id": "s", "context_window": {"used_percentage": float("nan")}}, ["s", None])],
    ids=str,
)
def test_missing_values_are_empty(payload: dict[str, Any], expected: list[object]) -> None:
    """A missing or unexpected value is empty or None."""
    assert expected == list(parse_status_payload(payload))
