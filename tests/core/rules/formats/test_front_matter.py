"""Front matter is parsed as YAML and as common text that is not quite YAML; nothing is expanded."""

from __future__ import annotations

from pathlib import Path
from time import process_time

import pytest
from case_files import read_json_groups
from hypothesis import given
from hypothesis import strategies as st

from upbeat.core.rules.formats.front_matter import MAX_FRONT_MATTER_CHARS, YamlValue, parse_front_matter

CASES = read_json_groups(Path(__file__).with_name("cases.jsonl"))

VALUES: dict[str, tuple[str, YamlValue]] = {name: row for name, *row in CASES["value"]}


@pytest.mark.parametrize(("front", "value"), VALUES.values(), ids=VALUES)
def test_values(front: str, value: YamlValue) -> None:
    """A value is parsed as YAML with scalars as text, or else taken as written."""
    assert ({"key": value}, "Body.") == (
        parse_front_matter(f"---\n{front}\n---\n\nBody.\n").values,
        parse_front_matter(f"---\n{front}\n---\nBody.").body,
    )


RAW: dict[str, tuple[str, YamlValue]] = {name: row for name, *row in CASES["raw"]}


@pytest.mark.parametrize(("front", "value"), RAW.values(), ids=RAW)
def test_raw(front: str, value: YamlValue) -> None:
    """A raw value is not unescaped."""
    assert {"key": value} == parse_front_matter(f"---\n{front}\n---\nx", is_raw=True).values


def test_lines() -> None:
    """Each key has its line number; a line without a key and a repeated key are problems."""
    front = parse_front_matter("---\na: 1\nb:\n  - x\nloose\na: 2\n---\nBody")

    assert ({"a": 2, "b": 3}, {"a": "1", "b": ["x"]}) == (front.line_numbers, front.values)
    assert [5, 6] == [line for line, _sentence in front.problems]


@pytest.mark.parametrize(
    ("text", "is_there", "problems"),
    [
        ("", False, 0),
        ("Just text.", False, 0),
        ("----\na: 1\n---\n", False, 0),
        ("---\n---\n", True, 0),
        ("\ufeff---\na: 1\n---", True, 0),
        ("---\na: 1\n", True, 1),
        (f"---\na: {'x' * MAX_FRONT_MATTER_CHARS}\n---\n", True, 1),
    ],
)
def test_is_present(text: str, is_there: bool, problems: int) -> None:
    """A file without front matter is all text; front matter that is too long or does not end is a problem."""
    front = parse_front_matter(text)

    assert (is_there, problems) == (front.is_present, len(front.problems))


def test_aliases_are_not_expanded() -> None:
    """YAML aliases are not expanded."""
    rows = ["a0: &a0 [" + ", ".join(["lol"] * 10) + "]"]
    rows += [f"a{n}: &a{n} [" + ", ".join([f"*a{n - 1}"] * 10) + "]" for n in range(1, 12)]
    before = process_time()
    front = parse_front_matter("---\n" + "\n".join([*rows, "deep: " + "[" * 5000]) + "\n---\nx")

    assert "&a1 [*a0, *a0, *a0, *a0, *a0, *a0, *a0, *a0, *a0, *a0]" == front.values["a1"]
    assert "[" * 5000 == front.values["deep"]
    assert process_time() - before < 5


PIECES = st.sampled_from(
    ["---\n", "a: ", "b:\n", "  - ", "*x", "&y ", "!t ", "[", "{", "}", '"', "'", "|\n", "\n", "#", "\t"]
)


@given(
    st.lists(PIECES | st.text(max_size=4), max_size=30).map(lambda parts: "---\n" + "".join(parts) + "\n---\nx"),
    st.booleans(),
)
def test_never_raises(text: str, is_raw: bool) -> None:
    """Any text is parsed; values are texts, lists and tables."""
    front = parse_front_matter(text, is_raw=is_raw)

    assert set(front.values) == set(front.line_numbers)
    assert all(isinstance(value, str | list | dict) for value in front.values.values())
