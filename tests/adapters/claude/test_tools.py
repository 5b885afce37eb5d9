"""What the model is shown in the place of a tool's answer has the form of that answer."""

from __future__ import annotations

from typing import Any

import pytest

from upbeat.adapters.claude.tools import replace_response_text

PICTURE = {"type": "image", "source": {"data": "…"}}


@pytest.mark.parametrize(
    ("tool", "response", "expected"),
    [
        ("Bash", {"stdout": "a", "stderr": "b", "isImage": False}, {"stdout": "x", "stderr": "", "isImage": False}),
        (
            "Read",
            {"type": "text", "file": {"content": "a", "n": 1}},
            {"type": "text", "file": {"content": "x", "n": 1}},
        ),
        ("Grep", {"mode": "content", "content": "a"}, {"mode": "content", "content": "x"}),
        ("Grep", {"mode": "files_with_matches", "filenames": ["a"]}, None),
        ("Glob", {"filenames": ["a"]}, None),
        ("WebFetch", {"code": 200, "result": "a", "url": "u"}, {"code": 200, "result": "x", "url": "u"}),
        ("WebFetch", {"code": 200}, None),
        ("WebSearch", {"results": ["a"]}, None),
        ("mcp__a__b", [{"type": "text", "text": "a"}, PICTURE], [{"type": "text", "text": "x"}, PICTURE]),
        ("mcp__a__b", "a", "x"),
        ("mcp__a__b", {"odd": 1}, None),
        ("Edit", {"filePath": "a"}, None),
        ("Bash", None, None),
    ],
    ids=str,
)
def test_a_response_keeps_its_form(tool: str, response: Any, expected: Any) -> None:
    """The text is replaced and everything else stays; a response of an unknown form is not changed."""
    assert expected == replace_response_text(tool, response, "x")
