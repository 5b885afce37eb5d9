"""What the model is shown in the place of a tool's answer has the form of that answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from case_files import read_json_groups

from upbeat.adapters.claude.tools import replace_response_text, with_response
from upbeat.core.contract import event as events

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


@pytest.mark.parametrize(
    ("content", "start", "lines", "total", "is_read"),
    [
        ("a = 1\n", 1, 2, 2, True),
        ("", 90, 1, 3, False),
        ("", 90, 0, 3, False),
        ("\n\n", 4, 2, 9, False),
        ("", 1, 0, 0, True),
        ("", 1, 1, 1, True),
        ("\n\n", 1, 3, 3, True),
    ],
)
def test_a_read_that_shows_nothing(content: str, start: int, lines: int, total: int, is_read: bool) -> None:
    """A read past the end, or of empty lines among others, is no read of the file; an empty file is read whole."""
    call = events.Call("c", "Read", {}, events.ToolKind.READ, ("/repo/a.py",))
    file = {"filePath": "/repo/a.py", "content": content, "numLines": lines, "startLine": start, "totalLines": total}

    assert (("/repo/a.py",) if is_read else ()) == with_response(call, {"type": "text", "file": file}).paths
    assert call == with_response(call, {"type": "image", "file": {"base64": ""}})
