"""Definitions are found with their names, owners and lines, in many languages."""

from __future__ import annotations

from pathlib import Path

import pytest
from case_files import read_groups
from hypothesis import given
from hypothesis import strategies as st
from repositories import read_tree

from upbeat.adapters.code.files.file_types import LANGUAGE_BY_EXTENSION
from upbeat.adapters.code.syntax.outline import Outline

CASES = read_groups(Path(__file__).with_name("cases.tsv"))
PIECES = [piece for (piece,) in CASES["piece"]]
LANGUAGES = sorted(set(LANGUAGE_BY_EXTENSION.values()))
TEXTS = read_tree(Path(__file__).with_name("outlines.txt"))


@pytest.mark.parametrize(("language", "definitions"), [*CASES["outline"], ("", "")])
def test_outline(language: str, definitions: str) -> None:
    """Every definition has its symbol and its lines."""
    outline = Outline(TEXTS.get(language, "anything\n"), language)

    assert definitions.split() == [f"{item.symbol}:{item.start_line}-{item.end_line}" for item in outline.definitions]


def test_a_line_belongs_to_the_innermost_definition() -> None:
    """Outside all definitions, a line belongs to none."""
    outline = Outline(TEXTS["python"], "python")
    symbols = [
        outline.definitions[position].symbol if (position := outline.enclosing_position(line)) >= 0 else ""
        for line in (1, 2, 4, 8, 12, 18, 20)
    ]

    assert ["LIMIT", "", "Session", "Session.send", "Session.send", "", "main"] == symbols


@given(
    st.lists(st.sampled_from(PIECES), max_size=60).map("".join),
    st.sampled_from([*LANGUAGES, ""]),
)
def test_any_text_has_a_sound_outline(text: str, language: str) -> None:
    """Definitions are inside the text, in order, and offsets lead to their lines."""
    outline = Outline(text, language)
    first_lines = [item.start_line for item in outline.definitions]

    assert text.count("\n") + 1 == len(outline.lines)
    assert all(1 <= item.start_line <= item.end_line <= len(outline.lines) for item in outline.definitions)
    assert first_lines == sorted(first_lines)
    assert all(outline.line_at(offset) == text.count("\n", 0, offset) + 1 for offset in range(len(text)))
