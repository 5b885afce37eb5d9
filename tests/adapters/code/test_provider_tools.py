"""All tools give stable answers with exact lines and without secrets, and can be cancelled."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest
from fakes.polyglot import call, make_polyglot

from upbeat.adapters.code.provider import EmbeddedProvider
from upbeat.core.contract.codes import ErrorCode
from upbeat.core.errors import ToolFailure


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_polyglot(tmp_path_factory.mktemp("project"))


ARGUMENTS: dict[str, dict[str, Any]] = {
    "ci_search": {"query": "where is a name stored", "limit": 5},
    "ci_graph_rag": {"query": "where is a name stored"},
    "ci_call_chain": {"symbol": "receive"},
    "ci_bug_locate": {"query": "receive fails", "errors": ["ValueError: The name must not be empty"]},
    "ci_impact": {"symbols": ["Store.put"], "files": ["web/money.ts"]},
    "ci_complexity": {"files": ["shop/store.py", "web/cart.ts"]},
}


@pytest.mark.parametrize("tool", ARGUMENTS)
def test_the_same_arguments_have_the_same_answer(root: Path, tool: str) -> None:
    """A new provider, and one that has cached the files, answer alike."""
    provider = EmbeddedProvider()
    answers = [provider.call(tool, ARGUMENTS[tool], str(root), threading.Event()) for _ in range(2)]

    assert [answers[0]] * 2 == [answers[1], call(root, tool, **ARGUMENTS[tool])]


@pytest.mark.parametrize("tool", ARGUMENTS)
def test_findings_have_exactly_their_lines(root: Path, tool: str) -> None:
    """The text of a finding is the lines from its first to its last."""
    for row in call(root, tool, **ARGUMENTS[tool]).findings:
        if row.text:
            lines = (root / row.path).read_text().split("\n")[row.start_line - 1 : row.end_line]
            assert "\n".join(line.rstrip() for line in lines) == row.text


@pytest.mark.parametrize("tool", ARGUMENTS)
def test_secrets_are_in_no_answer(root: Path, tool: str) -> None:
    """A credential file is neither named nor shown."""
    output = call(root, tool, **ARGUMENTS[tool])

    assert "hunter2" not in json.dumps([output.data, [str(row) for row in output.findings]])
    assert ".env" not in {row.path for row in output.findings}


@pytest.mark.parametrize("tool", ARGUMENTS)
def test_a_cancelled_tool_stops(root: Path, tool: str) -> None:
    """A tool that is cancelled in the middle asks only a few times more before it fails with a timeout."""
    checks = 0

    class CancelledLater:
        def is_set(self) -> bool:
            nonlocal checks
            checks += 1
            return checks > 3

    with pytest.raises(ToolFailure) as failure:
        EmbeddedProvider().call(tool, ARGUMENTS[tool], str(root), CancelledLater())

    assert ErrorCode.TIMEOUT == failure.value.code
    assert checks < 8
