"""Edits of JSON texts: they say what was asked for, and everything else stays byte by byte."""

from __future__ import annotations

import contextlib
import json
import time
from pathlib import Path
from typing import Any

import pytest
from case_files import read_groups
from hypothesis import given
from hypothesis import strategies as st

from upbeat.adapters.system.files.json_edit import NotEditableError, is_blank, parse_object, remove_value, set_value

PLACE = ("enabledPlugins", "upbeat@upbeat")

CASES = read_groups(Path(__file__).with_name("json_edit_cases.tsv"))

LONG = {
    '{\n"a": ' + "1" * 5000 + "}": "line 2, column 6: a number with too many digits",
    "[" * 200: "line 1, column 102: nested deeper than 100 levels",
}


@pytest.mark.parametrize(("old", "new"), CASES["edited"])
def test_looks_like_what_stands_around_it(old: str, new: str) -> None:
    """Indentation, line ends, comments and commas are kept, and the new text follows the style around it."""
    assert new == set_value(old, PLACE, True)


@pytest.mark.parametrize(("text", "problem"), [*CASES["refused"], *LONG.items()])
def test_what_is_not_json_is_left_alone(text: str, problem: str) -> None:
    """A text that cannot be understood is refused, with line and column."""
    with pytest.raises(NotEditableError) as refused:
        set_value(text, PLACE, True)

    assert problem == str(refused.value)


@pytest.mark.bench
def test_many_keys() -> None:
    """A text of many members is read in a time that grows as the text does."""
    text, began = json.dumps(dict.fromkeys(map(str, range(50_000)))), time.process_time()

    assert 50_000 == len(parse_object(text))
    assert time.process_time() - began < 5


def test_dropped() -> None:
    """A removed member takes its comma with it, and the comments around it stay."""
    assert CASES["dropped"] == [(text, remove_value(text, ("k",))) for text, _ in CASES["dropped"]]
    assert '{"x": 1}' == remove_value('{"x": 1}', PLACE)


def test_blank() -> None:
    """Only a text that says nothing at all is blank."""
    assert [True, True, True, False, False] == [is_blank(text) for text in ("", "{}", "{\n }\n", '{"a":1}', "{/* */}")]


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
TRIVIA = st.sampled_from(["", "", "", " ", "\n", "\r\n", "\t", " // c {\n", "/* , } */", "\n\n  "])


@st.composite
def texts(draw: st.DrawFn, value: Any) -> str:
    """Draw a JSONC text of ``value`` with arbitrary whitespace and comments."""
    between = lambda: draw(TRIVIA)  # noqa: E731 -- each place has its own
    if isinstance(value, list | dict):
        marks, items = ("[]" if isinstance(value, list) else "{}"), []
        for one in value:
            named = "" if isinstance(value, list) else json.dumps(one, ensure_ascii=draw(st.booleans()))
            inner = draw(texts(one if isinstance(value, list) else value[one]))
            colon = between() + ":" + between() if named else ""
            items.append(between() + named + colon + inner + between())
        last = "," + between() if items and draw(st.booleans()) else between()
        return marks[0] + ",".join(items) + last + marks[1]
    return json.dumps(value, ensure_ascii=draw(st.booleans()))


OBJECTS = st.dictionaries(st.sampled_from(["a", "b", "c", "enabledPlugins"]), VALUES, max_size=4)
WRITTEN = OBJECTS.flatmap(lambda value: st.tuples(st.just(value), texts(value)))


@given(WRITTEN)
def test_reads_what_a_person_wrote(written: tuple[dict[str, Any], str]) -> None:
    """Comments and trailing commas do not change the parsed value."""
    value, text = written

    assert value == parse_object(text)


@given(WRITTEN, st.sampled_from(["a", "new"]), VALUES)
def test_says_what_was_asked_for(written: tuple[dict[str, Any], str], key: str, new: Any) -> None:
    """After an edit the text says the old things and the new one, in the old order."""
    value, text = written
    edited = set_value(text, (key,), new)

    assert value | {key: new} == parse_object(edited)
    assert list(value | {key: new}) == list(parse_object(edited))
    assert edited == set_value(edited, (key,), new)


@given(WRITTEN, VALUES)
def test_dropping_gives_back_the_bytes(written: tuple[dict[str, Any], str], new: Any) -> None:
    """What was put among others and is dropped again leaves the text as it was, and a text without it stays."""
    value, text = written
    given_back = remove_value(set_value(text, ("new",), new), ("new",))

    assert value == parse_object(given_back)
    assert text == remove_value(text, ("new",))
    if value or text == "{}":
        assert text == given_back


@given(WRITTEN, st.sampled_from(["a", "b", "c"]))
def test_dropping_keeps_the_rest(written: tuple[dict[str, Any], str], key: str) -> None:
    """Without one member the others are what they were, and the comments are still there."""
    value, text = written
    left = remove_value(text, (key,))

    assert {name: one for name, one in value.items() if name != key} == parse_object(left)


@given(st.text(alphabet='{}[]",:/* \n\\ab1-.e', max_size=30))
def test_never_worse_than_json(text: str) -> None:
    """What json reads as an object with each key once is read the same; all else is read, or refused with a place."""
    try:
        expected = json.loads(text, object_pairs_hook=_once)
    except ValueError:
        expected = None
    if isinstance(expected, dict):
        assert expected == parse_object(text)
    elif expected is not None:
        with pytest.raises(NotEditableError, match=r"^line \d+, column \d+: not an object"):
            parse_object(text)
    else:
        with contextlib.suppress(NotEditableError):
            assert isinstance(parse_object(text), dict)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(pairs) != len(dict(pairs)):
        raise ValueError("the same key twice")
    return dict(pairs)
