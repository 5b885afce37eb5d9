"""The tools by way of their provider, on a small project in several languages."""

from __future__ import annotations

import contextlib
import json
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from fakes.polyglot import make_polyglot
from repositories import git, make_repository, write

from upbeat.adapters.code.provider import EmbeddedProvider
from upbeat.core.contract.codes import ErrorCode
from upbeat.core.contract.finding import ToolOutput
from upbeat.core.errors import ToolFailure


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_polyglot(tmp_path)


def call(root: Path, tool: str, **args: Any) -> ToolOutput:
    return EmbeddedProvider().call(tool, args, str(root), threading.Event())


def places(output: ToolOutput) -> list[tuple[str, str]]:
    return [(row.path, row.symbol) for row in output.findings]


# --- ci_call_chain ------------------------------------------------------------------------------------------


def test_call_chain_follows_both_ways(root: Path) -> None:
    """Callers and callees come with lines and depth, in the contract's shape."""
    output = call(root, "ci_call_chain", symbol="receive")
    chain = {entry["symbol_id"]: entry for entry in output.data["call_chain"]}

    assert ("receive", "both", False) == tuple(
        output.data[name] for name in ("target_symbol", "direction", "cycle_detected")
    )
    assert ["shop/upload.py::retry", "tests/test_upload.py::test_receive", "shop/app.py::main"] == [
        one["symbol_id"] for one in chain["shop/upload.py::receive"]["callers"]
    ]
    assert {"shop/store.py::Store", "shop/store.py::Store.put"} == {
        one["symbol_id"] for one in chain["shop/upload.py::receive"]["callees"]
    }
    assert (2, 7) == (chain["shop/store.py::Store._write"]["depth"], chain["shop/store.py::Store.put"]["line"])
    assert ("shop/upload.py", "retry", "calls receive (shop/upload.py:4) on line 10") == (
        output.findings[0].path,
        output.findings[0].symbol,
        output.findings[0].why,
    )


def test_call_chain_sees_a_cycle(root: Path) -> None:
    """A symbol that calls itself is said to be in a cycle."""
    assert call(root, "ci_call_chain", symbol="retry", direction="callees").data["cycle_detected"]
    assert not call(root, "ci_call_chain", symbol="main", direction="callees").data["cycle_detected"]


def test_call_chain_keeps_to_direction_and_depth(root: Path) -> None:
    """One direction has nothing of the other, and no step too many."""
    output = call(root, "ci_call_chain", symbol="Store._write", direction="callers", depth=1)

    assert [("shop/store.py", "Store.put")] == places(output)
    assert all("callees" not in entry for entry in output.data["call_chain"])


def test_call_chain_without_a_definition(root: Path) -> None:
    """A name that nothing defines gives no rows."""
    output = call(root, "ci_call_chain", symbol="nobody")

    assert ((), "no definition of nobody was found") == (output.findings, output.summary)


# --- ci_impact ----------------------------------------------------------------------------------------------


def test_impact_of_a_symbol_decays(root: Path) -> None:
    """What uses a symbol is affected, what uses that a little less."""
    nodes = call(root, "ci_impact", symbols=["Store.put"]).data["affected_nodes"]

    assert [("shop/upload.py::receive", 1), ("shop/upload.py::retry", 2)] == [
        (node["symbol_id"], node["depth"]) for node in nodes[:2]
    ]
    assert [node["impact"] for node in nodes] == sorted((node["impact"] for node in nodes), reverse=True)
    assert {"tests/test_upload.py::test_receive": True, "shop/app.py::main": False}.items() <= {
        node["symbol_id"]: node["is_test"] for node in nodes
    }.items()


def test_impact_of_a_file(root: Path) -> None:
    """The files that import a file are affected, and those that import them."""
    output = call(root, "ci_impact", files=["shop/store.py"])
    shape = {name: output.data[name] for name in ("file", "depth", "decay_factor", "threshold", "total_affected")}

    assert {"file": "shop/store.py", "depth": 3, "decay_factor": 0.7, "threshold": 0.1, "total_affected": 3} == shape
    assert [1, 2, 2] == [node["depth"] for node in output.data["affected_nodes"]]


# --- ci_bug_locate ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("trace", "expected"),
    [
        ('  File "/srv/app/shop/store.py", line 9, in put', ("shop/store.py", "Store.put")),
        ("    at Cart.total (/app/web/cart.ts:5:12)", ("web/cart.ts", "Cart.total")),
        ("main.check(...)\n\t/src/worker/check.go:5 +0x1d", ("worker/check.go", "check")),
        ("   1: engine::scan::count\n             at ./engine/src/scan.rs:2:5", ("engine/src/scan.rs", "count")),
        ("    #0 0x4f in list_push /src/native/list.c:5:5", ("native/list.c", "list_push")),
        ('  File "C:\\app\\shop\\store.py", line 12, in _write', ("shop/store.py", "Store._write")),
    ],
)
@pytest.mark.parametrize("where", ["query", "traces"])
def test_bug_locate_by_trace(root: Path, trace: str, expected: tuple[str, str], where: str) -> None:
    """The innermost frame that lies in the repository comes first, wherever the trace stands."""
    given: Any = trace if where == "query" else [trace]
    output = call(root, "ci_bug_locate", **{where: given})

    assert expected == places(output)[0]
    assert output.findings[0].score > 0.5
    assert (
        output.findings[0].start_line <= int(output.findings[0].why.rpartition(" ")[2]) <= output.findings[0].end_line
    )


def test_bug_locate_takes_frames_in_order(root: Path) -> None:
    """Frames of libraries are passed over, and each further frame is less sure."""
    trace = (
        'Traceback (most recent call last):\n  File "/app/shop/app.py", line 5, in main\n'
        '  File "/app/shop/upload.py", line 5, in receive\n  File "/usr/lib/python3/json/decoder.py", line 3, in raw\n'
    )
    rows = call(root, "ci_bug_locate", traces=[trace], limit=2).findings

    assert [("shop/upload.py", "receive"), ("shop/app.py", "main")] == [(row.path, row.symbol) for row in rows]
    assert rows[0].score > rows[1].score


def test_bug_locate_follows_a_function_that_moved(root: Path) -> None:
    """When the line has another function now, the named one is shown, less surely."""
    moved = call(root, "ci_bug_locate", traces=['  File "shop/store.py", line 1, in put'])
    still = call(root, "ci_bug_locate", traces=['  File "shop/store.py", line 9, in put'])

    assert (("shop/store.py", "Store.put"), True) == (
        places(moved)[0],
        moved.findings[0].score < still.findings[0].score,
    )


def test_bug_locate_by_message(root: Path) -> None:
    """The place that has the message, and the error's own class, are candidates."""
    output = call(root, "ci_bug_locate", errors=["EmptyNameError: The name must not be empty"])

    assert [("shop/store.py", "Store.put"), ("shop/store.py", "EmptyNameError")] == places(output)[:2]
    assert {"file_path", "line", "line_range", "confidence"} <= set(output.data["candidates"][0])


def test_bug_locate_by_words_only(root: Path) -> None:
    """Without trace and message the search answers, with half the confidence."""
    output = call(root, "ci_bug_locate", query="receive stores the upload twice")

    assert ("shop/upload.py", True) == (output.findings[0].path, output.findings[0].score <= 0.5)


# --- ci_graph_rag -------------------------------------------------------------------------------------------


def test_graph_rag_shows_what_is_around_the_answer(root: Path) -> None:
    """Rows are neighbours with the edge that leads to them; nodes and edges are in the data."""
    output = call(root, "ci_graph_rag", query="Store.put refuses a name")
    edges = {(edge["source"], edge["target"], edge["type"]) for edge in output.data["subgraph"]["edges"]}

    assert ("shop/upload.py::receive", "shop/store.py::Store.put", "calls") in edges
    assert ("shop/store.py::Store.put", "shop/store.py::Store._write", "calls") in edges
    assert ("shop/store.py", "Store._write") in places(output)
    assert not {("shop/store.py", "Store.put"), ("shop/upload.py", "receive")} & set(places(output))
    assert output.data["metadata"]["graph_available"]
    assert all(0 < row.score < 0.5 and row.why and row.worth > 0 for row in output.findings)
    found = call(root, "ci_search", query="Store.put refuses a name").findings
    assert max(row.score for row in output.findings) < min(row.score for row in found)


@pytest.mark.parametrize("budget", [1, 100, 400, 8000])
def test_graph_rag_stays_inside_its_budget(root: Path, budget: int) -> None:
    """The nodes cost no more tokens than asked for, and every edge has both its ends."""
    data = call(root, "ci_graph_rag", query="Store.put refuses a name", budget=budget).data
    ids = {node["id"] for node in data["subgraph"]["nodes"]}

    assert data["token_count"] <= budget
    assert all({edge["source"], edge["target"]} <= ids for edge in data["subgraph"]["edges"])


def test_graph_rag_goes_no_deeper_than_asked(root: Path) -> None:
    """depth bounds the distance from the answer."""
    depths = [
        max(node["depth"] for node in call(root, "ci_graph_rag", query="_write", depth=n).data["subgraph"]["nodes"])
        for n in (1, 2)
    ]

    assert [1, 2] == depths


# --- ci_complexity ------------------------------------------------------------------------------------------


def test_complexity_of_a_file(root: Path) -> None:
    """One file gives its metrics, and its most complex function a row."""
    output = call(root, "ci_complexity", files=["shop/store.py"])

    assert {"cyclomatic_complexity": 3, "lines_of_code": 9} == output.data["metrics"]
    assert [("shop/store.py", "Store.put")] == places(output)
    assert "cyclomatic complexity 3, 4 lines of code" == output.findings[0].why


def test_complexity_names_what_it_cannot_measure(root: Path) -> None:
    """A file that is missing, secret or without a grammar is named."""
    output = call(root, "ci_complexity", files=["shop/gone.py", ".env", "shop/app.py"])

    assert (["shop/gone.py", ".env"], "shop/app.py") == (output.data["not_measured"], output.data["file"])


# --- ci_hotspot ---------------------------------------------------------------------------------------------


def test_hotspot_ranks_churn_times_complexity(tmp_path: Path) -> None:
    """The file that changes often and is complex comes first, whatever the day is."""
    root = make_repository(tmp_path, {"a.py": "def f(a):\n    return 1 if a else 2\n", "b.py": "def g(): pass\n"})
    for number in range(3):
        write(root, {"a.py": f"def f(a):\n    return {number} if a else 2\n"})
        git(root, "commit", "-qam", f"change {number}")
    output = call(root, "ci_hotspot")

    assert {
        "schema_version": "1.3",
        "days": 30,
        "hotspots": [
            {"rank": 1, "file": "a.py", "score": 1.0, "frequency": 4, "complexity": 2},
            {"rank": 2, "file": "b.py", "score": 0.125, "frequency": 1, "complexity": 1},
        ],
    } == output.data
    assert "4 commits, complexity 2; most complex f (2)" == output.findings[0].why


def test_hotspot_without_git_is_unavailable(root: Path) -> None:
    """Without history there is nothing to count."""
    with pytest.raises(ToolFailure) as failure:
        call(root, "ci_hotspot")

    assert ErrorCode.TOOL_UNAVAILABLE == failure.value.code


# --- all of them --------------------------------------------------------------------------------------------

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
