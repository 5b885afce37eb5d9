"""Callers, callees and importers are found by name, each with a confidence."""

from __future__ import annotations

from pathlib import Path

import pytest
from case_files import read_groups
from fakes.polyglot import code_of, make_polyglot

from upbeat.adapters.code.graph import graph
from upbeat.adapters.code.graph.codebase import CodeBase

CASES = read_groups(Path(__file__).with_name("cases.tsv"))


@pytest.fixture(scope="module")
def code(tmp_path_factory: pytest.TempPathFactory) -> CodeBase:
    return code_of(make_polyglot(tmp_path_factory.mktemp("project")))


@pytest.mark.parametrize(("symbol", "definitions"), CASES["definitions"])
def test_definitions_are_found(code: CodeBase, symbol: str, definitions: str) -> None:
    """A symbol is found with its owner, in the notation of each language."""
    assert definitions.split() == [place.id for place in graph.find_definitions(code, symbol)]


@pytest.mark.parametrize(("symbol", "callers"), CASES["callers"])
def test_callers_are_found(code: CodeBase, symbol: str, callers: str) -> None:
    """Callers are found across files in each language, the most certain first."""
    edges = graph.find_callers(code, graph.find_definitions(code, symbol)[0])

    assert callers.split() == [f"{edge.endpoint.id}:{edge.line}" for edge in edges]


@pytest.mark.parametrize(("symbol", "callees"), CASES["callees"])
def test_callees_are_found(code: CodeBase, symbol: str, callees: str) -> None:
    """Callees inside the repository are found, those of libraries are not."""
    edges = graph.find_callees(code, graph.find_definitions(code, symbol)[0])

    assert sorted(callees.split()) == sorted(f"{edge.endpoint.id}:{edge.line}" for edge in edges)


@pytest.mark.parametrize(("path", "importers"), CASES["importers"])
def test_importers_are_found(code: CodeBase, path: str, importers: str) -> None:
    """The files that import a file are found."""
    assert importers.split() == sorted(edge.endpoint.path for edge in graph.find_importers(code, path))


def test_an_import_is_more_certain_than_a_name(tmp_path: Path) -> None:
    """A caller that imports the name is more certain than one with a definition of its own."""
    root = make_polyglot(tmp_path)
    (root / "shop/other.py").write_text("def receive(x):\n    pass\n\n\ndef use():\n    receive(1)\n")
    code = code_of(root)
    symbol = next(place for place in graph.find_definitions(code, "receive") if place.path == "shop/upload.py")
    confidence = {edge.endpoint.path: edge.confidence for edge in graph.find_callers(code, symbol)}

    assert confidence["tests/test_upload.py"] > 0.8 > 0.3 > confidence["shop/other.py"]


def test_a_line_has_an_enclosing_symbol(code: CodeBase) -> None:
    """The innermost definition around a line is found; outside of all it is the file."""
    parsed = code.parsed_file("shop/store.py")
    assert parsed

    assert ["", "EmptyNameError", "Store.put", "Store._write"] == [
        graph.enclosing_symbol("shop/store.py", parsed, line).definition.symbol for line in (3, 1, 9, 12)
    ]
