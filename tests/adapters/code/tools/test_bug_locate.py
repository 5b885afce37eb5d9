"""An error leads to the code that it may come from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from case_files import read_cases
from fakes.polyglot import call, places

TRACES = read_cases(Path(__file__).with_name("traces.tsv"))


@pytest.mark.parametrize(("trace", "path", "symbol"), TRACES)
@pytest.mark.parametrize("where", ["query", "traces"])
def test_a_trace_leads_to_its_frames(root: Path, trace: str, path: str, symbol: str, where: str) -> None:
    """The innermost frame in the repository is first, whether the trace is in the query or on its own."""
    given: Any = trace if where == "query" else [trace]
    output = call(root, "ci_bug_locate", **{where: given})

    assert (path, symbol) == places(output)[0]
    assert output.findings[0].score > 0.5
    assert (
        output.findings[0].start_line <= int(output.findings[0].why.rpartition(" ")[2]) <= output.findings[0].end_line
    )


def test_frames_are_in_order(root: Path) -> None:
    """Frames of libraries are skipped, and each further frame is less certain."""
    trace = (
        'Traceback (most recent call last):\n  File "/app/shop/app.py", line 5, in main\n'
        '  File "/app/shop/upload.py", line 5, in receive\n  File "/usr/lib/python3/json/decoder.py", line 3, in raw\n'
    )
    rows = call(root, "ci_bug_locate", traces=[trace], limit=2).findings

    assert [("shop/upload.py", "receive"), ("shop/app.py", "main")] == [(row.path, row.symbol) for row in rows]
    assert rows[0].score > rows[1].score


def test_a_moved_function_is_found(root: Path) -> None:
    """When the line has another function now, the named one is found, with less confidence."""
    moved = call(root, "ci_bug_locate", traces=['  File "shop/store.py", line 1, in put'])
    still = call(root, "ci_bug_locate", traces=['  File "shop/store.py", line 9, in put'])

    assert (("shop/store.py", "Store.put"), True) == (
        places(moved)[0],
        moved.findings[0].score < still.findings[0].score,
    )


def test_a_message_leads_to_its_text(root: Path) -> None:
    """The code that has the message, and the class of the error, are candidates."""
    output = call(root, "ci_bug_locate", errors=["EmptyNameError: The name must not be empty"])

    assert [("shop/store.py", "Store.put"), ("shop/store.py", "EmptyNameError")] == places(output)[:2]
    assert {"file_path", "line", "line_range", "confidence"} <= set(output.data["candidates"][0])


def test_words_alone_are_searched(root: Path) -> None:
    """Without a trace and a message the search answers, with half its confidence."""
    output = call(root, "ci_bug_locate", query="receive stores the upload twice")

    assert ("shop/upload.py", True) == (output.findings[0].path, output.findings[0].score <= 0.5)
