from __future__ import annotations

from pathlib import Path

import pytest
from fakes.polyglot import code_of, make_polyglot

from upbeat.adapters.code.graph.graph import (
    Edge,
    enclosing_symbol,
    find_callees,
    find_callers,
    find_definitions,
    find_importers,
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_polyglot(tmp_path)


def named(edges: list[Edge]) -> list[tuple[str, str, int]]:
    return [(edge.endpoint.path, edge.endpoint.definition.symbol, edge.line) for edge in edges]


@pytest.mark.parametrize(
    ("symbol", "expected"),
    [
        ("Store.put", [("shop/store.py", "Store.put")]),
        ("store.Store", [("shop/store.py", "Store")]),
        ("Cart#total", [("web/cart.ts", "Cart.total")]),
        ("scan::count", [("engine/src/scan.rs", "count")]),
        ("Queue.Push", [("worker/queue.go", "Queue.Push")]),
        ("nothing_like_it", []),
        ("", []),
        ("::", []),
    ],
)
def test_find_definitions(root: Path, symbol: str, expected: list[tuple[str, str]]) -> None:
    """A symbol is found with its owner, however the two are joined."""
    assert expected == [(place.path, place.definition.symbol) for place in find_definitions(code_of(root), symbol)]


@pytest.mark.parametrize(
    ("symbol", "expected"),
    [
        (
            "receive",
            [
                ("shop/upload.py", "retry", 10),
                ("tests/test_upload.py", "test_receive", 5),
                ("shop/app.py", "main", 5),
            ],
        ),
        ("format", [("web/cart.ts", "Cart.total", 5)]),
        ("Cart.total", [("web/page.tsx", "Page", 3)]),
        ("check", [("worker/queue.go", "Queue.Push", 6)]),
        ("count", [("engine/src/lib.rs", "run", 4)]),
        ("list_push", [("native/main.c", "main", 5)]),
    ],
)
def test_callers(root: Path, symbol: str, expected: list[tuple[str, str, int]]) -> None:
    """Callers are found across files in each language, the surest first."""
    code = code_of(root)

    assert expected == named(find_callers(code, find_definitions(code, symbol)[0]))


@pytest.mark.parametrize(
    ("symbol", "expected"),
    [
        ("receive", [("shop/store.py", "Store", 5), ("shop/store.py", "Store.put", 5)]),
        ("Cart.total", [("web/money.ts", "format", 5)]),
        ("Queue.Push", [("worker/check.go", "check", 6)]),
        ("run", [("engine/src/scan.rs", "count", 4)]),
        ("check", []),
    ],
)
def test_callees(root: Path, symbol: str, expected: list[tuple[str, str, int]]) -> None:
    """Callees inside the repository are found, what the language brings along is not."""
    code = code_of(root)

    assert sorted(expected) == sorted(named(find_callees(code, find_definitions(code, symbol)[0])))


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("shop/store.py", ["shop/upload.py"]),
        ("shop/upload.py", ["shop/app.py", "tests/test_upload.py"]),
        ("web/money.ts", ["web/cart.ts"]),
        ("engine/src/scan.rs", ["engine/src/lib.rs"]),
        ("native/list.h", ["native/list.c", "native/main.c"]),
        ("shop/app.py", []),
    ],
)
def test_importers(root: Path, path: str, expected: list[str]) -> None:
    """The files that import a file are found."""
    assert expected == sorted(edge.endpoint.path for edge in find_importers(code_of(root), path))


def test_an_import_is_surer_than_a_name(root: Path) -> None:
    """A caller that imports the name is surer than one with a definition of its own."""
    (root / "shop/other.py").write_text("def receive(x):\n    pass\n\n\ndef use():\n    receive(1)\n")
    code = code_of(root)
    place = next(one for one in find_definitions(code, "receive") if one.path == "shop/upload.py")
    confidence = {edge.endpoint.path: edge.confidence for edge in find_callers(code, place)}

    assert confidence["tests/test_upload.py"] > 0.8 > 0.3 > confidence["shop/other.py"]


def test_place_at(root: Path) -> None:
    """The innermost definition around a line is found; outside of all it is the file."""
    parsed = code_of(root).parsed_file("shop/store.py")
    assert parsed

    assert ["", "EmptyNameError", "Store.put", "Store._write"] == [
        enclosing_symbol("shop/store.py", parsed, line).definition.symbol for line in (3, 1, 9, 12)
    ]
