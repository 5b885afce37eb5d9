"""Large and hostile source files are parsed and outlined in bounded time."""

from __future__ import annotations

from time import process_time

import pytest

from upbeat.adapters.code.files.file_types import LANGUAGE_BY_EXTENSION
from upbeat.adapters.code.syntax.outline import Outline
from upbeat.adapters.code.syntax.parse import MAX_PARSED_BYTES, parse_source

pytestmark = pytest.mark.bench

HOSTILE = {
    "nul": b"\0" * MAX_PARSED_BYTES,
    "nesting": b"[{(" * 50_000,
    "one line": b"x=1+" * 60_000,
    "quotes": b"'\"(" * 40_000,
    "definitions": b"def f():\n" * 20_000,
    "here-documents": b"<<A\n" * 30_000,
    "bytes": bytes(range(256)) * 400,
}
LINES = ["a", "a ", "(", " ", "public static ", "<", "x = ", "const x: y", "\n", "a " * 60 + "\n", "x(" * 90 + "\n"]


@pytest.mark.parametrize("extension", ["py", "cpp", "sh", "kt"])
@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_parsed_in_time(extension: str, name: str) -> None:
    """A file is read to its end or given up; all lines and positions are in the file."""
    data = HOSTILE[name]
    started = process_time()
    parsed = parse_source(f"a.{extension}", data)

    assert process_time() - started < 2
    assert all(1 <= item.start_line <= item.end_line <= data.count(b"\n") + 1 for item in parsed.definitions)
    assert all(-1 <= use.enclosing < len(parsed.definitions) for use in parsed.references)


@pytest.mark.parametrize("language", sorted(set(LANGUAGE_BY_EXTENSION.values())))
def test_a_long_text_is_outlined_in_time(language: str) -> None:
    """The time grows with the length of any text, and not with its square."""
    for piece in [*LINES, " " * 150 + "\n"]:
        started = process_time()
        Outline(piece * (200_000 // len(piece)), language)

        assert process_time() - started < 1, piece[:20]
