"""Edits of TOML texts: they say what was asked for, and everything else stays byte by byte."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import tomli
from case_files import read_groups
from hypothesis import given
from hypothesis import strategies as st

from upbeat.adapters.system.files.json_edit import NotEditableError
from upbeat.adapters.system.files.toml_edit import is_blank, is_same_value, parse_object, remove_value, set_value

PLACE = ("plugins", "upbeat@upbeat")
OURS = {"enabled": True, "source": "/h/é"}
BLOCK = '[plugins."upbeat@upbeat"]\nenabled = true\nsource = "/h/é"\n'

CASES = read_groups(Path(__file__).with_name("toml_edit_cases.tsv"))
LONG = f"a = 0x{'f' * 5000}\n"


@pytest.mark.parametrize(("old", "new"), [*CASES["edited"], (LONG, f"{LONG}\n{BLOCK}")])
def test_looks_like_what_stands_around_it(old: str, new: str) -> None:
    """A new table is appended, an existing one gets its new values in place, and comments stay."""
    assert new == set_value(old, PLACE, OURS)


TOO_LONG = ("a = " + "1" * 5000, "a number with too many digits")


@pytest.mark.parametrize(("text", "problem"), [*CASES["refused"], TOO_LONG])
def test_what_is_in_the_way_is_left_alone(text: str, problem: str) -> None:
    """Invalid TOML, or a file that no header can be added to, is rejected with its position or a fix."""
    with pytest.raises(NotEditableError) as refused:
        set_value(text, PLACE, OURS)

    assert problem == str(refused.value)


def test_dropped() -> None:
    """A table goes with the empty line before it; comments behind it and tables that look like it stay."""
    assert CASES["dropped"] == [(text, remove_value(text, PLACE)) for text, _ in CASES["dropped"]]
    with pytest.raises(NotEditableError, match="cannot be removed without changing other lines"):
        remove_value('plugins."upbeat@upbeat" = {enabled = true}', PLACE)


def test_blank() -> None:
    """Only a text that says nothing at all is blank."""
    assert [True, True, False] == [is_blank(text) for text in ("", " \n", "# x")]


LINES = st.sampled_from(
    [
        *("a = 1", "b = 'x'", "[c]", "[c.d]", "[[e]]", "# [plugins]", "", "  ", "t = '''\n[plugins]\nz = 1\n'''"),
        *(
            '[plugins."x@y"]',
            "enabled = false",
            "f = [\n  [1],\n]",
            "[plugins]",
            "g.h = nan",
            'p = "\\u00e9"',
            "[hooks]",
        ),
        *('[plugins."upbeat@upbeat"]', 'plugins = {"x@y" = {}}', 'source = "s" # c', "w = 2026-11-22"),
    ]
)
TEXTS = st.builds(
    lambda lines, end, last: end.join(line.replace("\n", end) for line in lines) + last,
    st.lists(LINES, max_size=8),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from(["", "\n", "\r\n", "\n\n"]),
)


@given(TEXTS)
def test_an_edit_adds_and_nothing_else(text: str) -> None:
    """Any file is either rejected, or has exactly its old values and the new ones afterwards."""
    try:
        old = tomli.loads(text)
    except tomli.TOMLDecodeError:
        with pytest.raises(NotEditableError, match=r"^line "):
            set_value(text, PLACE, OURS)
        return
    try:
        new = set_value(text, PLACE, OURS)
    except NotEditableError:
        return
    plugins = old.get("plugins", {})
    expected = old | {"plugins": plugins | {PLACE[1]: plugins.get(PLACE[1], {}) | OURS}}
    assert is_same_value(expected, tomli.loads(new))
    assert new == set_value(new, PLACE, OURS)


@given(TEXTS)
def test_dropping_gives_back_the_bytes(text: str) -> None:
    """A table that was added and is dropped leaves the text as it was, but for a missing line end at the end."""
    try:
        is_there = PLACE[1] in parse_object(text).get("plugins", {})
        new = set_value(text, PLACE, OURS)
    except (NotEditableError, TypeError):
        return
    if not is_there:
        dropped = remove_value(new, PLACE)
        assert text in (dropped, dropped.removesuffix("\n"), dropped.removesuffix("\r\n"))


def test_kinds_count() -> None:
    """1 is not true, 1.0 is not 1, and nan is nan."""
    values: list[Any] = [1, True, 1.0, float("nan"), {"a": [1]}]

    assert [[one is other for other in values] for one in values] == [
        [is_same_value(one, o) for o in values] for one in values
    ]
