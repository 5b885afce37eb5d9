"""The uses of names in one file: stored references answer as parsed ones do."""

from __future__ import annotations

from array import array
from dataclasses import replace

import pytest

from upbeat.adapters.code.graph.references import StoredReferences, calls_inside, has_reference, references_to
from upbeat.adapters.code.syntax.parse import ParsedFile, Reference, parse_source

PARSED = parse_source("a.py", b"def f():\n    g()\n    h = g\n    return h\n\n\ndef k():\n    g()\n    f()\n")


def stored(parsed: ParsedFile) -> ParsedFile:
    references = list(parsed.references)
    names = sorted({reference.name for reference in references})
    columns = StoredReferences(
        names,
        array("I", [names.index(reference.name) for reference in references]),
        array("I", [reference.line for reference in references]),
        array("i", [reference.enclosing for reference in references]),
        bytes(reference.is_call for reference in references),
    )
    return replace(parsed, references=columns)


@pytest.mark.parametrize("parsed", [PARSED, stored(PARSED)], ids=["parsed", "stored"])
def test_both_forms_answer_alike(parsed: ParsedFile) -> None:
    """Uses, calls inside definitions, and presence are the same from the parser and from the index."""
    expected = list(PARSED.references)

    assert expected == list(parsed.references)
    assert [each for each in expected if each.name == "g"] == list(references_to(parsed, "g"))
    assert [each for each in expected if each.is_call and each.enclosing == 1] == list(calls_inside(parsed, {1}))
    assert (True, False, []) == (
        has_reference(parsed, "g"),
        has_reference(parsed, "nowhere"),
        list(references_to(parsed, "nowhere")),
    )


def test_a_slice_is_a_list_of_references() -> None:
    """Stored references can be sliced."""
    columns = StoredReferences(["a", "b"], array("I", [1, 0]), array("I", [3, 4]), array("i", [-1, 0]), bytes([1, 0]))

    assert [Reference("b", 3, -1, True), Reference("a", 4, 0, False)] == columns[:]
