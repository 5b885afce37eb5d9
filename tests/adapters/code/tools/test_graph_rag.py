"""The subgraph has what is connected to the answer of a search."""

from __future__ import annotations

from pathlib import Path

import pytest
from fakes.polyglot import call, places


def test_neighbors_of_the_answer_are_found(root: Path) -> None:
    """Findings are neighbors with the edge that leads to them; the data has all nodes and edges."""
    output = call(root, "ci_graph_rag", query="Store.put refuses a name")
    edges = {(edge["source"], edge["target"], edge["type"]) for edge in output.data["subgraph"]["edges"]}

    assert ("shop/upload.py::receive", "shop/store.py::Store.put", "calls") in edges
    assert ("shop/store.py::Store.put", "shop/store.py::Store._write", "calls") in edges
    assert ("shop/store.py", "Store._write") in places(output)
    assert not {("shop/store.py", "Store.put"), ("shop/upload.py", "receive")} & set(places(output))
    assert output.data["metadata"]["graph_available"]
    assert all(0 < row.score < 0.5 and row.why and row.optional_score > 0 for row in output.findings)
    answer = call(root, "ci_search", query="Store.put refuses a name").findings
    assert max(row.score for row in output.findings) < min(row.score for row in answer)


@pytest.mark.parametrize("budget", [1, 100, 400, 8000])
def test_the_budget_is_a_limit(root: Path, budget: int) -> None:
    """The nodes take no more tokens than the budget, and every edge has both its ends."""
    data = call(root, "ci_graph_rag", query="Store.put refuses a name", budget=budget).data
    ids = {node["id"] for node in data["subgraph"]["nodes"]}

    assert data["token_count"] <= budget
    assert all({edge["source"], edge["target"]} <= ids for edge in data["subgraph"]["edges"])


def test_depth_is_a_limit(root: Path) -> None:
    """The distance from the answer is at most ``depth``."""
    depths = [
        max(node["depth"] for node in call(root, "ci_graph_rag", query="_write", depth=n).data["subgraph"]["nodes"])
        for n in (1, 2)
    ]

    assert [1, 2] == depths


def test_the_subgraph_ends_with_the_rows_that_are_shown(root: Path) -> None:
    """With ``rows`` the first findings are those of the whole subgraph; more of it than they need is not built."""
    query = "Store.put refuses a name"
    whole = call(root, "ci_graph_rag", query=query)
    found = len(call(root, "ci_search", query=query).findings)
    part = call(root, "ci_graph_rag", query=query, rows=found + 1)

    assert whole.findings[0] == part.findings[0]
    assert not call(root, "ci_graph_rag", query=query, rows=found).findings
    assert len(part.data["subgraph"]["nodes"]) <= len(whole.data["subgraph"]["nodes"])
