"""What the model is shown in the place of a tool's answer has the form of that answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from case_files import read_json_groups

from upbeat.adapters.claude.tools import replace_response_text

PICTURE = {"type": "image", "source": {"data": "…"}}

CASES = read_json_groups(Path(__file__).with_name("cases.jsonl"))


@pytest.mark.parametrize(
    ("tool", "response", "expected"),
    [
        *CASES["new_responses"],
        ("mcp__a__b", [{"type": "text", "text": "a"}, PICTURE], [{"type": "text", "text": "x"}, PICTURE]),
    ],
    ids=str,
)
def test_a_response_keeps_its_form(tool: str, response: Any, expected: Any) -> None:
    """The text is replaced and everything else stays; a response of an unknown form is not changed."""
    assert expected == replace_response_text(tool, response, "x")
