"""Impact lists what depends on a symbol or a file."""

from __future__ import annotations

from pathlib import Path

from fakes.polyglot import call


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
