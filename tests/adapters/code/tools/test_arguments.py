"""Invalid arguments are rejected before any file is opened."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from fakes.polyglot import call

from upbeat.core.contract.codes import ErrorCode
from upbeat.core.errors import ToolFailure


@pytest.mark.parametrize(
    ("tool", "args"),
    [
        ("ci_graph_rag", {}),
        ("ci_graph_rag", {"query": "x", "depth": 3}),
        ("ci_graph_rag", {"query": "x", "budget": 8001}),
        ("ci_graph_rag", {"query": "x", "top_k": 0}),
        ("ci_call_chain", {"symbol": " "}),
        ("ci_call_chain", {"symbol": "x", "direction": "up"}),
        ("ci_call_chain", {"symbol": "x", "depth": True}),
        ("ci_bug_locate", {}),
        ("ci_bug_locate", {"query": 5}),
        ("ci_bug_locate", {"errors": "x"}),
        ("ci_impact", {}),
        ("ci_impact", {"files": ["../outside.py"]}),
        ("ci_complexity", {}),
        ("ci_complexity", {"files": ["/etc/passwd"]}),
        ("ci_complexity", {"files": ["a.py"], "more": 1}),
        ("ci_hotspot", {"days": 31}),
        ("ci_hotspot", {"top": "all"}),
    ],
)
def test_invalid_arguments(root: Path, tool: str, args: dict[str, Any]) -> None:
    """Arguments of another kind, out of their range or out of the repository are refused."""
    with pytest.raises(ToolFailure) as failure:
        call(root, tool, **args)

    assert ErrorCode.INVALID_ARGS == failure.value.code
