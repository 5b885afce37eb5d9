"""What all tools have in common: stable answers, exact lines, no secrets, quick cancellation."""

from __future__ import annotations

import contextlib
import json
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from fakes.polyglot import call, make_polyglot
from repositories import write

from upbeat.adapters.code.provider import EmbeddedProvider
from upbeat.core.errors import ToolFailure


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_polyglot(tmp_path)


ASKED: dict[str, dict[str, Any]] = {
    "ci_graph_rag": {"query": "where is a name stored"},
    "ci_call_chain": {"symbol": "receive"},
    "ci_bug_locate": {"query": "receive fails", "errors": ["ValueError: The name must not be empty"]},
    "ci_impact": {"symbols": ["Store.put"], "files": ["web/money.ts"]},
    "ci_complexity": {"files": ["shop/store.py", "web/cart.ts"]},
}


@pytest.mark.parametrize("tool", ASKED)
def test_the_same_question_has_the_same_answer(root: Path, tool: str) -> None:
    """Two processes, and a process that knows the files already, answer alike."""
    provider = EmbeddedProvider()
    answers = [provider.call(tool, ASKED[tool], str(root), threading.Event()) for _ in range(2)]

    assert [answers[0]] * 2 == [answers[1], call(root, tool, **ASKED[tool])]


@pytest.mark.parametrize("tool", ASKED)
def test_rows_show_exactly_the_lines_they_name(root: Path, tool: str) -> None:
    """A row's text is the file's lines from its first to its last."""
    for row in call(root, tool, **ASKED[tool]).findings:
        if row.text:
            lines = (root / row.path).read_text().split("\n")[row.start_line - 1 : row.end_line]
            assert "\n".join(line.rstrip() for line in lines) == row.text


@pytest.mark.parametrize("tool", ASKED)
def test_secrets_are_in_no_answer(root: Path, tool: str) -> None:
    """A secret file is neither named nor shown."""
    output = call(root, tool, **ASKED[tool])

    assert "hunter2" not in json.dumps([output.data, [str(row) for row in output.findings]])
    assert ".env" not in {row.path for row in output.findings}


@pytest.mark.parametrize("tool", ASKED)
def test_cancellation_is_quick(tmp_path: Path, tool: str) -> None:
    """A tool that works on many files stops soon after nobody waits any more."""
    body = "".join(f"def receive_{n}(x):\n    return receive(x) + put(x)\n\n\n" for n in range(60))
    write(tmp_path, {f"shop/part{n}.py": body for n in range(150)} | {"web/money.ts": "", "shop/store.py": body})
    cancelled = threading.Event()
    ended: list[float] = []

    def run() -> None:
        with contextlib.suppress(ToolFailure):
            EmbeddedProvider().call(tool, ASKED[tool], str(tmp_path), cancelled)
        ended.append(time.monotonic())

    worker = threading.Thread(target=run)
    worker.start()
    time.sleep(0.03)
    cancelled.set()
    started = time.monotonic()
    worker.join()

    assert ended[0] - started < 0.25
