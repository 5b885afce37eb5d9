"""The call chain has callers and callees, with cycles and limits."""

from __future__ import annotations

from pathlib import Path

from fakes.polyglot import call, places


def test_callers_and_callees_are_followed(root: Path) -> None:
    """Callers and callees come with lines and depth, in the contract's shape."""
    output = call(root, "ci_call_chain", symbol="receive")
    chain = {entry["symbol_id"]: entry for entry in output.data["call_chain"]}

    assert ("receive", "both", False) == tuple(
        output.data[name] for name in ("target_symbol", "direction", "cycle_detected")
    )
    assert ["shop/upload.py::retry", "tests/test_upload.py::test_receive", "shop/app.py::main"] == [
        caller["symbol_id"] for caller in chain["shop/upload.py::receive"]["callers"]
    ]
    assert {"shop/store.py::Store", "shop/store.py::Store.put"} == {
        callee["symbol_id"] for callee in chain["shop/upload.py::receive"]["callees"]
    }
    assert (2, 7) == (chain["shop/store.py::Store._write"]["depth"], chain["shop/store.py::Store.put"]["line"])
    assert ("shop/upload.py", "retry", "calls receive (shop/upload.py:4) on line 10") == (
        output.findings[0].path,
        output.findings[0].symbol,
        output.findings[0].why,
    )


def test_a_cycle_is_detected(root: Path) -> None:
    """A symbol that calls itself is in a cycle."""
    assert call(root, "ci_call_chain", symbol="retry", direction="callees").data["cycle_detected"]
    assert not call(root, "ci_call_chain", symbol="main", direction="callees").data["cycle_detected"]


def test_direction_and_depth_are_limits(root: Path) -> None:
    """One direction has no symbol of the other, and no step too many."""
    output = call(root, "ci_call_chain", symbol="Store._write", direction="callers", depth=1)

    assert [("shop/store.py", "Store.put")] == places(output)
    assert all("callees" not in entry for entry in output.data["call_chain"])


def test_an_unknown_symbol_has_no_chain(root: Path) -> None:
    """A name that nothing defines has no findings."""
    output = call(root, "ci_call_chain", symbol="nobody")

    assert ((), "no definition of nobody was found") == (output.findings, output.summary)
